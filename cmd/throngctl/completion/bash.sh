# Completion of throngctl for bash: source <(throngctl completion bash)
_throngctl() {
	local value about
	COMPREPLY=()
	while IFS=$'\t' read -r value about; do
		# bash takes what stands before = for a word of its own
		[[ $value == --*=* && $COMP_WORDBREAKS == *=* ]] && value=${value#*=}
		COMPREPLY+=("$value")
	done < <("${COMP_WORDS[0]}" __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
	if [[ ${#COMPREPLY[@]} -gt 0 && ${COMPREPLY[0]} == *= ]]; then
		compopt -o nospace 2>/dev/null
	fi
}
complete -o default -F _throngctl throngctl

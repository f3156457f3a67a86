# Completion of throngctl for bash: source <(throngctl completion bash)
_throngctl() {
	local value about last quote=
	local words=("${COMP_WORDS[@]:1:COMP_CWORD}")
	last=${words[COMP_CWORD - 1]}
	if [[ $last == [\"\']* ]]; then
		quote=${last:0:1} last=${last:1}
	fi
	words[COMP_CWORD - 1]=${last//\\/}
	COMPREPLY=()
	while IFS=$'\t' read -r value about; do
		# bash takes what stands before = for a word of its own
		[[ $value == --*=* && $COMP_WORDBREAKS == *=* ]] && value=${value#*=}
		# names of runs have spaces
		[[ -z $quote && $value == *[[:space:]\"\'\$\&\(\)\<\>\;\|\`\\]* ]] && printf -v value %q "$value"
		COMPREPLY+=("$value")
	done < <("${COMP_WORDS[0]}" __complete -- "${words[@]}" 2>/dev/null)
	if [[ ${#COMPREPLY[@]} -gt 0 && ${COMPREPLY[0]} == *= ]]; then
		compopt -o nospace 2>/dev/null
	fi
}
complete -o default -F _throngctl throngctl

#compdef throngctl
# Completion of throngctl for zsh: source <(throngctl completion zsh), or save it as _throngctl in a folder of $fpath.
_throngctl() {
	local -a values
	local value about
	while IFS=$'\t' read -r value about; do
		values+=("${value//:/\\:}${about:+:$about}")
	done < <("${words[1]}" __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
	if (( ${#values} )); then
		_describe throngctl values
	else
		_files
	fi
}
if [[ "${funcstack[1]}" == _throngctl ]]; then
	_throngctl
else
	compdef _throngctl throngctl
fi

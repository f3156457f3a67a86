# Completion of throngctl for fish: throngctl completion fish | source
function __throngctl
	set -l words (commandline -opc)
	set -e words[1]
	throngctl __complete -- $words (commandline -ct) 2>/dev/null
end
complete -c throngctl -f -n 'test (count (__throngctl)) -gt 0' -a '(__throngctl)'

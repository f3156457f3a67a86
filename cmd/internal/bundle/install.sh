#!/bin/sh
# Installs @NAME@ for you, into ~/.local, or as root for everybody, into /usr/local; PREFIX says another folder.
# "install --remove" takes it away again. What you made with it stays.
set -eu
cd "$(dirname "$0")"

if [ "$(id -u)" -eq 0 ]; then prefix=${PREFIX:-/usr/local}; else prefix=${PREFIX:-$HOME/.local}; fi
case $prefix in
/*) ;;
*) echo "PREFIX is to be the whole path of a folder, not $prefix." >&2 && exit 2 ;;
esac
case $prefix in
*[\"\`\$%\\]*) echo "A desktop entry cannot name $prefix. Let PREFIX say another folder." >&2 && exit 2 ;;
esac
entry=$prefix/share/applications/@ID@.desktop

files() {
	cat <<'END'
@FILES@
END
}

case ${1-} in
'')
	files | while IFS= read -r file; do
		mkdir -p "$prefix/$(dirname "$file")"
		rm -f "$prefix/$file" # it may be running
		cp "$file" "$prefix/$file"
	done
	# A desktop may not look for programs where a terminal does.
	awk -v "line=Exec=\"$prefix/bin/@COMMAND@\" %f" '/^Exec=/ { print line; next } { print }' "share/applications/@ID@.desktop" >"$entry"
	echo "Installed in $prefix. Open @NAME@ from the menu, or run $prefix/bin/@COMMAND@."
	;;
--remove)
	files | while IFS= read -r file; do
		rm -f "$prefix/$file"
	done
	rmdir "$prefix/share/doc/@COMMAND@" 2>/dev/null || :
	echo "Removed from $prefix. The data folder and the keychain stay as they are."
	;;
*)
	echo "It is ./install, or ./install --remove." >&2
	exit 2
	;;
esac

# refresh FOLDER COMMAND... brings up to date what desktops read; where there is no such command, they do without.
refresh() {
	folder=$1
	shift
	! command -v "$1" >/dev/null 2>&1 || [ ! -d "$folder" ] || "$@" "$folder" >/dev/null 2>&1 || :
}
refresh "$prefix/share/applications" update-desktop-database
refresh "$prefix/share/mime" update-mime-database
refresh "$prefix/share/icons/hicolor" gtk-update-icon-cache -q -t -f

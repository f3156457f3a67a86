package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// packDeb makes a package for Debian and its derivatives. It needs no scripts: triggers of other packages update the
// databases of desktop entries and MIME types.
func packDeb(ctx context.Context, j job, t tree, work string) (string, error) {
	depends, err := needs(j.exe, j.ctl)
	if err != nil {
		return "", err
	}
	a, all, size := &j.app, tree{}, 0
	changes := fmt.Sprintf("%s (%s) unstable; urgency=low\n\n  * What is new: %s/releases\n\n -- %s  %s\n",
		a.command(), a.release.deb(), homepage, maintainer, a.release.made.Format("Mon, 02 Jan 2006 15:04:05 -0700"))
	for path, f := range t {
		all["usr/"+path] = f
	}
	all["usr/share/doc/"+a.command()+"/changelog.gz"] = file{gzipped(changes), 0o644}
	var sums []string
	for path, f := range all {
		size += (len(f.text) + 1023) / 1024
		sums = append(sums, fmt.Sprintf("%x  %s\n", sum(f.text), path))
	}
	slices.SortFunc(sums, func(a, b string) int { return strings.Compare(a[34:], b[34:]) })
	all["DEBIAN/md5sums"] = file{[]byte(strings.Join(sums, "")), 0o644}
	all["DEBIAN/control"] = file{[]byte(fmt.Sprintf(`Package: %s
Version: %s
Architecture: %s
Maintainer: %s
Installed-Size: %d
Depends: %s
Recommends: xdg-utils, default-dbus-session-bus | dbus-session-bus
Suggests: gnome-keyring
Section: devel
Priority: optional
Homepage: %s
Description: %s
 %s runs hundreds to a million simulated agents on an engine that is
 bounded, exact and durable: shoppers against a backend, or what you describe
 in a scenario file. This package has the window and the terminal program,
 %sctl.
`, a.command(), a.release.deb(), j.arch, maintainer, size, strings.Join(depends, ", "), homepage, a.describe(), a.Details.Name, a.command())), 0o644}
	if err := os.RemoveAll(work); err != nil {
		return "", err
	}
	if err := all.write(work, a.release); err != nil {
		return "", err
	}
	made := filepath.Join(j.out, j.called(".deb"))
	env := []string{fmt.Sprintf("SOURCE_DATE_EPOCH=%d", a.release.made.Unix())}
	_, err = runWith(ctx, env, filepath.Dir(work), "dpkg-deb", "--root-owner-group", "-Zxz", "--threads-max=2", "--build", work, work+".deb")
	if err != nil { // do not leave half a package
		return "", err
	}
	return made, os.Rename(work+".deb", made)
}

const maintainer = "The Throng authors <throng-sim@users.noreply.github.com>"

// describe returns the short description of a package: one line that starts in lower case.
func (a *app) describe() string {
	return strings.ToLower(a.LinuxAndBSD.Comment[:1]) + a.LinuxAndBSD.Comment[1:]
}

// sorted returns the keys of a set.
func sorted(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }

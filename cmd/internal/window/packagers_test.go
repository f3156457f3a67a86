package window_test

import (
	"path/filepath"
	"slices"
	"strings"
)

// packager is how a system installs, checks and removes a package. The texts are commands of a shell in the root, where
// $package is the file.
type packager struct {
	name     string // of the test
	ending   string // of the package
	tool     string // the package of Debian with the manager
	prefix   string
	license  string // below the prefix
	install  string
	check    string // fails or prints something where an installed file differs from the package
	files    string // prints the installed files
	declared string // prints the dependencies
	remove   string
}

// updateDatabases does what triggers of other packages do on Fedora and Arch Linux. Those of Debian run for dpkg only.
const updateDatabases = ` && update-desktop-database && update-mime-database /usr/share/mime`

// librariesPackage installs an RPM package without files, for the libraries of the root. It provides what rpm's own generator
// finds in them, as the packages of Fedora do (https://man7.org/linux/man-pages/man1/elfdeps.1.html).
const librariesPackage = `{
	printf 'Name: libraries\nVersion: 1\nRelease: 1\nSummary: Libraries of this system\nLicense: none\n'
	find /usr/lib -name '*.so.*' -type f | /usr/lib/rpm/rpmdeps --provides | sort -u | sed 's/^/Provides: /'
	printf '%%description\n%%files\n'
} >/tmp/libraries.spec && rpmbuild --quiet -bb -D '_rpmdir /tmp' /tmp/libraries.spec && rpm -i /tmp/*/libraries-*.rpm && `

// archPackages has pacman take these packages of Arch Linux as installed, glibc in the version of the root. The names are those
// of https://archlinux.org/packages. A dependency on another name is an error.
const archPackages = `$(for name in libglvnd libx11 libxcursor libxext libxi libxinerama libxrandr libxrender libxxf86vm; do
	echo --assume-installed $name=1
done) --assume-installed glibc=$(ldd --version | sed -n '1s/.* //p')`

var packagers = []packager{
	{
		name: "Debian", ending: ".deb", prefix: "/usr", license: "share/doc/throng/copyright",
		install:  `apt-get install -y --no-install-recommends $package`,
		check:    `dpkg --verify throng`,
		files:    `dpkg-query -L throng`,
		declared: `dpkg-query -W -f '${Depends}' throng`,
		remove:   `apt-get remove -y throng`,
	},
	{
		name: "RPM", ending: ".rpm", tool: "rpm", prefix: "/usr", license: "share/licenses/throng/LICENSE",
		install:  librariesPackage + `rpm -i $package` + updateDatabases,
		check:    `rpm -V throng`,
		files:    `rpm -ql throng`,
		declared: `rpm -q --requires throng | paste -s -d , | sed 's/,/, /g'`,
		remove:   `rpm -e throng` + updateDatabases,
	},
	{
		name: "Arch", ending: ".pkg.tar.zst", tool: "pacman-package-manager", prefix: "/usr", license: "share/licenses/throng/LICENSE",
		// pacman cannot find the free space here: the root has no table of mounts.
		install:  `sed -i /^CheckSpace/d /etc/pacman.conf && pacman -U --noconfirm ` + archPackages + ` $package` + updateDatabases,
		check:    `pacman -Qkkq throng`,
		files:    `pacman -Qlq throng`,
		declared: `LC_ALL=C pacman -Qi throng | sed -n 's/^Depends On *: *//p' | sed 's/  */, /g'`,
		remove:   `pacman -R --noconfirm throng` + updateDatabases,
	},
	{
		name: "archive", ending: ".tar.xz", tool: "xz-utils", prefix: "/usr/local", license: "share/doc/throng/copyright",
		install:  `tar -xJf $package -C /tmp && /tmp/throng-*/install`,
		check:    `cd /tmp/throng-*/ && for file in bin/*; do cmp "$file" "/usr/local/$file"; done`,
		files:    `cd /tmp/throng-*/ && find bin lib share -type f | sed 's,^,/usr/local/,'`,
		declared: `echo no declared dependencies`,
		remove:   `/tmp/throng-*/install --remove`,
	},
}

// shell runs a command of a packager in the root.
func (r *cleanRoot) shell(p packager, command string) string {
	r.t.Helper()
	return strings.TrimSpace(r.system("sh", "-c", "package=/tmp/package"+p.ending+"\n"+command))
}

// install installs the newest package of a folder with its manager, checks its files and prints its dependencies. Only Debian
// resolves those: for others, the libraries are the same ones of Debian, and the names are checked.
func (r *cleanRoot) install(p packager, dist string) {
	r.t.Helper()
	path := newest(r.t, dist, p.ending)
	r.prefix = p.prefix
	r.host("cp", path, filepath.Join(r.dir, "tmp", "package"+p.ending))
	if p.tool != "" {
		if r.system("apt-cache", "policy", p.tool) == "" {
			r.t.Skipf("%s is not in this release of the system", p.tool)
		}
		fetched := []string{"apt-get", "install", "-y", "--no-install-recommends", p.tool}
		for library := range strings.SplitSeq(r.host("dpkg-deb", "-f", newest(r.t, dist, ".deb"), "Depends"), ",") {
			fetched = append(fetched, strings.Fields(library)[0]) // without a version
		}
		r.system(fetched...)
	}
	r.shell(p, p.install)
	if wrong := r.shell(p, p.check); wrong != "" {
		r.t.Errorf("not as in the package:\n%s", wrong)
	}
	r.step("installed %s with %s", filepath.Base(path), r.shell(p, p.declared))
	if missing := r.shell(p, "ldd "+p.prefix+"/bin/throng "+p.prefix+"/bin/throngctl | grep 'not found' || :"); missing != "" {
		r.t.Errorf("missing: %s", missing)
	}
}

// remove removes the package, and checks that it left no files, and no entries in the databases of the desktop.
func (r *cleanRoot) remove(p packager) {
	r.t.Helper()
	owned := strings.Split(r.shell(p, p.files), "\n")
	if !slices.Contains(owned, p.prefix+"/bin/throng") {
		r.t.Errorf("the installed files are %q", owned)
	}
	r.shell(p, p.remove)
	r.nothingLeft(owned)
	r.step("removed; what ann made is there still")
}

// unpack unpacks the package for Alpine Linux into the root, which is empty: the program needs no other files. Debian has no apk
// to install it with; a test of cmd/internal/bundle checks the checksums that apk reads.
func (r *cleanRoot) unpack(dist string) {
	r.t.Helper()
	path := newest(r.t, dist, ".apk")
	r.host("mkdir", "-p", filepath.Join(r.dir, "tmp"), filepath.Join(r.dir, "proc"), r.home)
	r.host("chown", ann, r.home)
	r.mount()
	r.host("tar", "-xzf", path, "-C", r.dir, "--warning=no-unknown-keyword", "usr")
	info := r.host("tar", "-xzOf", path, "--warning=no-unknown-keyword", ".PKGINFO")
	var depends []string
	for line := range strings.Lines(info) {
		if name, found := strings.CutPrefix(line, "depend = "); found {
			depends = append(depends, strings.TrimSpace(name))
		}
	}
	if !slices.Equal(depends, []string{"ca-certificates"}) {
		r.t.Errorf("the package depends on %q", depends)
	}
	r.prefix = "/usr"
	r.step("unpacked %s, which depends on %s, into an empty root", filepath.Base(path), strings.Join(depends, ", "))
}

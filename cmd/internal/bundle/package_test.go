package main

import (
	"archive/tar"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// released returns a job for fake programs with a released version and a fixed time.
func released(t *testing.T, system string) (j job, work string) {
	t.Helper()
	j = standIn(t, system)
	work, err := j.open()
	if err != nil {
		t.Fatal(err)
	}
	j.app.release.made = time.Unix(1_700_000_000, 0).UTC()
	return j, work
}

// linuxPackages makes the Linux packages, and returns their paths by extension. Both programs are fakes in C that link
// libraries.
func linuxPackages(t *testing.T) (j job, made map[string]string) {
	t.Helper()
	needTools(t, "xz", "gcc")
	if out, err := exec.CommandContext(t.Context(), "go", "run", nfpmCommand, "--version").CombinedOutput(); err != nil {
		t.Skipf("nfpm cannot be built, which takes the Go module proxy: %v\n%s", err, out)
	}
	j, work := released(t, "linux")
	source := filepath.Join(t.TempDir(), "main.c")
	if err := os.WriteFile(source, []byte(`#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
	if (argc > 5) dlopen("libXcursor.so.1", RTLD_LAZY), dlopen("libvulkan.so.1", RTLD_LAZY);
	if (argc == 1) puts("opened");
	if (argc == 2 && !strcmp(argv[1], "man")) puts("manual");
	if (argc == 3 && !strcmp(argv[2], "bash")) puts("completes");
	return 0;
}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{j.exe, j.ctl} {
		command(t, ".", "gcc", "-o", program, source, "-ldl")
	}
	paths, err := packTree(t.Context(), j, work)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(work); err != nil {
		t.Fatal(err)
	}
	v := j.app.release.version
	names := nfpmNames(v, v, v)
	names[".xz"] = j.called(".tar.xz")
	made = map[string]string{}
	for _, path := range paths {
		ending := filepath.Ext(path)
		made[ending] = path
		if got := filepath.Base(path); got != names[ending] {
			t.Errorf("got %s, want %s", got, names[ending])
		}
	}
	if len(made) != 4 {
		t.Fatalf("got the packages %q, want 4", paths)
	}
	return j, made
}

// needTools skips a test of Linux packages on other systems, and where a tool is missing.
func needTools(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil || runtime.GOOS != "linux" {
			t.Skipf("packages for Linux are tested on Linux, with %s: make setup-test", tool)
		}
	}
}

// TestLinuxPackages makes the packages for Linux once, and checks them.
func TestLinuxPackages(t *testing.T) {
	j, made := linuxPackages(t)
	for name, check := range map[string]func(*testing.T, job, map[string]string){
		"Debian": testDebianPackage, "RPM": testRPM, "Arch": testArchPackage, "archive": testArchive,
		"pre-release": testPreRelease, "same bytes": testSameBytes, "unknown library": testUnknownLibrary,
	} {
		t.Run(name, func(t *testing.T) { check(t, j, made) })
	}
}

// testDebianPackage checks names, files and modes against Debian policy, and the dependencies.
func testDebianPackage(t *testing.T, j job, made map[string]string) {
	needTools(t, "dpkg-deb")
	v, deb := j.value(t, "Version"), made[".deb"]
	for field, want := range map[string]string{"Package": "throng", "Version": v, "Architecture": "amd64"} {
		if got := strings.TrimSpace(command(t, ".", "dpkg-deb", "-f", deb, field)); got != want {
			t.Errorf("%s: got %q, want %q", field, got, want)
		}
	}
	depends := strings.TrimSpace(command(t, ".", "dpkg-deb", "-f", deb, "Depends"))
	if !strings.HasPrefix(depends, "libc6 (>= 2.") || !strings.HasSuffix(depends, "), libxcursor1") {
		t.Errorf("got dependencies %q", depends)
	}
	listed := command(t, ".", "dpkg-deb", "-c", deb)
	for line := range strings.Lines(listed) {
		if !strings.Contains(line, " root/root ") || !strings.Contains(line, " 2023-11-14 ") {
			t.Errorf("wrong owner or time: %s", line)
		}
	}
	root := t.TempDir()
	command(t, root, "dpkg-deb", "-x", deb, root)
	share := filepath.Join(root, "usr", "share")
	if entry := read(t, filepath.Join(share, "applications", appID+".desktop")); !strings.Contains(entry, "\nExec=throng %f\n") || !strings.Contains(entry, "\nMimeType=application/x-throng-scenario;\n") {
		t.Errorf("the entry:\n%s", entry)
	}
	validate(t, filepath.Join(share, "applications", appID+".desktop"))
	checkMetainfo(t, j, filepath.Join(share, "metainfo", "io.github.throng_sim.throng.metainfo.xml"))
	read(t, filepath.Join(share, "man", "man1", "throngctl.1.gz"))
	if unit := read(t, filepath.Join(root, "usr", "lib", "systemd", "system", "throng-worker.service")); !strings.Contains(unit, "\nExecStart=throngctl worker\n") {
		t.Errorf("the unit of a worker:\n%s", unit)
	}
	checkLicenses(t, read(t, filepath.Join(share, "doc", "throng", "copyright")))
	if got := read(t, filepath.Join(share, "bash-completion", "completions", "throngctl")); got != "completes\n" {
		t.Errorf("completion: %q", got)
	}
	if _, err := os.Stat(filepath.Join(share, "fish")); err == nil {
		t.Error("there is a completion that the program does not have")
	}
	for _, size := range []string{"16x16", "48x48", "512x512"} {
		icon := read(t, filepath.Join(share, "icons", "hicolor", size, "apps", appID+".png"))
		if sizes := pictureSize(t, icon); sizes != size {
			t.Errorf("the icon for %s is of %s", size, sizes)
		}
	}
}

// checkMetainfo checks what software centers read.
func checkMetainfo(t *testing.T, j job, path string) {
	t.Helper()
	var got struct {
		Type      string `xml:"type,attr"`
		ID        string `xml:"id"`
		Name      string `xml:"name"`
		Launch    string `xml:"launchable"`
		Media     string `xml:"provides>mediatype"`
		Published []struct {
			Version string `xml:"version,attr"`
			Date    string `xml:"date,attr"`
			Type    string `xml:"type,attr"`
		} `xml:"releases>release"`
	}
	text := read(t, path)
	if err := xml.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.Type != "desktop-application" || got.ID+".metainfo.xml" != filepath.Base(path) || got.Name != "Throng" || got.Launch != appID+".desktop" || got.Media != mimeType {
		t.Errorf("the metadata:\n%s", text)
	}
	if r := got.Published; len(r) != 1 || r[0].Version != j.value(t, "Version") || r[0].Date != "2023-11-14" || r[0].Type != "stable" {
		t.Errorf("the releases are %+v", r)
	}
	if _, err := exec.LookPath("appstreamcli"); err == nil {
		command(t, ".", "appstreamcli", "validate", "--no-net", path)
	}
}

// testSameBytes checks that packages of the same files and time are identical.
func testSameBytes(t *testing.T, j job, made map[string]string) {
	before := map[string]string{}
	for ending, path := range made {
		before[ending] = read(t, path)
	}
	work, err := j.open()
	if err != nil {
		t.Fatal(err)
	}
	j.app.release.made = time.Unix(1_700_000_000, 0).UTC()
	again, err := packTree(t.Context(), j, work)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range again {
		if read(t, path) != before[filepath.Ext(path)] {
			t.Errorf("%s differs when made again", filepath.Base(path))
		}
	}
}

// testArchive installs from the archive, checks the type of a scenario file, and uninstalls.
func testArchive(t *testing.T, _ job, made map[string]string) {
	archive := made[".xz"]
	unpacked, home := t.TempDir(), filepath.Join(t.TempDir(), "a home")
	command(t, unpacked, "tar", "-xJf", archive)
	script := filepath.Join(unpacked, strings.TrimSuffix(filepath.Base(archive), ".tar.xz"), "install")
	install := func(args ...string) string {
		return command(t, "/", "env", append([]string{"HOME=" + home, "PREFIX=" + filepath.Join(home, ".local"), script}, args...)...)
	}
	for range 2 { // over the installed files
		install()
	}
	share := filepath.Join(home, ".local", "share")
	if got := command(t, home, filepath.Join(home, ".local", "bin", "throng")); got != "opened\n" {
		t.Errorf("the installed program printed %q", got)
	}
	entry := filepath.Join(share, "applications", appID+".desktop")
	if text := read(t, entry); !strings.Contains(text, "\nExec=\""+home+"/.local/bin/throng\" %f\n") {
		t.Errorf("the installed entry:\n%s", text)
	}
	validate(t, entry)
	if _, err := exec.LookPath("update-mime-database"); err == nil {
		if globs := read(t, filepath.Join(share, "mime", "globs2")); !strings.Contains(globs, ":application/x-throng-scenario:*.throng.yaml") {
			t.Errorf("the type of scenarios is not known:\n%s", globs)
		}
	}
	mine := filepath.Join(share, "throng", "throng.db")
	if err := writeFile(mine, []byte("data"), 0o600); err != nil {
		t.Fatal(err)
	}
	install("--remove")
	var left []string
	if err := filepath.WalkDir(home, func(path string, entry os.DirEntry, err error) error {
		if !entry.IsDir() && strings.Contains(strings.ToLower(path[len(home):]), "throng") {
			left = append(left, path)
		}
		return err
	}); err != nil || !slices.Equal(left, []string{mine}) {
		t.Errorf("not removed: %q %v", left, err)
	}
	for _, wrong := range []string{"PREFIX=here", "PREFIX=/a$b"} {
		if out, err := exec.CommandContext(t.Context(), "env", wrong, script).CombinedOutput(); err == nil || !strings.Contains(string(out), "PREFIX") {
			t.Errorf("%s: %v %s", wrong, err, out)
		}
	}
}

// testRPM checks the metadata and files of the RPM package.
func testRPM(t *testing.T, j job, made map[string]string) {
	needTools(t, "rpm")
	v, path := j.value(t, "Version"), made[".rpm"]
	query := func(args ...string) string {
		// rpm expands a path like a shell: it gets the name alone.
		return strings.TrimSpace(command(t, filepath.Dir(path), "rpm", append([]string{"-qp"}, append(args, filepath.Base(path))...)...))
	}
	if got, want := query("--qf", "%{NAME} %{VERSION} %{RELEASE} %{ARCH} %{LICENSE} %{URL} %{SUMMARY}"),
		"throng "+v+" 1 x86_64 MIT "+homepage+" run crowds of simulated agents against a backend"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	requires := strings.Split(query("--requires"), "\n")
	for _, want := range []string{`^libc\.so\.6\(GLIBC_2\.[0-9]+\)\(64bit\)$`, `^libXcursor\.so\.1\(\)\(64bit\)$`} {
		if !slices.ContainsFunc(requires, regexp.MustCompile(want).MatchString) {
			t.Errorf("the package requires %q, want %s", requires, want)
		}
	}
	for _, line := range requires {
		if !strings.HasPrefix(line, "libc.so.6(") && !strings.HasPrefix(line, "libXcursor.") && !strings.HasPrefix(line, "rpmlib(") {
			t.Errorf("the package requires %s", line)
		}
	}
	if got := query("--recommends"); got != "xdg-utils" {
		t.Errorf("the package recommends %q", got)
	}
	if folders := query("--qf", "[%{FILEMODES:perms} %{FILENAMES}\n]"); strings.Count(folders, "drwx") != 1 || !strings.Contains(folders, "drwxr-xr-x /usr/share/licenses/throng\n") {
		t.Errorf("removing the package leaves its own folder, or takes one of the system:\n%s", folders)
	}
	checkFiles(t, query("--qf", "[%{FILENAMES} %{FILEMODES:octal} %{FILEUSERNAME}:%{FILEGROUPNAME} %{FILEMTIMES}\n]"))
}

// checkFiles checks some lines of path, mode, owner and time, of a package for other distributions than Debian.
func checkFiles(t *testing.T, list string) {
	t.Helper()
	for _, want := range []string{
		"/usr/bin/throng 100755", "/usr/bin/throngctl 100755", "/usr/share/applications/" + appID + ".desktop 100644",
		"/usr/share/bash-completion/completions/throngctl 100644", "/usr/share/man/man1/throngctl.1.gz 100644",
		"/usr/share/licenses/throng/LICENSE 100644",
	} {
		if !strings.Contains("\n"+list+"\n", "\n"+want+" root:root 1700000000\n") {
			t.Errorf("the package has no %s:\n%s", want, list)
		}
	}
	if strings.Contains(list, "/usr/bin 4") || strings.Contains(list, "/usr/share 4") {
		t.Errorf("the package owns folders of the system:\n%s", list)
	}
}

// testArchPackage checks the metadata and files of the package for Arch Linux.
func testArchPackage(t *testing.T, j job, made map[string]string) {
	v, path := j.value(t, "Version"), made[".zst"]
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	z, err := zstd.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var info, list string
	for files := tar.NewReader(z); ; {
		h, err := files.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		switch {
		case h.Name == ".PKGINFO":
			text, err := io.ReadAll(files)
			if err != nil {
				t.Fatal(err)
			}
			info = string(text)
		case h.Typeflag == tar.TypeReg:
			if h.Uid != 0 || h.Gid != 0 {
				t.Errorf("%s belongs to %d:%d", h.Name, h.Uid, h.Gid)
			}
			list += fmt.Sprintf("/%s 100%o root:root %d\n", h.Name, h.Mode, h.ModTime.Unix())
		}
	}
	checkFiles(t, list)
	for _, want := range []string{
		`pkgname = throng`, `pkgver = ` + regexp.QuoteMeta(v) + `-1`, `arch = x86_64`, `license = MIT`, `url = ` + homepage,
		`builddate = 1700000000`, `depend = glibc>=2\.[0-9]+`, `depend = libxcursor`, `pkgdesc = run crowds .*`,
	} {
		if !regexp.MustCompile(`(?m)^` + want + `$`).MatchString(info) {
			t.Errorf(".PKGINFO has no %s:\n%s", want, info)
		}
	}
	if got := strings.Count(info, "depend = "); got != 2 {
		t.Errorf("%d dependencies, want 2:\n%s", got, info)
	}
}

// nfpmNames returns the file names that distributions use for a package, by extension.
func nfpmNames(debian, rpm, arch string) map[string]string {
	return map[string]string{
		".deb": "throng_" + debian + "_amd64.deb",
		".rpm": "throng-" + rpm + "-1.x86_64.rpm",
		".zst": "throng-" + arch + "-1-x86_64.pkg.tar.zst",
	}
}

// testPreRelease checks that the versions in file names sort before the release: by a tilde, or by a letter on Arch Linux.
func testPreRelease(t *testing.T, j job, _ map[string]string) {
	j.app.release.version = "1.2.3-dev.20231114.abcdef012.changed"
	made, err := packNfpm(t.Context(), j, tree{"bin/throng": {[]byte("program"), 0o755}}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	names := nfpmNames("1.2.3~dev.20231114.abcdef012.changed", "1.2.3~dev.20231114.abcdef012.changed", "1.2.3dev.20231114.abcdef012.changed")
	for _, path := range made {
		if got, want := filepath.Base(path), names[filepath.Ext(path)]; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// testUnknownLibrary checks that a library without a known package is an error.
func testUnknownLibrary(t *testing.T, j job, _ map[string]string) {
	cursor := libraryPackages["libXcursor.so.1"]
	delete(libraryPackages, "libXcursor.so.1")
	defer func() { libraryPackages["libXcursor.so.1"] = cursor }()
	if _, err := usedLibraries(j.exe); err == nil || !strings.Contains(err.Error(), "libXcursor.so.1") || !strings.Contains(err.Error(), "needs.go") {
		t.Errorf("got %v", err)
	}
}

// checkLicenses checks for the full license texts of Throng, linked modules, and what they include.
func checkLicenses(t *testing.T, text string) {
	t.Helper()
	for _, part := range []string{"The Throng authors", "Redistributions in binary form must reproduce", "SIL OPEN FONT LICENSE", "SQLite", "Apache License"} {
		if !strings.Contains(text, part) {
			t.Errorf("the %d bytes of licenses have no %q", len(text), part)
		}
	}
}

// TestRelease checks that only a tagged commit has the version of FyneApp.toml.
func TestRelease(t *testing.T) {
	repo := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		command(t, repo, "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	git("init", "-q")
	file := filepath.Join(repo, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	git("add", ".")
	git("commit", "-q", "-m", "one")
	check := func(prefix, suffix string) {
		t.Helper()
		r, err := readRelease(t.Context(), repo, "1.2.3")
		if err != nil || !strings.HasPrefix(r.version, prefix) || !strings.HasSuffix(r.version, suffix) || r.made.Unix() != 1_700_000_000 {
			t.Errorf("%+v, %v; want %s…%s", r, err, prefix, suffix)
		}
	}
	check("1.2.3-dev.20231114.", "")
	git("tag", "v1.2.3")
	check("1.2.3", "1.2.3")
	if err := os.WriteFile(file, []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	check("1.2.3-dev.20231114.", ".changed")
	git("commit", "-q", "-a", "-m", "two")
	git("tag", "v1.2.4")
	if _, err := readRelease(t.Context(), repo, "1.2.3"); err == nil || !strings.Contains(err.Error(), "v1.2.4") {
		t.Errorf("a tag with another version: %v", err)
	}
}

// TestDocumentedNames checks that the README and the guide use the names of the packages.
func TestDocumentedNames(t *testing.T) {
	j, _ := released(t, "linux")
	v := j.app.release.version
	names := nfpmNames(v, v, v)
	for _, ending := range []string{".dmg", ".zip", ".tar.xz"} {
		names[ending] = j.called(ending)
	}
	found := map[string]bool{}
	for _, page := range []string{"README.md", filepath.Join("assets", "guide", "12-unsigned.md")} {
		for _, name := range regexp.MustCompile(`(?i)throng[-_][0-9][^\s/]*?(\.dmg|\.zip|\.deb|\.rpm|\.pkg\.tar\.zst|\.tar\.xz)\b`).FindAllStringSubmatch(read(t, filepath.Join(j.root, page)), -1) {
			ending := strings.TrimPrefix(name[1], ".pkg.tar")
			found[ending] = true
			if want := names[ending]; name[0] != want {
				t.Errorf("%s names %s; make package makes %s", page, name[0], want)
			}
		}
	}
	if len(found) != len(names) {
		t.Errorf("the pages name %v, want %v", found, names)
	}
}

package main

import (
	"archive/zip"
	"bytes"
	"debug/pe"
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

	"github.com/tc-hib/winres"
	"github.com/tc-hib/winres/version"
)

// released is a job for fake programs with a released version and a fixed time.
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

// linuxPackages makes the Linux packages. Both programs are fakes in C that link libraries.
func linuxPackages(t *testing.T) (j job, deb, archive string) {
	t.Helper()
	for _, tool := range []string{"dpkg-deb", "xz", "gcc"} {
		if _, err := exec.LookPath(tool); err != nil || runtime.GOOS != "linux" {
			t.Skipf("packages for Linux are made on Linux, with %s: make setup-app", tool)
		}
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
	made, err := packTree(t.Context(), j, work)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(work); err != nil {
		t.Fatal(err)
	}
	return j, made[0], made[1]
}

// TestDebianPackage checks names, files and modes against Debian policy, and the dependencies.
func TestDebianPackage(t *testing.T) {
	j := standIn(t, "linux")
	v := j.value(t, "Version")
	_, deb, _ := linuxPackages(t)
	if got, want := filepath.Base(deb), "throng_"+v+"_amd64.deb"; got != want {
		t.Errorf("it is called %s, not %s", got, want)
	}
	for field, want := range map[string]string{"Package": "throng", "Version": v, "Architecture": "amd64"} {
		if got := strings.TrimSpace(command(t, ".", "dpkg-deb", "-f", deb, field)); got != want {
			t.Errorf("%s: got %q, want %q", field, got, want)
		}
	}
	depends := strings.TrimSpace(command(t, ".", "dpkg-deb", "-f", deb, "Depends"))
	if !strings.HasPrefix(depends, "libc6 (>= 2.") || !strings.HasSuffix(depends, "), libxcursor1") {
		t.Errorf("it depends on %q", depends)
	}
	listed := command(t, ".", "dpkg-deb", "-c", deb)
	for line := range strings.Lines(listed) {
		if !strings.Contains(line, " root/root ") || !strings.Contains(line, " 2023-11-14 ") {
			t.Errorf("not root's, or of another time: %s", line)
		}
	}
	root := t.TempDir()
	command(t, root, "dpkg-deb", "-x", deb, root)
	share := filepath.Join(root, "usr", "share")
	if entry := read(t, filepath.Join(share, "applications", appID+".desktop")); !strings.Contains(entry, "\nExec=throng %f\n") || !strings.Contains(entry, "\nMimeType=application/x-throng-scenario;\n") {
		t.Errorf("the entry:\n%s", entry)
	}
	validate(t, filepath.Join(share, "applications", appID+".desktop"))
	read(t, filepath.Join(share, "man", "man1", "throngctl.1.gz"))
	checkLicences(t, read(t, filepath.Join(share, "doc", "throng", "copyright")))
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

// TestSameBytes checks that packages of the same files and time are identical.
func TestSameBytes(t *testing.T) {
	j, deb, archive := linuxPackages(t)
	before := [][]byte{[]byte(read(t, deb)), []byte(read(t, archive))}
	work, err := j.open()
	if err != nil {
		t.Fatal(err)
	}
	j.app.release.made = time.Unix(1_700_000_000, 0).UTC()
	made, err := packTree(t.Context(), j, work)
	if err != nil {
		t.Fatal(err)
	}
	for i, path := range made {
		if !bytes.Equal([]byte(read(t, path)), before[i]) {
			t.Errorf("%s has other bytes the second time", filepath.Base(path))
		}
	}
}

// TestArchive installs from the archive, checks the type of a scenario file, and uninstalls.
func TestArchive(t *testing.T) {
	_, _, archive := linuxPackages(t)
	unpacked, home := t.TempDir(), filepath.Join(t.TempDir(), "a home")
	command(t, unpacked, "tar", "-xJf", archive)
	script := filepath.Join(unpacked, strings.TrimSuffix(filepath.Base(archive), ".tar.xz"), "install")
	install := func(args ...string) string {
		return command(t, "/", "env", append([]string{"HOME=" + home, "PREFIX=" + filepath.Join(home, ".local"), script}, args...)...)
	}
	for range 2 { // over itself
		install()
	}
	share := filepath.Join(home, ".local", "share")
	if got := command(t, home, filepath.Join(home, ".local", "bin", "throng")); got != "opened\n" {
		t.Errorf("the installed program said %q", got)
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
		t.Errorf("left: %q %v", left, err)
	}
	for _, wrong := range []string{"PREFIX=here", "PREFIX=/a$b"} {
		if out, err := exec.CommandContext(t.Context(), "env", wrong, script).CombinedOutput(); err == nil || !strings.Contains(string(out), "PREFIX") {
			t.Errorf("%s: %v %s", wrong, err, out)
		}
	}
}

// TestUnknownLibrary checks that a library without a known package is an error.
func TestUnknownLibrary(t *testing.T) {
	j, _, _ := linuxPackages(t)
	delete(libraries, "libXcursor.so.1")
	defer func() { libraries["libXcursor.so.1"] = "libxcursor1" }()
	if _, err := needs(j.exe); err == nil || !strings.Contains(err.Error(), "libXcursor.so.1") || !strings.Contains(err.Error(), "needs.go") {
		t.Errorf("got %v", err)
	}
}

// TestWindows adds the icon and the version to a Windows program, and zips it.
func TestWindows(t *testing.T) {
	j, work := released(t, "windows")
	source := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() { println(\"opened\") }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, exe := range []string{j.exe, j.ctl} {
		if err := os.Remove(exe); err != nil {
			t.Fatal(err)
		}
		if _, err := runWith(t.Context(), []string{"GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0"}, filepath.Dir(source), "go", "build", "-o", exe, source); err != nil {
			t.Fatal(err)
		}
	}
	made, err := packZip(j, work)
	if err != nil {
		t.Fatal(err)
	}
	v := j.app.Details.Version
	if got := filepath.Base(made[0]); got != "Throng-"+v+"-windows-amd64.zip" {
		t.Errorf("it is called %s", got)
	}
	z, err := zip.OpenReader(made[0])
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = z.Close() }()
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
		if !f.Modified.Equal(j.app.release.made) {
			t.Errorf("%s is of %s", f.Name, f.Modified)
		}
		if strings.HasSuffix(f.Name, ".exe") {
			checkResources(t, f, v)
		} else {
			checkLicences(t, string(unzipped(t, f)))
		}
	}
	if !slices.Equal(names, []string{"Throng/licences.txt", "Throng/Throng.exe", "Throng/throngctl.exe"}) {
		t.Errorf("it has %q", names)
	}
}

// checkLicences checks for the full license texts of Throng, linked modules, and what they include.
func checkLicences(t *testing.T, text string) {
	t.Helper()
	for _, part := range []string{"The Throng authors", "Redistributions in binary form must reproduce", "SIL OPEN FONT LICENSE", "SQLite", "Apache License"} {
		if !strings.Contains(text, part) {
			t.Errorf("the %d bytes of licences have no %q", len(text), part)
		}
	}
}

func unzipped(t *testing.T, f *zip.File) []byte {
	t.Helper()
	in, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func checkResources(t *testing.T, f *zip.File, v string) {
	t.Helper()
	exe := unzipped(t, f)
	if _, err := pe.NewFile(bytes.NewReader(exe)); err != nil {
		t.Errorf("%s is not a program any longer: %v", f.Name, err)
	}
	all, err := winres.LoadFromEXE(bytes.NewReader(exe))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := all.GetIcon(winres.Name("APPICON")); err != nil {
		t.Error(err)
	}
	info, err := version.FromBytes(all.Get(winres.RT_VERSION, winres.ID(1), version.LangDefault))
	if err != nil {
		t.Fatal(err)
	}
	strs := (*info.Table()[version.LangDefault])
	if strs[version.ProductName] != "Throng" || strs[version.ProductVersion] != v || strs[version.OriginalFilename] != filepath.Base(f.Name) {
		t.Errorf("%s is described as %v", f.Name, strs)
	}
	if manifest := all.Get(winres.RT_MANIFEST, winres.ID(1), winres.LCIDDefault); !bytes.Contains(manifest, []byte("permonitorv2")) {
		t.Errorf("the manifest: %s", manifest)
	}
}

// TestRelease checks that only a tagged commit has the version of FyneApp.toml, and that Debian sorts pre-releases before
// it.
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
		t.Errorf("a tag that is another version: %v", err)
	}
	if got := (release{version: "1.2.3-dev.1.a-b"}).deb(); got != "1.2.3~dev.1.a-b" {
		t.Errorf("for Debian it is %s", got)
	}
}

// TestDocumentedNames checks that the README and the guide use the names of the packages.
func TestDocumentedNames(t *testing.T) {
	j, _ := released(t, "linux")
	found := 0
	for _, page := range []string{"README.md", filepath.Join("assets", "guide", "12-unsigned.md")} {
		for _, name := range regexp.MustCompile(`(?i)throng[-_][0-9][^\s/]*?(\.dmg|\.zip|\.deb|\.tar\.xz)\b`).FindAllStringSubmatch(read(t, filepath.Join(j.root, page)), -1) {
			found++
			if want := j.called(name[1]); name[0] != want {
				t.Errorf("%s names %s; make package makes %s", page, name[0], want)
			}
		}
	}
	if found < 5 {
		t.Errorf("only %d names were found", found)
	}
}

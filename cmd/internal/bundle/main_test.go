package main

import (
	"bytes"
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/throng-sim/throng/assets"
)

const appID = "io.github.throng-sim.throng"

// standIn is a job for a program that only looks like one, built in a folder with an awkward name.
func standIn(t *testing.T, system string) job {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "it's 100 $HOME")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "throng")
	if err := os.WriteFile(exe, []byte("#!/bin/sh\necho opened\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return job{system: system, root: filepath.Join("..", "..", ".."), exe: exe, out: filepath.Join(dir, "dist")}
}

// make makes the bundle and checks that FyneApp.toml stays as it is.
func (j job) make(t *testing.T) []string {
	t.Helper()
	toml := filepath.Join(j.root, "FyneApp.toml")
	before := read(t, toml)
	made, err := bundle(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	if after := read(t, toml); after != before {
		t.Errorf("FyneApp.toml was written anew:\n%s", after)
	}
	if left, _ := filepath.Glob(filepath.Join(j.out, ".*")); len(left) != 0 {
		t.Errorf("left over: %s", left)
	}
	return made
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// value returns what a key of FyneApp.toml is.
func (j job) value(t *testing.T, key string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^` + key + ` = "?([^"\n]+)"?$`).FindStringSubmatch(read(t, filepath.Join(j.root, "FyneApp.toml")))
	if found == nil {
		t.Fatalf("FyneApp.toml has no %s", key)
	}
	return found[1]
}

func TestMac(t *testing.T) {
	j := standIn(t, "darwin")
	for range 2 { // the second one replaces the first
		j.make(t)
	}
	app := filepath.Join(j.out, "Throng.app", "Contents")
	plist := readPlist(t, filepath.Join(app, "Info.plist"))
	for key, want := range map[string]string{
		"CFBundleName":               "Throng",
		"CFBundleIdentifier":         appID,
		"CFBundleExecutable":         "throng",
		"CFBundleIconFile":           "icon.icns",
		"CFBundlePackageType":        "APPL",
		"CFBundleShortVersionString": j.value(t, "Version"),
		"CFBundleVersion":            j.value(t, "Build"),
		"LSApplicationCategoryType":  "public.app-category.developer-tools",
		"LSMinimumSystemVersion":     "12.0",
		"NSHighResolutionCapable":    "true",
		"LSAppNapIsDisabled":         "true",
		"NSAppSleepDisabled":         "true",
	} {
		if got := plist[key]; got != want {
			t.Errorf("%s: got %q, want %q", key, got, want)
		}
	}
	if info, err := os.Stat(filepath.Join(app, "MacOS", "throng")); err != nil || info.Mode()&0o111 == 0 {
		t.Errorf("the program: %v, %v", info, err)
	}
	if icon := read(t, filepath.Join(app, "Resources", "icon.icns")); !strings.HasPrefix(icon, "icns") {
		t.Errorf("the icon starts with %.4q", icon)
	}
}

// readPlist returns the keys of a property list whose values are plain, "true" for a true one.
func readPlist(t *testing.T, path string) map[string]string {
	t.Helper()
	var list struct {
		Dict struct {
			Items []struct {
				XMLName xml.Name
				Text    string `xml:",chardata"`
			} `xml:",any"`
		} `xml:"dict"`
	}
	if err := xml.Unmarshal([]byte(read(t, path)), &list); err != nil {
		t.Fatal(err)
	}
	values, key := map[string]string{}, ""
	for _, item := range list.Dict.Items {
		switch item.XMLName.Local {
		case "key":
			key = item.Text
		case "true", "false":
			values[key] = item.XMLName.Local
		default:
			values[key] = item.Text
		}
	}
	return values
}

func TestLinux(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the archive is made with GNU tar and xz, on Linux")
	}
	j := standIn(t, "linux")
	for range 2 {
		j.make(t)
	}

	desktop := filepath.Join(j.out, "Throng.desktop")
	if info, err := os.Stat(desktop); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the desktop entry: %v, %v", info, err)
	}
	entry := read(t, desktop)
	icon := filepath.Join(j.out, "Throng.png")
	for _, want := range []string{
		"[Desktop Entry]\n", "Type=Application\n", "Name=Throng\n", "StartupWMClass=Throng\n", "Icon=" + icon + "\n",
		`Exec="` + strings.ReplaceAll(j.exe, "$", `\\$`) + "\"\n",
	} {
		if !strings.Contains(entry, want) {
			t.Errorf("the desktop entry has no %q:\n%s", want, entry)
		}
	}
	if read(t, icon) != string(assets.Icon()) {
		t.Error("its icon is another")
	}
	validate(t, desktop)

	unpacked := t.TempDir()
	command(t, unpacked, "tar", "-xJf", filepath.Join(j.out, "throng-linux-"+runtime.GOARCH+".tar.xz"))
	home := t.TempDir()
	command(t, filepath.Join(unpacked, "throng"), "make", "user-install", "HOME="+home)
	if got := command(t, home, filepath.Join(home, ".local", "bin", "throng")); got != "opened\n" {
		t.Errorf("the installed program said %q", got)
	}
	read(t, filepath.Join(home, ".local", "share", "icons", appID+".png"))
	installed := filepath.Join(home, ".local", "share", "applications", appID+".desktop")
	if entry := read(t, installed); !strings.Contains(entry, "\nExec="+home+"/.local/bin/throng\n") {
		t.Errorf("the installed entry:\n%s", entry)
	}
	validate(t, installed)
	root := t.TempDir()
	command(t, filepath.Join(unpacked, "throng"), "make", "install", "DESTDIR="+root, "PREFIX=/usr")
	read(t, filepath.Join(root, "usr", "share", "pixmaps", appID+".png"))
}

func TestUnknownSystem(t *testing.T) {
	if _, err := bundle(t.Context(), standIn(t, "plan9")); err == nil || !strings.Contains(err.Error(), "plan9") {
		t.Errorf("got %v", err)
	}
}

func TestExecValue(t *testing.T) {
	for path, want := range map[string]string{
		`/opt/throng`: `"/opt/throng"`,
		`/a b/100%`:   `"/a b/100%%"`,
		"/$x/`y`/\"z": `"/\\$x/` + "\\\\`y\\\\`" + `/\\"z"`,
		`/back\slash`: `"/back\\\\slash"`,
	} {
		if got := execValue(path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

func TestRewriteWantsWhatItReplaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("one two"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := rewrite(path, "one", "1", "three", "3"); err == nil || !strings.Contains(err.Error(), "three") {
		t.Errorf("got %v", err)
	}
	if got := read(t, path); got != "one two" {
		t.Errorf("it wrote %q nonetheless", got)
	}
}

// validate asks desktop-file-validate, where there is one.
func validate(t *testing.T, path string) {
	t.Helper()
	if _, err := exec.LookPath("desktop-file-validate"); err == nil {
		command(t, ".", "desktop-file-validate", path)
	}
}

func command(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s%s", name, args, err, out, stderr.Bytes())
	}
	return string(out)
}

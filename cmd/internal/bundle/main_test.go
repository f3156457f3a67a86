package main

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"fmt"
	"image"
	_ "image/png"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/assets"
)

const appID = "io.github.throng-sim.throng"

// standIn returns a job for a fake program, built in a folder with special characters in its name.
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
	ctl := filepath.Join(dir, "throngctl")
	if err := os.WriteFile(ctl, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return job{system: system, arch: "amd64", root: filepath.Join("..", "..", ".."), exe: exe, ctl: ctl, out: filepath.Join(dir, "dist"), unsigned: true}
}

// make makes the bundle and checks that FyneApp.toml is unchanged.
func (j job) make(t *testing.T) []string {
	t.Helper()
	toml := filepath.Join(j.root, "FyneApp.toml")
	before := read(t, toml)
	made, err := bundle(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	if after := read(t, toml); after != before {
		t.Errorf("FyneApp.toml was written again:\n%s", after)
	}
	if left, _ := filepath.Glob(filepath.Join(j.out, ".*")); len(left) != 0 {
		t.Errorf("not removed: %s", left)
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

// value returns the value of a key of FyneApp.toml.
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
		"CFBundleSupportedPlatforms": "MacOSX",
		"LSAppNapIsDisabled":         "true",
		"NSAppSleepDisabled":         "true",
	} {
		if got := plist[key]; got != want {
			t.Errorf("%s: got %q, want %q", key, got, want)
		}
	}
	scenario := appID + ".scenario"
	for key, want := range map[string]string{
		"CFBundleDocumentTypes": "CFBundleTypeName Throng scenario CFBundleTypeRole Editor CFBundleTypeIconFile icon.icns LSHandlerRank Owner " +
			"LSItemContentTypes " + scenario + " CFBundleTypeName YAML CFBundleTypeRole Editor LSHandlerRank Alternate LSItemContentTypes public.yaml",
		"UTExportedTypeDeclarations": "UTTypeIdentifier " + scenario + " UTTypeDescription Throng scenario UTTypeIconFile icon.icns UTTypeConformsTo public.yaml " +
			"UTTypeTagSpecification public.filename-extension throng.yaml public.mime-type application/x-throng-scenario",
	} {
		if got := plist[key]; got != want {
			t.Errorf("%s: got %q, want %q", key, got, want)
		}
	}
	var files []string
	if err := fs.WalkDir(os.DirFS(app), ".", func(path string, entry fs.DirEntry, err error) error {
		if !entry.IsDir() {
			files = append(files, path)
		}
		return err
	}); err != nil || !slices.Equal(files, []string{"Info.plist", "MacOS/throng", "MacOS/throngctl", "Resources/icon.icns"}) {
		t.Errorf("got %q, %v", files, err)
	}
	if info, err := os.Stat(filepath.Join(app, "MacOS", "throng")); err != nil || info.Mode()&0o111 == 0 {
		t.Errorf("the program: %v, %v", info, err)
	}
	sizes := icnsSizes(t, read(t, filepath.Join(app, "Resources", "icon.icns")))
	for _, size := range []int{32, 64, 128, 256, 512, 1024} {
		if !slices.Contains(sizes, size) {
			t.Errorf("the icon has the sizes %d, and not %d", sizes, size)
		}
	}
}

// icnsSizes returns the widths of the images in a macOS icon.
func icnsSizes(t *testing.T, icon string) (sizes []int) {
	t.Helper()
	if len(icon) < 8 || icon[:4] != "icns" || int(binary.BigEndian.Uint32([]byte(icon[4:8]))) != len(icon) {
		t.Fatalf("the icon starts with %.8q", icon)
	}
	for rest := icon[8:]; len(rest) >= 8; {
		size := int(binary.BigEndian.Uint32([]byte(rest[4:8])))
		if picture, _, err := image.DecodeConfig(strings.NewReader(rest[8:size])); err == nil {
			sizes = append(sizes, picture.Width)
		}
		rest = rest[size:]
	}
	return sizes
}

// readPlist returns the keys and values of a property list: "true" for true, and the words of a list.
func readPlist(t *testing.T, path string) map[string]string {
	t.Helper()
	var list struct {
		Dict struct {
			Items []struct {
				XMLName xml.Name
				Text    string `xml:",chardata"`
				Inner   string `xml:",innerxml"`
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
		case "array", "dict":
			values[key] = strings.Join(strings.Fields(regexp.MustCompile("<[^>]*>").ReplaceAllString(item.Inner, " ")), " ")
		default:
			values[key] = item.Text
		}
	}
	return values
}

func TestLinux(t *testing.T) {
	j := standIn(t, "linux")
	for range 2 {
		j.make(t)
	}
	desktop := filepath.Join(j.out, "Throng.desktop")
	if info, err := os.Stat(desktop); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o755 {
		t.Errorf("the desktop entry: %v, %v", info, err)
	}
	entry := read(t, desktop)
	icon := filepath.Join(j.out, "Throng.png")
	for _, want := range []string{
		"[Desktop Entry]\n", "Type=Application\n", "Name=Throng\n", "StartupWMClass=Throng\n", "Icon=" + icon + "\n",
		`Exec="` + strings.ReplaceAll(j.exe, "$", `\\$`) + "\" %f\n",
	} {
		if !strings.Contains(entry, want) {
			t.Errorf("the desktop entry has no %q:\n%s", want, entry)
		}
	}
	if read(t, icon) != string(assets.Icon()) {
		t.Error("the icon differs")
	}
	validate(t, desktop)
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
		t.Errorf("wrote %q despite the error", got)
	}
}

// validate runs desktop-file-validate if it is installed.
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

// pictureSize returns the width and height of an image.
func pictureSize(t *testing.T, picture string) string {
	t.Helper()
	config, _, err := image.DecodeConfig(strings.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%dx%d", config.Width, config.Height)
}

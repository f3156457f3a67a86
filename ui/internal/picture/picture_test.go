package picture

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// drawn returns a picture with a dot at a unique position.
func drawn(shade uint8) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, 8, 6))
	img.SetRGBA(3, 2, color.RGBA{shade, 20, 30, 255})
	return img
}

func shadeOf(t *testing.T, data []byte) uint8 {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	r, _, _, _ := img.At(3, 2).RGBA()
	return uint8(r >> 8)
}

func TestSaveReplacesNothing(t *testing.T) {
	dir := t.TempDir()
	for i, want := range []string{"cpu.png", "cpu-2.png", "cpu-3.png"} {
		path, err := Save(dir, "cpu", drawn(uint8(10+i)))
		if err != nil || path != filepath.Join(dir, want) {
			t.Fatalf("saved as %q, %v, want %s", path, err, want)
		}
	}
	for i, name := range []string{"cpu.png", "cpu-2.png", "cpu-3.png"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := shadeOf(t, data); got != uint8(10+i) {
			t.Errorf("%s holds the picture %d, want %d", name, got, 10+i)
		}
	}
	if _, err := Save(filepath.Join(dir, "gone"), "cpu", drawn(1)); err == nil {
		t.Error("a picture was saved to a missing folder")
	}
	// An image that cannot be encoded leaves no file.
	if _, err := Save(dir, "empty", image.NewRGBA(image.Rect(0, 0, 0, 0))); err == nil {
		t.Error("no picture was saved")
	}
	if _, err := os.Stat(filepath.Join(dir, "empty.png")); err == nil {
		t.Error("half a file was left")
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		parts []string
		want  string
	}{
		{[]string{"20300301-120000-abcd", "Database connections"}, "throng-20300301-120000-abcd-database-connections"},
		{[]string{"", "../../etc/passwd"}, "throng-etc-passwd"},
		{[]string{"Größe: 5%"}, "throng-größe-5"},
		{nil, "throng"},
	} {
		if got := Name(c.parts...); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.parts, got, c.want)
		}
	}
}

func TestEachSystemHasATool(t *testing.T) {
	for _, system := range []string{"darwin", "windows", "linux"} {
		if len(tools(system, false)) == 0 {
			t.Errorf("%s has none", system)
		}
	}
	if tools("linux", true)[0].name != "wl-copy" || tools("linux", false)[0].name != "xclip" {
		t.Error("the desktop's own tool is not the first")
	}
}

// TestCopyHandsThePictureToATool replaces the system's clipboard tool with a script that stores its input.
func TestCopyHandsThePictureToATool(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the programs of this system cannot be replaced")
	}
	dir := t.TempDir()
	kept := filepath.Join(dir, "kept")
	t.Setenv("WAYLAND_DISPLAY", "")
	script := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "xclip"), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	path := os.Getenv("PATH")
	t.Setenv("PATH", t.TempDir())
	if err := Copy(drawn(77)); err == nil || !strings.Contains(err.Error(), "save it as a file") {
		t.Errorf("without a program: %v", err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+path)
	script("echo \"$@\" > " + kept + ".args; cat > " + kept)
	if err := Copy(drawn(77)); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	if got := shadeOf(t, data); got != 77 {
		t.Errorf("it got the picture %d, want 77", got)
	}
	if args, _ := os.ReadFile(kept + ".args"); !strings.Contains(string(args), "image/png") {
		t.Errorf("the tool was called with %q", args)
	}
	script("echo no display >&2; exit 1")
	if err := Copy(drawn(77)); err == nil || !strings.Contains(err.Error(), "no display") {
		t.Errorf("a program that fails: %v", err)
	}
}

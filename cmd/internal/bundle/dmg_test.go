package main

import (
	"encoding/json"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// luminance returns the relative luminance of a color, as WCAG 2 defines it.
func luminance(c color.Color) float64 {
	linear := func(v uint32) float64 {
		if s := float64(v) / 0xffff; s > 0.04045 {
			return math.Pow((s+0.055)/1.055, 2.4)
		} else {
			return s / 12.92
		}
	}
	r, g, b, _ := c.RGBA()
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}

// contrast returns the contrast ratio of two colors.
func contrast(a, b color.Color) float64 {
	light, dark := luminance(a)+0.05, luminance(b)+0.05
	return max(light, dark) / min(light, dark)
}

// TestDiskImageWindow has a stand-in for the tool, which reads its settings, and checks what they name.
func TestDiskImageWindow(t *testing.T) {
	bin, work, out := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	if err := writeFile(filepath.Join(bin, dmgTool), []byte("#!/bin/sh\necho \"$@\" >\"$4\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	var j job
	j.app.Details.Name = "Throng"
	app, path := filepath.Join(work, "Throng.app"), filepath.Join(out, "Throng.dmg")
	if err := makeImage(t.Context(), j, work, app, path); err != nil {
		t.Fatal(err)
	}
	args := strings.Fields(read(t, path))
	if len(args) != 4 || args[0] != "-s" || args[2] != "Throng" || args[3] != path {
		t.Fatalf("the tool got %q", args)
	}
	var settings struct {
		Title, Icon, Background string
		Window                  struct{ Size struct{ Width, Height int } }
		Contents                []struct {
			X, Y       int
			Type, Path string
		}
	}
	if err := json.Unmarshal([]byte(read(t, args[1])), &settings); err != nil {
		t.Fatal(err)
	}
	if settings.Title != "Throng" || settings.Icon != app+"/Contents/Resources/icon.icns" || len(settings.Contents) != 2 ||
		settings.Contents[0].Path != app || settings.Contents[1].Path != "/Applications" || settings.Contents[1].Type != "link" {
		t.Errorf("the settings are %+v", settings)
	}
	size := settings.Window.Size
	for _, c := range settings.Contents {
		if c.X < dmgIcon/2 || c.X > size.Width-dmgIcon/2 || c.Y < dmgIcon/2 || c.Y > size.Height-dmgIcon/2-60 { // a name is below it
			t.Errorf("an icon is outside of the window: %+v", c)
		}
	}
	for ending, scale := range map[string]int{".png": 1, "@2x.png": 2} {
		f, err := os.Open(strings.TrimSuffix(settings.Background, ".png") + ending)
		if err != nil {
			t.Fatal(err)
		}
		picture, err := png.Decode(f)
		_ = f.Close()
		if err != nil {
			t.Fatal(err)
		}
		if b := picture.Bounds().Max; b.X != scale*size.Width || b.Y != scale*size.Height {
			t.Errorf("background%s has %v", ending, b)
		}
		if got := contrast(picture.At(scale*(dmgAppX+dmgLinkX)/2, scale*dmgIconY), picture.At(0, scale*dmgIconY)); got < 3 {
			t.Errorf("the arrow has a contrast of %.1f", got)
		}
		for _, y := range []int{0, scale * (dmgIconY + dmgIcon), scale*size.Height - 1} {
			for _, ink := range []color.Color{color.Black, color.White} {
				if got := contrast(ink, picture.At(0, y)); got < 3.8 {
					t.Errorf("a name in %v has a contrast of %.1f at %d", ink, got, y)
				}
			}
		}
	}
}

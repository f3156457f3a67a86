package uitest

import (
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

// mostOff is the maximum difference of a color channel from the golden picture, out of 255, because processors round differently.
const mostOff = 3

// Golden compares a drawing with a picture in testdata, or replaces the picture if update is set.
func Golden(t *testing.T, name string, got image.Image, update bool) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if update {
		write(t, path, got)
		return
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatalf("%v: run with -update to create it", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	want, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if got.Bounds() != want.Bounds() {
		t.Fatalf("%s: the size is %v, want %v", name, got.Bounds(), want.Bounds())
	}
	off, first := 0, image.Point{}
	for y := got.Bounds().Min.Y; y < got.Bounds().Max.Y; y++ {
		for x := got.Bounds().Min.X; x < got.Bounds().Max.X; x++ {
			if !alike(got.At(x, y), want.At(x, y)) {
				if off == 0 {
					first = image.Pt(x, y)
				}
				off++
			}
		}
	}
	if off > 0 {
		t.Errorf("%s: %d pixels differ, the first at %v: %v, want %v. If the change is intended, run with -update and check the picture", name, off, first, got.At(first.X, first.Y), want.At(first.X, first.Y))
	}
}

func alike(a, b color.Color) bool {
	c, d := color.RGBAModel.Convert(a).(color.RGBA), color.RGBAModel.Convert(b).(color.RGBA)
	near := func(x, y uint8) bool { return max(x, y)-min(x, y) <= mostOff }
	return near(c.R, d.R) && near(c.G, d.G) && near(c.B, d.B) && near(c.A, d.A)
}

func write(t *testing.T, path string, img image.Image) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(f, img); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

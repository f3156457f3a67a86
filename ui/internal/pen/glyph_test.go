package pen

import (
	"image"
	"math"
	"testing"
)

func TestAGlyphHasItsArea(t *testing.T) {
	disc := Cut(func(x, y float32) bool { return x*x+y*y <= 1 }, 20)
	img := image.NewRGBA(image.Rect(0, 0, 40, 30))
	disc.Stamp(img, 5, 5, red)
	area := 0.0
	for i := 3; i < len(img.Pix); i += 4 {
		area += float64(img.Pix[i]) / 255
	}
	if want := math.Pi * 100; math.Abs(area-want) > 3 {
		t.Errorf("the disc covers %.1f pixels, want %.1f", area, want)
	}
	disc.Stamp(img, -15, -15, blue)
	disc.Stamp(img, 35, 25, blue)
	if img.RGBAAt(0, 0).B == 0 || img.RGBAAt(39, 29).B == 0 || img.RGBAAt(35, 25).B != 0 {
		t.Errorf("a glyph at the edge has the colors %v and %v", img.RGBAAt(0, 0), img.RGBAAt(39, 29))
	}
}

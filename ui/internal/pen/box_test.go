package pen

import (
	"image"
	"image/color"
	"math"
	"testing"

	"pgregory.net/rapid"
)

var (
	red  = color.RGBA{255, 0, 0, 255}
	blue = color.RGBA{0, 0, 255, 255}
)

func TestABoxHasItsArea(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 120, 80))
	Box{X0: 10, Y0: 10, X1: 110, Y1: 70, Radius: 8, Border: 2}.Draw(img, red, blue)
	var area, inside float64
	for i := 0; i < len(img.Pix); i += 4 {
		area += float64(img.Pix[i+3]) / 255
		inside += float64(img.Pix[i]) / 255
	}
	round := func(w, h, r float64) float64 { return w*h - (4-math.Pi)*r*r }
	if want := round(100, 60, 8); math.Abs(area-want) > 3 {
		t.Errorf("the box covers %.1f pixels, want %.1f", area, want)
	}
	if want := round(96, 56, 6); math.Abs(inside-want) > 3 {
		t.Errorf("its inside covers %.1f pixels, want %.1f", inside, want)
	}
	if c := img.RGBAAt(60, 11); c != blue {
		t.Errorf("the border is %v", c)
	}
	if c := img.RGBAAt(60, 40); c != red {
		t.Errorf("the inside is %v", c)
	}
	if c := img.RGBAAt(10, 10); c.A > 60 {
		t.Errorf("the corner is not round: %v", c)
	}
}

// TestABoxIsCutAtTheEdges checks that a box of any size and position draws only the pixels inside the image.
func TestABoxIsCutAtTheEdges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := func(name string) float32 { return float32(rapid.Float64Range(-60, 100).Draw(t, name)) }
		b := Box{X0: at("x0"), Y0: at("y0"), Radius: float32(rapid.IntRange(0, 9).Draw(t, "radius")), Border: 1.5}
		b.X1, b.Y1 = b.X0+float32(rapid.IntRange(1, 90).Draw(t, "w")), b.Y0+float32(rapid.IntRange(1, 90).Draw(t, "h"))
		b.Radius = min(b.Radius, (b.X1-b.X0)/2, (b.Y1-b.Y0)/2)
		img := image.NewRGBA(image.Rect(0, 0, 40, 30))
		b.Draw(img, red, blue)
		for y := range 30 {
			for x := range 40 {
				px, py := float32(x)+0.5, float32(y)+0.5
				outside := px < b.X0-0.5 || px > b.X1+0.5 || py < b.Y0-0.5 || py > b.Y1+0.5
				if outside && img.RGBAAt(x, y).A > 0 {
					t.Fatalf("%v drew at %d, %d", b, x, y)
				}
				deep := px > b.X0+b.Radius+2 && px < b.X1-b.Radius-2 && py > b.Y0+2 && py < b.Y1-2
				if deep && img.RGBAAt(x, y) != red {
					t.Fatalf("%v left %d, %d", b, x, y)
				}
			}
		}
	})
}

func TestABoxAllocatesNothing(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 200, 100))
	if n := testing.AllocsPerRun(20, func() {
		Box{X0: 10, Y0: 10, X1: 180, Y1: 70, Radius: 8, Border: 2}.Draw(img, red, blue)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

package pen

import (
	"image"
	"image/color"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestOverlapsAreNotDarker(t *testing.T) {
	a, b := []Point{{10, 10}, {50.3, 90}}, []Point{{12, 12}, {50.3, 90}, {90, 11}}
	cover := func(lines ...[]Point) []uint8 {
		var m Mask
		m.Resize(100, 100)
		for _, line := range lines {
			m.Line(line, 1.6)
		}
		return m.cover
	}
	one, other, both := cover(a), cover(b), cover(a, b)
	shared := 0
	for i, got := range both {
		if want := max(one[i], other[i]); got != want {
			t.Fatalf("pixel %d is covered by %d, want %d", i, got, want)
		}
		if one[i] > 0 && other[i] > 0 {
			shared++
		}
	}
	if shared < 100 {
		t.Errorf("the lines share %d pixels: not a test", shared)
	}
}

// TestCoverIsReachLessDistance compares lines, also across the edges, with the distance of each pixel from them.
func TestCoverIsReachLessDistance(t *testing.T) {
	const w, h = 45, 30
	rapid.Check(t, func(t *rapid.T) {
		place := rapid.Custom(func(t *rapid.T) Point {
			// Halves make upright and level segments likely, and pixels whose middle is on an edge.
			if rapid.Bool().Draw(t, "halves") {
				return Point{float32(rapid.IntRange(-20, 110).Draw(t, "x")) / 2, float32(rapid.IntRange(-20, 80).Draw(t, "y")) / 2}
			}
			return Point{rapid.Float32Range(-10, 55).Draw(t, "x"), rapid.Float32Range(-10, 40).Draw(t, "y")}
		})
		points := rapid.SliceOfN(place, 2, 5).Draw(t, "points")
		width := rapid.Float32Range(1, 6).Draw(t, "width")
		var m Mask
		m.Resize(w, h)
		m.Line(points, width)
		for i := range w * h {
			x, y := float64(i%w)+0.5, float64(i/w)+0.5
			near := math.Inf(1)
			for k := 1; k < len(points); k++ {
				near = min(near, distance(x, y, points[k-1], points[k]))
			}
			want := 255 * min(max(float64(width)/2+0.5-near, 0), 1)
			if got := m.cover[i/w*m.stride+i%w]; math.Abs(float64(got)-want) > 2 {
				t.Fatalf("%d, %d is covered by %d, want %.1f", i%w, i/w, got, want)
			}
		}
	})
}

// distance returns the distance of a point from the segment from a to b.
func distance(x, y float64, a, b Point) float64 {
	dx, dy := float64(b.X)-float64(a.X), float64(b.Y)-float64(a.Y)
	x, y = x-float64(a.X), y-float64(a.Y)
	if square := dx*dx + dy*dy; square > 0 {
		part := min(max((x*dx+y*dy)/square, 0), 1)
		x, y = x-part*dx, y-part*dy
	}
	return math.Hypot(x, y)
}

// TestColorsAreLaidChannelByChannel compares blended pixels with the result of blending each channel separately.
func TestColorsAreLaidChannelByChannel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		premultiplied := rapid.Custom(func(t *rapid.T) color.RGBA {
			a := rapid.Uint8().Draw(t, "a")
			part := rapid.Uint8Range(0, a)
			return color.RGBA{part.Draw(t, "r"), part.Draw(t, "g"), part.Draw(t, "b"), a}
		})
		c, below := premultiplied.Draw(t, "color"), premultiplied.Draw(t, "below")
		cover := uint32(rapid.Uint8().Draw(t, "cover"))
		rounded := func(v uint32) uint32 { return (2*v + 255) / 510 }
		want := func(c, below, alpha uint8, cover uint32) uint8 {
			return uint8(rounded(uint32(c)*cover + uint32(below)*(255-rounded(uint32(alpha)*cover))))
		}
		pix := []uint8{below.R, below.G, below.B, below.A}
		Over(pix, c, cover)
		if got, want := [4]uint8(pix), [4]uint8{
			want(c.R, below.R, c.A, cover), want(c.G, below.G, c.A, cover), want(c.B, below.B, c.A, cover), want(c.A, below.A, c.A, cover),
		}; got != want {
			t.Fatalf("%v over %v, covered by %d, is %v, want %v", c, below, cover, got, want)
		}

		row := []uint8{0, 0, 0, 0, below.R, below.G, below.B, below.A, below.R, below.G, below.B, below.A, 1, 2, 3, 4}
		one := append([]uint8(nil), row...)
		for i := 0; i < len(one); i += 4 {
			Over(one[i:], c, 255)
		}
		OverAll(row, c)
		for i := range row {
			if row[i] != one[i] {
				t.Fatalf("a row is %v, want %v", row, one)
			}
		}
	})
}

// TestABlendLeavesAnEmptyMask checks that the last columns are also blended and cleared if the width is not a multiple
// of the word size.
func TestABlendLeavesAnEmptyMask(t *testing.T) {
	for _, dashes := range []Dashes{{On: 1}, {On: 3, Off: 4, Between: 70}} {
		img := image.NewRGBA(image.Rect(0, 0, 45, 20))
		var m Mask
		m.Resize(45, 20)
		m.Line([]Point{{-5, 10}, {50, 10}}, 3)
		m.BlendDashed(img, red, dashes)
		for x := range 45 {
			want := uint8(255)
			if x%(dashes.On+dashes.Off) >= dashes.On {
				want = 70
			}
			if got := img.RGBAAt(x, 10); got != (color.RGBA{want, 0, 0, want}) {
				t.Errorf("%v: column %d is %v, want %d", dashes, x, got, want)
			}
		}
		for i, cover := range m.cover {
			if cover != 0 {
				t.Fatalf("%v: %d is left at %d", dashes, cover, i)
			}
		}
	}
}

package pen

import (
	"image"
	"image/color"
)

// Glyph is a small square shape as the coverage of its pixels, row by row.
type Glyph struct {
	Side  int // device pixels
	cover []uint8
}

// samples is the number of samples per pixel in each direction.
const samples = 4

// Cut returns a shape of a size. inside reports whether a point of the square from -1 to 1 is in the shape; y grows downwards.
func Cut(inside func(x, y float32) bool, side int) Glyph {
	g := Glyph{side, make([]uint8, side*side)}
	for i := range g.cover {
		g.cover[i] = coverOf(inside, i%side, i/side, side)
	}
	return g
}

// coverOf returns the coverage of a pixel by a shape, out of 255.
func coverOf(inside func(x, y float32) bool, x, y, side int) uint8 {
	hits := 0
	for i := range samples * samples {
		px := float32(x) + (float32(i%samples)+0.5)/samples
		py := float32(y) + (float32(i/samples)+0.5)/samples
		if inside(2*px/float32(side)-1, 2*py/float32(side)-1) {
			hits++
		}
	}
	return uint8(hits * 255 / (samples * samples))
}

// Stamp draws a glyph with its upper left corner at a pixel, and only the part inside the image.
func (g Glyph) Stamp(img *image.RGBA, x0, y0 int, ink color.RGBA) {
	size := img.Rect.Size()
	for i, c := range g.cover {
		x, y := x0+i%g.Side, y0+i/g.Side
		if c > 0 && x >= 0 && x < size.X && y >= 0 && y < size.Y {
			Over(img.Pix[y*img.Stride+4*x:], ink, uint32(c))
		}
	}
}

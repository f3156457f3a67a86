package pen

import (
	"image"
	"image/color"
)

// Box is a rectangle with round corners, in device pixels.
type Box struct {
	X0, Y0, X1, Y1 float32
	Radius, Border float32
}

// Draw fills the box with an opaque color, inside a border of another.
func (b Box) Draw(img *image.RGBA, fill, border color.RGBA) {
	left, right := max(int(b.X0), img.Rect.Min.X), min(int(b.X1)+1, img.Rect.Max.X)
	top, bottom := max(int(b.Y0), img.Rect.Min.Y), min(int(b.Y1)+1, img.Rect.Max.Y)
	if left >= right {
		return
	}
	edge := b.Radius + b.Border + 1 // within it of a side a pixel's cover depends on its column
	inner, outer := min(max(int(b.X0+edge)+1, left), right), max(min(int(b.X1-edge), right), left)
	for y := top; y < bottom; y++ {
		row := img.Pix[y*img.Stride:]
		b.span(row, left, inner, y, fill, border)
		if inner < outer {
			whole, within := b.cover(float32(inner)+0.5, float32(y)+0.5)
			lay(row[4*inner:], fill, border, whole, within)
			if within == 255 {
				repeat(row[4*inner : 4*outer])
			} else {
				for x := inner + 1; x < outer; x++ {
					lay(row[4*x:], fill, border, whole, within)
				}
			}
		}
		b.span(row, max(inner, outer), right, y, fill, border)
	}
}

// repeat makes all pixels as the first is.
func repeat(pix []uint8) {
	for done := 4; done < len(pix); done *= 2 {
		copy(pix[done:], pix[:done])
	}
}

// span draws the pixels from one column up to another of a row.
func (b Box) span(row []uint8, from, to, y int, fill, border color.RGBA) {
	for x := from; x < to; x++ {
		whole, within := b.cover(float32(x)+0.5, float32(y)+0.5)
		lay(row[4*x:], fill, border, whole, within)
	}
}

// cover is how much of a pixel the box covers, and how much of it what is inside the border does, of 255.
func (b Box) cover(x, y float32) (whole, within uint32) {
	dx := max(b.X0+b.Radius-x, x-b.X1+b.Radius)
	dy := max(b.Y0+b.Radius-y, y-b.Y1+b.Radius)
	d := max(dx, dy) - b.Radius
	if dx > 0 && dy > 0 {
		d = hypot(dx, dy) - b.Radius
	}
	share := func(d float32) uint32 { return uint32(min(max(0.5-d, 0), 1) * 255) }
	return share(d), share(d + b.Border)
}

// lay colors a pixel of a box.
func lay(pix []uint8, fill, border color.RGBA, whole, within uint32) {
	if within < 255 && whole > 0 {
		Over(pix, border, whole)
	}
	if within > 0 {
		Over(pix, fill, within)
	}
}

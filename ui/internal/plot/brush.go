package plot

import (
	"image"
	"image/color"

	"github.com/throng-sim/throng/ui/internal/pen"
)

// brush draws in device-independent pixels. It uses its image again for the next drawing of the same size.
type brush struct {
	img   *image.RGBA
	mask  pen.Mask
	scale float32 // device pixels per device-independent pixel
}

// begin makes the image empty, with w × h device pixels of width device-independent ones.
func (b *brush) begin(w, h int, width float32) {
	if b.img == nil || b.img.Rect.Dx() != w || b.img.Rect.Dy() != h {
		b.img = image.NewRGBA(image.Rect(0, 0, w, h))
		b.mask.Resize(w, h)
	} else {
		clear(b.img.Pix)
	}
	b.scale = 1
	if width > 0 {
		b.scale = float32(w) / width
	}
}

func (b *brush) at(x, y float32) pen.Point { return pen.Point{X: x * b.scale, Y: y * b.scale} }

// line draws a line of a width from one point to another.
func (b *brush) line(x0, y0, x1, y1, width float32, ink color.RGBA) {
	b.path(width, ink, b.at(x0, y0), b.at(x1, y1))
}

// path draws a line through points of [brush.at].
func (b *brush) path(width float32, ink color.RGBA, points ...pen.Point) {
	b.mask.Line(points, max(width*b.scale, 1.25))
	b.mask.Blend(b.img, ink)
}

// rect lays a color over a rectangle whose edges are whole device pixels, at least one in each direction.
func (b *brush) rect(x0, y0, x1, y1 float32, ink color.RGBA) {
	size := b.img.Rect.Size()
	left, top := int(x0*b.scale+0.5), int(y0*b.scale+0.5)
	right, bottom := max(int(x1*b.scale+0.5), left+1), max(int(y1*b.scale+0.5), top+1)
	left, right, top, bottom = max(left, 0), min(right, size.X), max(top, 0), min(bottom, size.Y)
	if left >= right {
		return
	}
	for y := top; y < bottom; y++ {
		pen.OverAll(b.img.Pix[y*b.img.Stride+4*left:y*b.img.Stride+4*right], ink)
	}
}

// frame draws a line of a width inside the edges of a rectangle.
func (b *brush) frame(x0, y0, x1, y1, width float32, ink color.RGBA) {
	b.rect(x0, y0, x1, y0+width, ink)
	b.rect(x0, y1-width, x1, y1, ink)
	b.rect(x0, y0+width, x0+width, y1-width, ink)
	b.rect(x1-width, y0+width, x1, y1-width, ink)
}

// column lays a color over a column of device pixels between two heights in device pixels, with soft ends.
func (b *brush) column(x int, from, to float32, ink color.RGBA) {
	for y := max(int(from), 0); y < min(int(to)+1, b.img.Rect.Dy()); y++ {
		if cover := min(to, float32(y)+1) - max(from, float32(y)); cover > 0 {
			pen.Over(b.img.Pix[y*b.img.Stride+4*x:], ink, uint32(min(cover, 1)*255))
		}
	}
}

// shape reports whether a point of the square from -1 to 1 is in it; y grows downwards.
type shape func(x, y float32) bool

// shapes are those of lines and of dots, each recognizable without its color.
var shapes = [...]shape{
	func(x, y float32) bool { return x*x+y*y <= 0.9 },
	func(x, y float32) bool { return max(x, -x) <= 0.8 && max(y, -y) <= 0.8 },
	func(x, y float32) bool { return max(x, -x) <= (1+y)/2 && y <= 0.75 },
	func(x, y float32) bool { return max(x, -x)+max(y, -y) <= 1 },
}

// dot draws a shape with a width around a point. A hollow one has the color of the background inside.
func (b *brush) dot(s shape, x, y, width float32, ink color.RGBA, hollow bool, back color.RGBA) {
	b.stamp(s, x, y, width, ink)
	if hollow {
		b.stamp(s, x, y, width-2*ringWidth, back)
	}
}

// ringWidth is the width of the line around a hollow dot.
const ringWidth = 1.5

func (b *brush) stamp(s shape, x, y, width float32, ink color.RGBA) {
	side := max(int(width*b.scale+0.5), 1)
	g := pen.Cut(s, side)
	g.Stamp(b.img, int(x*b.scale-float32(side)/2+0.5), int(y*b.scale-float32(side)/2+0.5), ink)
}

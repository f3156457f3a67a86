package crowd

import (
	"image"
	"image/color"
	"math"

	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/pen"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// glyph is the mark of a state, which distinguishes states without color.
type glyph uint8

const (
	dot glyph = iota
	dash
	slash
	triangle
	bars
	tick
	square
	cross
	clock
	ring
)

// leastMarked is the minimum size in device pixels of a cell with a glyph. Smaller glyphs would be indistinguishable.
const leastMarked = 7

// Shares of a cell, and alpha values of its tints.
const (
	gapShare   = 9 // of the pitch between cells
	corner     = 0.16
	faintTint  = 0.05 // of a cell whose state is not highlighted
	faintGlyph = 0.28
	bulkTint   = 0.45 // of calm states in a cell of many agents
	calmTint   = 0.14 // of waiting agents
)

// inks are the colors of a drawing; all are opaque.
type inks struct {
	surface, mark color.RGBA
	full          [engine.NumAgentStates]color.RGBA
	bulk          [engine.NumAgentStates]color.RGBA // in cells of many agents
	faint         color.RGBA
}

// takeInks takes the colors from the theme.
func takeInks() inks {
	s := inks{surface: inkOf(widgets.ColorSurface), mark: inkOf(theme.ColorNameForeground)}
	for i := range looks {
		l := &looks[i]
		s.full[i] = inkOf(l.color)
		switch {
		case l.solid:
			s.bulk[i] = s.full[i]
		case l.tint < calmTint:
			s.bulk[i] = mix(s.surface, s.full[i], calmTint)
		default:
			s.bulk[i] = mix(s.surface, s.full[i], bulkTint)
		}
	}
	s.faint = mix(s.surface, inkOf(widgets.ColorMuted), 2*faintTint)
	return s
}

// sprites are the cells of one agent, ready to copy: by state, highlighted and dimmed.
type sprites struct {
	size int // width and height in device pixels
	lit  [engine.NumAgentStates]*image.RGBA
	dull [engine.NumAgentStates]*image.RGBA
	mask pen.Mask
}

// cut draws the cells at a size.
func (s *sprites) cut(size int, k *inks) {
	s.size = size
	s.mask.Resize(size, size)
	for i := range looks {
		l := &looks[i]
		ground, ink := mix(k.surface, k.full[i], l.tint), k.full[i]
		if l.solid {
			ground, ink = k.full[i], k.surface
		}
		if size < leastMarked {
			ground = k.bulk[i]
		}
		s.lit[i] = s.draw(l.glyph, ground, ink, k.surface)
		s.dull[i] = s.draw(l.glyph, k.faint, mix(k.faint, k.full[i], faintGlyph), k.surface)
	}
}

func (s *sprites) draw(g glyph, ground, ink, around color.RGBA) *image.RGBA {
	size := float32(s.size)
	img := image.NewRGBA(image.Rect(0, 0, s.size, s.size))
	pen.Box{X1: size, Y1: size}.Draw(img, around, around)
	pen.Box{X1: size, Y1: size, Radius: corner * size}.Draw(img, ground, ground)
	if s.size >= leastMarked {
		s.trace(g, img, ink)
	}
	return img
}

// trace draws a glyph in the middle of a cell.
func (s *sprites) trace(g glyph, img *image.RGBA, ink color.RGBA) {
	size := float32(s.size)
	at := func(x, y float32) pen.Point { return pen.Point{X: x * size, Y: y * size} }
	width := max(size*0.12, 1.1)
	line := func(points ...pen.Point) { s.mask.Line(points, width) }
	box := func(x0, y0, x1, y1 float32) {
		pen.Box{X0: x0 * size, Y0: y0 * size, X1: x1 * size, Y1: y1 * size}.Draw(img, ink, ink)
	}
	switch g {
	case dot:
		pen.Box{X0: 0.37 * size, Y0: 0.37 * size, X1: 0.63 * size, Y1: 0.63 * size, Radius: 0.13 * size}.Draw(img, ink, ink)
	case dash:
		line(at(0.32, 0.5), at(0.68, 0.5))
	case slash:
		line(at(0.28, 0.72), at(0.72, 0.28))
	case triangle:
		s.wedge(img, ink)
	case bars:
		box(0.28, 0.25, 0.43, 0.75)
		box(0.57, 0.25, 0.72, 0.75)
	case tick:
		line(at(0.26, 0.52), at(0.43, 0.69), at(0.75, 0.33))
	case square:
		box(0.36, 0.36, 0.64, 0.64)
	case cross:
		line(at(0.27, 0.27), at(0.73, 0.73))
		line(at(0.73, 0.27), at(0.27, 0.73))
	case clock:
		s.circle(0.29, width*0.85)
		line(at(0.5, 0.34), at(0.5, 0.52), at(0.62, 0.58))
	case ring:
		s.circle(0.25, width)
		line(at(0.33, 0.67), at(0.67, 0.33))
	}
	s.mask.Blend(img, ink)
}

// wedge fills a triangle that points to the right, row by row.
func (s *sprites) wedge(img *image.RGBA, ink color.RGBA) {
	size := float32(s.size)
	top, bottom, left, right := 0.24*size, 0.76*size, 0.33*size, 0.78*size
	for y := int(top); y < min(int(bottom)+1, s.size); y++ {
		off := float32(math.Abs(float64(float32(y)+0.5-size/2))) / ((bottom - top) / 2)
		if off >= 1 {
			continue
		}
		pen.Box{X0: left, Y0: float32(y), X1: left + (right-left)*(1-off), Y1: float32(y + 1)}.Draw(img, ink, ink)
	}
}

// circlePieces is the number of straight lines in a circle.
const circlePieces = 20

func (s *sprites) circle(radius, width float32) {
	var points [circlePieces + 1]pen.Point
	size := float32(s.size)
	for i := range points {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / circlePieces)
		points[i] = pen.Point{X: size * (0.5 + radius*float32(cos)), Y: size * (0.5 + radius*float32(sin))}
	}
	s.mask.Line(points[:], width)
}

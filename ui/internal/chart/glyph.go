package chart

import (
	"image/color"
	"time"

	"github.com/throng-sim/throng/ui/internal/pen"
)

// Marker is a change at a moment. The readout shows its text if the cursor is near it.
type Marker struct {
	At   time.Time
	Kind MarkerKind
	Text string // describes the change
}

// MarkerKind is the kind of a marker. Each kind has its own shape.
type MarkerKind uint8

// The kinds of markers.
const (
	Changed  MarkerKind = iota // a disc
	Saved                      // a checkpoint: a diamond
	Raised                     // a limit: a triangle that points up
	Lowered                    // a limit: a triangle that points down
	Refused                    // by a service, for example a 429: a cross
	Paused                     // two bars
	Resumed                    // a triangle that points to the right
	Ended                      // a square
	Told                       // a message: a ring
	Troubled                   // a breaker or a stall: an exclamation mark
	numKinds
)

// shapes reports by kind whether a point of the square from -1 to 1 is in the glyph; y grows downwards.
var shapes = [numKinds]func(x, y float32) bool{
	Changed: func(x, y float32) bool { return x*x+y*y <= 0.6 },
	Saved:   func(x, y float32) bool { return abs(x)+abs(y) <= 1 },
	Raised:  func(x, y float32) bool { return abs(x) <= (1+y)/2 && y <= 0.8 },
	Lowered: func(x, y float32) bool { return abs(x) <= (1-y)/2 && y >= -0.8 },
	Refused: func(x, y float32) bool { return abs(abs(x)-abs(y)) <= 0.36 && abs(x) <= 0.9 && abs(y) <= 0.9 },
	Paused:  func(x, y float32) bool { return abs(x) >= 0.2 && abs(x) <= 0.75 && abs(y) <= 0.85 },
	Resumed: func(x, y float32) bool { return x >= -0.7 && abs(y) <= (1-x)*0.56 },
	Ended:   func(x, y float32) bool { return abs(x) <= 0.75 && abs(y) <= 0.75 },
	Told:    func(x, y float32) bool { r := x*x + y*y; return r <= 0.95 && r >= 0.3 },
	Troubled: func(x, y float32) bool {
		return abs(x) <= 0.26 && abs(y) <= 1 && (y <= 0.3 || y >= 0.55)
	},
}

// troubling reports whether a kind has the color of errors.
func (k MarkerKind) troubling() bool { return k == Refused || k == Troubled }

func abs(v float32) float32 { return max(v, -v) }

// glyphs hold the coverage of each pixel by the shapes, drawn once for a size.
type glyphs struct {
	side  int // device pixels
	cover [numKinds][]uint8
}

// fine is the number of samples per pixel in each direction.
const fine = 4

// fit sets the width of the glyphs in device pixels. It allocates only if that changes.
func (g *glyphs) fit(side int) {
	if g.side == side {
		return
	}
	g.side = side
	for kind, inside := range shapes {
		g.cover[kind] = make([]uint8, side*side)
		for i := range g.cover[kind] {
			g.cover[kind][i] = coverOf(inside, i%side, i/side, side)
		}
	}
}

// coverOf returns the coverage of a pixel by a shape, out of 255.
func coverOf(inside func(x, y float32) bool, x, y, side int) uint8 {
	hits := 0
	for i := range fine * fine {
		px := float32(x) + (float32(i%fine)+0.5)/fine
		py := float32(y) + (float32(i/fine)+0.5)/fine
		if inside(2*px/float32(side)-1, 2*py/float32(side)-1) {
			hits++
		}
	}
	return uint8(hits * 255 / (fine * fine))
}

// moment is a marker in a drawing.
type moment struct {
	at   float64 // Unix seconds
	kind MarkerKind
}

// marker draws a thin line with its glyph at the top.
func (p *plot) marker(m moment) {
	ink := p.inks.marker
	if m.kind.troubling() {
		ink = p.inks.trouble
	}
	x := p.x(m.at)
	p.vertical(x, float32(p.glyphs.side)+1, p.bed, pen.Faint(ink, markerStrength))
	p.stamp(int(x-float32(p.glyphs.side)/2+0.5), 0, p.glyphs.cover[m.kind], ink)
}

// stamp draws a glyph.
func (p *plot) stamp(x0, y0 int, cover []uint8, ink color.RGBA) {
	side, size := p.glyphs.side, p.img.Rect.Size()
	for i, c := range cover {
		x, y := x0+i%side, y0+i/side
		if c > 0 && x >= 0 && x < size.X && y >= 0 && y < size.Y {
			pen.Over(p.img.Pix[y*p.img.Stride+4*x:], ink, uint32(c))
		}
	}
}

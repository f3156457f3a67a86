package chart

import (
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

// glyphs are the shapes, drawn once for a size.
type glyphs struct {
	side int // device pixels
	all  [numKinds]pen.Glyph
}

// fit sets the width of the glyphs in device pixels. It allocates only if that changes.
func (g *glyphs) fit(side int) {
	if g.side == side {
		return
	}
	g.side = side
	for kind, inside := range shapes {
		g.all[kind] = pen.Cut(inside, side)
	}
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
	p.glyphs.all[m.kind].Stamp(p.img, int(x-float32(p.glyphs.side)/2+0.5), 0, ink)
}

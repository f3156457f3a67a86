package graph

import (
	"image"
	"image/color"
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/pen"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Sizes in device-independent pixels.
const (
	inset      = 11 // of texts in a box
	corner     = 6
	thin       = 1.2 // borders
	thick      = 2
	stroke     = 1.5
	head       = 4.5 // of an arrow
	dot        = 4   // radius of the begin
	mostShade  = 0.34
	ringPieces = 24
	ringGap    = 5 // pieces that a loop is open for
)

// inks are the colors of a drawing; all are opaque.
type inks struct {
	border, strong, accent, wire color.RGBA
	path                         color.RGBA             // the critical one
	grounds                      [2]color.RGBA          // backgrounds of nested boxes, alternating
	leaf                         [shades + 1]color.RGBA // grounds of steps, the slowest last
	tones                        [widgets.Bad + 1]color.RGBA
}

// dress takes the colors from the theme.
func (s *sheet) dress() {
	surface, ground := opaque(widgets.ColorSurface), opaque(theme.ColorNameBackground)
	accent := opaque(theme.ColorNamePrimary)
	s.inks = inks{
		border: opaque(theme.ColorNameInputBorder), strong: opaque(widgets.ColorMuted), accent: accent,
		wire: mix(opaque(widgets.ColorMuted), surface, 0.25), path: mix(opaque(theme.ColorNameForeground), surface, 0.2), grounds: [2]color.RGBA{ground, surface},
	}
	for i := range s.inks.leaf {
		s.inks.leaf[i] = mix(surface, accent, mostShade*float64(i)/shades)
	}
	for tone := range s.inks.tones {
		s.inks.tones[tone] = opaque(widgets.Tone(tone).Color())
	}
	clear(s.words)
}

func opaque(name fyne.ThemeColorName) color.RGBA {
	c := color.NRGBAModel.Convert(widgets.Color(name)).(color.NRGBA)
	return color.RGBA{c.R, c.G, c.B, 255}
}

// mix is a color with a share of another.
func mix(a, b color.RGBA, share float64) color.RGBA {
	part := func(x, y uint8) uint8 { return uint8(math.Round(float64(x) + (float64(y)-float64(x))*share)) }
	return color.RGBA{part(a.R, b.R), part(a.G, b.G), part(a.B, b.B), 255}
}

func round(v float32) float32 { return float32(math.Round(float64(v))) }

// draw returns what is seen in w × h device pixels.
func (s *sheet) draw(w, h int) image.Image {
	if s.img == nil || s.img.Rect.Dx() != w || s.img.Rect.Dy() != h {
		s.img = image.NewRGBA(image.Rect(0, 0, w, h))
		s.mask.Resize(w, h)
	} else {
		clear(s.img.Pix)
	}
	s.scale = 1
	if s.view.w > 0 {
		s.scale = float32(w) / s.view.w
	}
	s.boxes(true)
	s.wires()
	s.boxes(false)
	return s.img
}

// boxes draws those that hold others, outer ones first, or those that do not.
func (s *sheet) boxes(nested bool) {
	for i := range s.layout.boxes {
		b := &s.layout.boxes[i]
		if b.nested != nested || !s.view.sees(b.x, b.y, b.x+b.w, b.y+b.h) {
			continue
		}
		state := &s.states[i]
		fill := s.inks.leaf[min(state.Shade, shades)]
		if nested {
			fill = s.inks.grounds[s.depth(i)%2]
		}
		border, width := s.inks.border, float32(thin)
		switch {
		case i == s.selected && s.focused:
			border, width = s.inks.accent, thick*1.25
		case i == s.selected:
			border, width = s.inks.accent, thick
		case state.Tone == widgets.Warning || state.Tone == widgets.Bad:
			border, width = s.inks.tones[state.Tone], thin*1.3
		case i == s.hovered:
			border = s.inks.strong
		case state.Critical:
			border = s.inks.path
		}
		if state.Critical && i != s.selected {
			width = thick
		}
		s.box(b.x, b.y, b.x+b.w, b.y+b.h, corner, width, fill, border)
		if state.Tone != widgets.Neutral {
			tone := s.inks.tones[state.Tone]
			s.box(b.x+4, b.y+7, b.x+7, b.y+s.layout.height-7, 1.5, 0, tone, tone)
		}
		if nested {
			s.kind(b)
		}
	}
}

// depth is how many boxes a box is in.
func (s *sheet) depth(i int) (n int) {
	for i = s.layout.boxes[i].up; i != none; i = s.layout.boxes[i].up {
		n++
	}
	return n
}

// box draws a rectangle on whole device pixels.
func (s *sheet) box(x0, y0, x1, y1, radius, border float32, fill, edge color.RGBA) {
	at := func(v, from float32) float32 { return round((v - from) * s.scale) }
	pen.Box{
		X0: at(x0, s.view.x), Y0: at(y0, s.view.y), X1: at(x1, s.view.x), Y1: at(y1, s.view.y),
		Radius: radius * s.scale, Border: max(border*s.scale, 1),
	}.Draw(s.img, fill, edge)
}

// wires draws the lines in view and where they begin, and where those of the last steps come together.
func (s *sheet) wires() {
	for i := range s.layout.wires {
		w := &s.layout.wires[i]
		if !s.view.sees(w.x0-head, w.y0-head, w.x1+head, w.y1+head) {
			continue
		}
		if !s.critical[i] {
			s.wire(w, stroke)
		}
	}
	s.mask.Blend(s.img, s.inks.wire)
	for i := range s.layout.wires {
		if w := &s.layout.wires[i]; s.critical[i] && s.view.sees(w.x0-head, w.y0-head, w.x1+head, w.y1+head) {
			s.wire(w, 2*stroke)
		}
	}
	s.mask.Blend(s.img, s.inks.path)
	if len(s.layout.boxes) > 0 {
		y := s.layout.port()
		s.box(0, y-dot, 2*dot, y+dot, dot, 0, s.inks.wire, s.inks.wire)
	}
	if end := s.layout.end; s.layout.joined {
		s.box(end.X-dot, end.Y-dot, end.X+dot, end.Y+dot, dot, 0, s.inks.wire, s.inks.wire)
	}
}

// wire adds a line between steps, of a width, to what is drawn next.
func (s *sheet) wire(w *wire, width float32) {
	points := s.layout.points[w.from:w.to]
	s.stroke(width, points...)
	if w.arrow {
		tip, size := points[len(points)-1], head*(0.5+width/stroke/2)
		s.stroke(width, pen.Point{X: tip.X - size, Y: tip.Y - size}, pen.Point{X: tip.X - 0.5, Y: tip.Y}, pen.Point{X: tip.X - size, Y: tip.Y + size})
	}
}

// line adds a line to what is drawn next.
func (s *sheet) line(points ...pen.Point) { s.stroke(stroke, points...) }

func (s *sheet) stroke(width float32, points ...pen.Point) {
	s.points = s.points[:0]
	for _, p := range points {
		s.points = append(s.points, pen.Point{X: (p.X - s.view.x) * s.scale, Y: (p.Y - s.view.y) * s.scale})
	}
	s.mask.Line(s.points, max(width*s.scale, 1.25))
}

// kind draws the mark of a kind of control flow into the corner of its box: a loop, a fork, a chain.
func (s *sheet) kind(b *box) {
	x, y := b.x+b.w-inset-5, b.y+s.layout.port()
	const r = 5
	switch b.step.Kind {
	case "for", "while":
		s.ring(x, y, r)
	case "if":
		s.line(pen.Point{X: x - r, Y: y}, pen.Point{X: x, Y: y - r}, pen.Point{X: x + r, Y: y}, pen.Point{X: x, Y: y + r}, pen.Point{X: x - r, Y: y})
	default:
		s.line(pen.Point{X: x - r, Y: y - 3}, pen.Point{X: x + r, Y: y - 3})
		s.line(pen.Point{X: x - r, Y: y}, pen.Point{X: x + r, Y: y})
		s.line(pen.Point{X: x - r, Y: y + 3}, pen.Point{X: x + r, Y: y + 3})
	}
	s.mask.Blend(s.img, s.inks.strong)
}

// ring draws a circle that is open at its top right, with an arrow there.
func (s *sheet) ring(x, y, r float32) {
	var circle [ringPieces - ringGap + 1]pen.Point
	for i := range circle {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / ringPieces)
		circle[i] = pen.Point{X: x + r*float32(cos), Y: y + r*float32(sin)}
	}
	s.line(circle[:]...)
	end := circle[len(circle)-1]
	s.line(pen.Point{X: end.X - 3, Y: end.Y - 2}, end, pen.Point{X: end.X - 2, Y: end.Y + 3.5})
}

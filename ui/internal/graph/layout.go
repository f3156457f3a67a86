package graph

import (
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/pen"
)

// metrics are the sizes for a layout; they depend on the theme.
type metrics struct {
	width, height float32 // of a step
	title         float32 // height of a name, and of a block's title
	above         float32 // what is above the name in a box
	gap, between  float32 // between steps of a row, and between rows
	lead, tail    float32 // before and behind a row
	pad           float32 // inside a block
	fan           float32 // room for lines that part or come together
	slot          float32 // height of a line that passes a column
}

// port is how far below its top the lines of a step begin and end.
func (m *metrics) port() float32 { return m.height / 2 }

// box is the drawing of a step. The boxes inside it follow it in a layout.
type box struct {
	x, y, w, h float32
	step       *engine.GraphStep
	up         int  // index of the box around it; -1: none
	nested     bool // it contains blocks
}

// heading is the title of a block inside a box.
type heading struct {
	x, y float32
	text string
}

// wire is a line between steps; an arrow is at its end.
type wire struct {
	from, to int // its points
	arrow    bool
	x0, y0   float32
	x1, y1   float32 // what it lies within
}

// layout is a graph with positions. A full row continues in the next row, like text, so that any chain fits a width; only steps that depend
// on each other are in columns, however many.
type layout struct {
	metrics
	boxes    []box
	headings []heading
	wires    []wire
	points   []pen.Point
	w, h     float32
	edges    int       // between steps of groups, so far
	slots    int       // where they pass columns
	end      pen.Point // of the last segment
	joined   bool      // several lines come together there
}

// arrange lays a graph out for a width.
func arrange(g *engine.Graph, m metrics, width float32) *layout {
	l := &layout{metrics: m}
	if n := len(g.Segments); n > 0 {
		l.w, l.h = l.block(g, width, -1)
		l.joined = len(g.Segments[n-1]) > 1
	}
	for i := range l.wires {
		l.bound(&l.wires[i])
	}
	return l
}

// mark is how much a layout holds.
type mark struct{ boxes, headings, wires, points int }

func (l *layout) mark() mark {
	return mark{len(l.boxes), len(l.headings), len(l.wires), len(l.points)}
}

// shift moves what came between two marks.
func (l *layout) shift(from, to mark, dx, dy float32) {
	for i := from.boxes; i < to.boxes; i++ {
		l.boxes[i].x += dx
		l.boxes[i].y += dy
	}
	for i := from.headings; i < to.headings; i++ {
		l.headings[i].x += dx
		l.headings[i].y += dy
	}
	for i := from.points; i < to.points; i++ {
		l.points[i].X += dx
		l.points[i].Y += dy
	}
}

// block lays the segments of a block out from 0, 0 on and returns its size.
func (l *layout) block(g *engine.Graph, width float32, up int) (w, h float32) {
	room := max(width-l.lead-l.tail, l.width)
	x, y, high := l.lead, float32(0), float32(0)
	end := pen.Point{X: 0, Y: l.port()} // of the segment before
	for i, segment := range g.Segments {
		from := l.mark()
		pw, ph, single := l.segment(segment, room, up)
		wrapped := i > 0 && x+pw > l.lead+room
		if wrapped {
			x, y, high = l.lead, y+high+l.between, 0
		}
		l.shift(from, l.mark(), x, y)
		begin := pen.Point{X: x, Y: y + l.port()}
		if wrapped {
			l.returns(single, end, begin, y-l.between/2)
		} else {
			l.draw(single, 0.5, end, begin)
		}
		end = pen.Point{X: x + pw, Y: y + l.port()}
		l.end = end
		w, high = max(w, x+pw), max(high, ph)
		x += pw + l.gap
	}
	return w + l.tail, y + high
}

// returns draws the line from the end of a row to the begin of the next.
func (l *layout) returns(arrow bool, end, begin pen.Point, between float32) {
	right, left := end.X+l.tail/2, begin.X-l.lead*0.6
	l.turns(arrow, end, pen.Point{X: right, Y: end.Y}, pen.Point{X: right, Y: between}, pen.Point{X: left, Y: between},
		pen.Point{X: left, Y: begin.Y}, begin)
}

// segment lays out parallel steps, or one step, from 0, 0 on. It reports whether a single step is first.
func (l *layout) segment(steps []engine.GraphStep, width float32, up int) (w, h float32, single bool) {
	if len(steps) == 1 {
		w, h = l.step(&steps[0], width, up)
		return w, h, true
	}
	return l.group(steps, width, up)
}

// step lays out a step with what is inside it, from 0, 0 on.
func (l *layout) step(s *engine.GraphStep, width float32, up int) (w, h float32) {
	at := len(l.boxes)
	l.boxes = append(l.boxes, box{step: s, up: up, nested: len(s.Inner) > 0})
	w, h = l.width, l.height
	for i := range s.Inner {
		inner := &s.Inner[i]
		if i > 0 {
			h += l.pad
		}
		if len(s.Inner) > 1 {
			l.headings = append(l.headings, heading{l.pad, h, inner.Name})
			h += l.title
		}
		from := l.mark()
		iw, ih := l.block(inner, width-2*l.pad, at)
		l.shift(from, l.mark(), l.pad, h)
		w, h = max(w, iw+2*l.pad), h+ih
	}
	if len(s.Inner) > 0 {
		h += l.pad
	}
	l.boxes[at].w, l.boxes[at].h = w, h
	return w, h
}

// find returns the index of the innermost box at a position, or none.
func (l *layout) find(x, y float32) int {
	for i := len(l.boxes) - 1; i >= 0; i-- {
		if b := &l.boxes[i]; x >= b.x && x < b.x+b.w && y >= b.y && y < b.y+b.h {
			return i
		}
	}
	return -1
}

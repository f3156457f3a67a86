package graph

import (
	"math"

	"github.com/throng-sim/throng/ui/internal/pen"
)

const (
	bend       = 6  // radius of a turn
	bendPieces = 4  // that it is drawn with
	swayPieces = 10 // that a curve between two heights is drawn with
	steep      = 2  // steeper curves become lines
)

// turns adds a line with round turns.
func (l *layout) turns(arrow bool, points ...pen.Point) {
	w := wire{from: len(l.points), arrow: arrow}
	l.points = append(l.points, points[0])
	l.corners(points)
	w.to = len(l.points)
	l.wires = append(l.wires, w)
}

// corners adds points of a line after its first, round where it turns.
func (l *layout) corners(points []pen.Point) {
	for i := 1; i+1 < len(points); i++ {
		before, at, after := points[i-1], points[i], points[i+1]
		in, out := toward(at, before), toward(at, after)
		for k := range bendPieces + 1 {
			l.points = append(l.points, between(in, at, out, float32(k)/bendPieces))
		}
	}
	l.points = append(l.points, points[len(points)-1])
}

// toward is the point so far from a turn that it begins there, at most half the way.
func toward(at, other pen.Point) pen.Point {
	dx, dy := other.X-at.X, other.Y-at.Y
	length := float32(math.Hypot(float64(dx), float64(dy)))
	if length == 0 {
		return at
	}
	part := min(bend, length/2) / length
	return pen.Point{X: at.X + dx*part, Y: at.Y + dy*part}
}

// between is a point of the quadratic curve from a to c that b pulls at.
func between(a, b, c pen.Point, t float32) pen.Point {
	u := 1 - t
	return pen.Point{X: u*u*a.X + 2*u*t*b.X + t*t*c.X, Y: u*u*a.Y + 2*u*t*b.Y + t*t*c.Y}
}

// sway adds points of a curve from the last point that was added to another, level at both ends. Where that is steep, it
// is a line that turns twice, after a share of the way.
func (l *layout) sway(to pen.Point, share float32) {
	from := l.points[len(l.points)-1]
	dx, dy := to.X-from.X, to.Y-from.Y
	switch middle := from.X + dx*share; {
	case dy == 0:
		l.points = append(l.points, to)
		return
	case max(dy, -dy) > steep*dx:
		l.corners([]pen.Point{from, {X: middle, Y: from.Y}, {X: middle, Y: to.Y}, to})
		return
	}
	for k := 1; k <= swayPieces; k++ {
		t := float32(k) / swayPieces
		l.points = append(l.points, pen.Point{X: from.X + (to.X-from.X)*t, Y: from.Y + (to.Y-from.Y)*t*t*(3-2*t)})
	}
}

// bound finds what a wire lies within.
func (l *layout) bound(w *wire) {
	first := l.points[w.from]
	w.x0, w.y0, w.x1, w.y1 = first.X, first.Y, first.X, first.Y
	for _, p := range l.points[w.from:w.to] {
		w.x0, w.y0 = min(w.x0, p.X), min(w.y0, p.Y)
		w.x1, w.y1 = max(w.x1, p.X), max(w.y1, p.Y)
	}
}

package chart

import "time"

// Group links charts: they share the zoom and the selected moment. It belongs to the UI goroutine.
type Group struct {
	draw   func() // draws the charts with the new span
	charts []*Chart
	spans  []span // nested zooms
}

type span struct{ from, to time.Time }

// NewGroup returns a group without charts. draw is called when the user zooms in or out.
func NewGroup(draw func()) *Group { return &Group{draw: draw} }

// Add adds a chart.
func (g *Group) Add(c *Chart) {
	c.group = g
	c.config.OnHover = func(at time.Time) { g.point(c, at) }
	c.config.OnZoom = g.zoom
	g.charts = append(g.charts, c)
}

// Clear removes all charts and resets the zoom.
func (g *Group) Clear() { g.charts, g.spans = nil, nil }

// Span returns the zoomed span, or from and to without a zoom.
func (g *Group) Span(from, to time.Time) (time.Time, time.Time) {
	if n := len(g.spans); n > 0 {
		return g.spans[n-1].from, g.spans[n-1].to
	}
	return from, to
}

// Zoomed reports whether the charts are zoomed.
func (g *Group) Zoomed() bool { return len(g.spans) > 0 }

// Reset resets the zoom without drawing.
func (g *Group) Reset() { g.spans = nil }

// zoom zooms to a span; zero times undo the last zoom.
func (g *Group) zoom(from, to time.Time) {
	switch {
	case !from.IsZero():
		g.spans = append(g.spans, span{from, to})
	case len(g.spans) > 0:
		g.spans = g.spans[:len(g.spans)-1]
	default:
		return
	}
	g.draw()
}

// point shows a moment in the other charts.
func (g *Group) point(from *Chart, at time.Time) {
	for _, c := range g.charts {
		if c != from && c.Visible() {
			c.Point(at)
		}
	}
}

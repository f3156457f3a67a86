package chart

import "time"

// Group has charts show one span of time, and one moment: what a person zooms or points at in one of them holds for all.
// It belongs to the UI goroutine.
type Group struct {
	draw   func() // shows the charts the span that they have now
	charts []*Chart
	spans  []span // that were zoomed to, one within the other
}

type span struct{ from, to time.Time }

// NewGroup returns a group without charts. draw is called when a person has zoomed, or gone back.
func NewGroup(draw func()) *Group { return &Group{draw: draw} }

// Add has a chart belong to the group.
func (g *Group) Add(c *Chart) {
	c.group = g
	c.config.OnHover = func(at time.Time) { g.point(c, at) }
	c.config.OnZoom = g.zoom
	g.charts = append(g.charts, c)
}

// Clear has no chart belong to the group, which is not zoomed any more.
func (g *Group) Clear() { g.charts, g.spans = nil, nil }

// Span returns what the charts show of what they would show: where a person zoomed, that.
func (g *Group) Span(from, to time.Time) (time.Time, time.Time) {
	if n := len(g.spans); n > 0 {
		return g.spans[n-1].from, g.spans[n-1].to
	}
	return from, to
}

// Zoomed reports whether a person zoomed.
func (g *Group) Zoomed() bool { return len(g.spans) > 0 }

// Reset forgets what a person zoomed to; it draws nothing.
func (g *Group) Reset() { g.spans = nil }

// zoom goes to a span, or back from the last with zero times.
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

// point has the other charts show the moment that a person looks at.
func (g *Group) point(from *Chart, at time.Time) {
	for _, c := range g.charts {
		if c != from && c.Visible() {
			c.Point(at)
		}
	}
}

package chart

import (
	"time"

	"fyne.io/fyne/v2/container"
)

// Group links charts: they share the zoom and the selected moment. It belongs to the UI goroutine.
type Group struct {
	draw   func() // draws the charts with the new span
	charts []*Chart
	spans  []span // nested zooms
	whole  span   // without a zoom
	page   *container.Scroll
}

type span struct {
	from, to time.Time
	wheel    bool // set by the wheel, which changes it again
}

// NewGroup returns a group without charts. draw is called when the user zooms in or out.
func NewGroup(draw func()) *Group { return &Group{draw: draw} }

// Add adds a chart.
func (g *Group) Add(c *Chart) {
	c.group = g
	c.config.OnHover = func(at time.Time) { g.point(c, at) }
	c.config.OnZoom = func(from, to time.Time) {
		g.note(c)
		g.zoom(from, to)
	}
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

// Within sets the page that the wheel scrolls over the charts.
func (g *Group) Within(page *container.Scroll) { g.page = page }

// scrolls reports whether the page has more than it shows.
func (g *Group) scrolls() bool {
	return g.page != nil && g.page.Content.MinSize().Height > g.page.Size().Height+1
}

// note remembers what a chart shows without a zoom.
func (g *Group) note(c *Chart) {
	if !g.Zoomed() && c.clock.zone != nil {
		g.whole = span{from: moments(c.clock.from).In(c.clock.zone), to: moments(c.clock.to).In(c.clock.zone)}
	}
}

// slide changes the zoom by the wheel to a span, which it moves into what there is. A span of all of it resets the zoom.
func (g *Group) slide(from, to time.Time) {
	if length := to.Sub(from); from.Before(g.whole.from) {
		from, to = g.whole.from, g.whole.from.Add(length)
	} else if to.After(g.whole.to) {
		from, to = g.whole.to.Add(-length), g.whole.to
	}
	n := len(g.spans)
	switch {
	case !from.After(g.whole.from) && !to.Before(g.whole.to):
		g.spans = nil
	case n > 0 && g.spans[n-1].wheel:
		g.spans[n-1] = span{from, to, true}
	default:
		g.spans = append(g.spans, span{from, to, true})
	}
	g.draw()
}

// Zoomed reports whether the charts are zoomed.
func (g *Group) Zoomed() bool { return len(g.spans) > 0 }

// Reset resets the zoom without drawing.
func (g *Group) Reset() { g.spans = nil }

// zoom zooms to a span; zero times undo the last zoom.
func (g *Group) zoom(from, to time.Time) {
	switch {
	case !from.IsZero():
		g.spans = append(g.spans, span{from: from, to: to})
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

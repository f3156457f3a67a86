package live

import (
	"slices"
	"time"

	"fyne.io/fyne/v2/widget"
)

// leastSpan is the shortest time axis of a run in progress, unless the user zooms. The axis of a shorter, completed run has the run's
// length, and at least leastWhole.
const (
	leastSpan  = time.Minute
	leastWhole = 200 * time.Millisecond
)

// Names of the spans.
const (
	wholeRun    = "Whole run"
	lastMinutes = "Last 10 minutes"
	lastMinute  = "Last minute"
)

// reach is a span of the charts that ends now.
type reach struct {
	name string
	last time.Duration // 0 is the whole run
}

// reaches are the spans to choose from.
var reaches = []reach{{wholeRun, 0}, {lastMinutes, 10 * time.Minute}, {lastMinute, time.Minute}}

// newSpan returns the selection of the charts' span.
func newSpan(c *charts) *widget.Select {
	var names []string
	for _, r := range reaches {
		names = append(names, r.name)
	}
	choose := widget.NewSelect(names, nil)
	choose.SetSelected(wholeRun)
	choose.OnChanged = c.chooseSpan
	return choose
}

// chooseSpan shows a span by its name and resets the zoom.
func (c *charts) chooseSpan(name string) {
	i := slices.IndexFunc(reaches, func(r reach) bool { return r.name == name })
	if i < 0 {
		return
	}
	c.lately = reaches[i].last
	c.group.Reset()
	c.again()
}

// zoomed is called when the user zooms in or out.
func (c *charts) zoomed() {
	c.showSpan()
	c.again()
}

// showSpan shows the visible span in the selection; if zoomed, its ends.
func (c *charts) showSpan() {
	name, zoomed := "", ""
	see(c.reset, c.group.Zoomed())
	if c.group.Zoomed() {
		from, to := c.group.Span(time.Time{}, time.Time{})
		zoomed = from.Format(time.TimeOnly) + " – " + to.Format(time.TimeOnly)
	} else {
		for _, r := range reaches {
			if r.last == c.lately {
				name = r.name
			}
		}
	}
	if c.span.Selected == name && c.span.PlaceHolder == zoomed {
		return
	}
	c.span.Selected, c.span.PlaceHolder = name, zoomed
	c.span.Refresh()
}

// again draws the last feed.
func (c *charts) again() {
	if c.feed != nil {
		c.draw(c.feed)
	}
}

// ends returns the ends of the time axis. first is the time of the oldest row in Unix seconds.
func (c *charts) ends(f *feed, first float64) (from, to time.Time) {
	to = f.last.Local()
	from = time.UnixMicro(int64(first * 1e6)).Local()
	if earliest := to.Add(-c.lately); c.lately > 0 && from.Before(earliest) {
		from = earliest
	}
	least := leastSpan
	if !f.end.IsZero() {
		least = min(least, max(f.end.Sub(from), leastWhole))
	}
	if to.Sub(from) < least {
		to = from.Add(least)
	}
	return c.group.Span(from, to)
}

package live

import (
	"slices"
	"time"

	"fyne.io/fyne/v2/widget"
)

// leastSpan is the shortest time axis of a run in progress, but where a person zooms. That of a run which was over sooner
// is as long as the run, and leastWhole at least.
const (
	leastSpan  = time.Minute
	leastWhole = 3 * time.Second
)

// What the charts span.
const (
	wholeRun    = "Whole run"
	lastMinutes = "Last 10 minutes"
	lastMinute  = "Last minute"
)

// reach is how far back the charts go.
type reach struct {
	name string
	last time.Duration // 0 is all
}

// reaches is the one table of what can be chosen.
var reaches = []reach{{wholeRun, 0}, {lastMinutes, 10 * time.Minute}, {lastMinute, time.Minute}}

// newSpan makes the choice of the span that all charts show.
func newSpan(c *charts) *widget.Select {
	var names []string
	for _, r := range reaches {
		names = append(names, r.name)
	}
	choose := widget.NewSelect(names, nil)
	choose.SetSelected(wholeRun)
	choose.OnChanged = c.choose
	return choose
}

// choose shows a span by its name, and no longer what was zoomed to.
func (c *charts) choose(name string) {
	i := slices.IndexFunc(reaches, func(r reach) bool { return r.name == name })
	if i < 0 {
		return
	}
	c.lately = reaches[i].last
	c.group.Reset()
	c.again()
}

// zoomed is called when a person zoomed into a chart, or went back.
func (c *charts) zoomed() {
	c.showSpan()
	c.again()
}

// showSpan shows what is in view in the choice: of what a person zoomed to, its ends.
func (c *charts) showSpan() {
	name, zoomed := "", ""
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

// again draws what was drawn last.
func (c *charts) again() {
	if c.feed != nil {
		c.draw(c.feed)
	}
}

// ends returns the ends of the time axis; first is the oldest row, in Unix seconds.
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

package live

import (
	"context"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/chartmark"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// read reads the timeline of the run.
func (l *history) read() {
	job := l.job
	if l.reading || job.Past == nil {
		return
	}
	known := doingsOf(l.screen.feed.snap)
	l.reading, l.beats = true, 0
	async.Work(func() (*engine.RunTimeline, error) { return job.Past.Timeline(context.Background()) }, func(c *engine.RunTimeline, err error) {
		if l.job != job {
			return
		}
		if l.reading = false; err != nil {
			l.trouble = "Cannot read the history: " + err.Error()
		} else {
			l.timeline, l.trouble = c, ""
			if known == l.known { // after the end of the run, the last rows may still be on their way
				known.settled = true
			}
			l.marks, l.known = l.ticks(), known
		}
		l.draw()
	})
}

// doings are what a timeline contains, as far as a snapshot knows.
type doings struct {
	phase              engine.Phase
	cycle, checkpoints int
	changed            time.Time
	settled            bool // read twice since the end of the run
}

func doingsOf(s *engine.Snapshot) doings {
	d := doings{phase: s.Phase, cycle: s.Cycle, checkpoints: s.Checkpoints}
	if n := len(s.Changes); n > 0 {
		d.changed = s.Changes[n-1].At
	}
	return d
}

// spans are the times in which Throng was running, until now if the run is in progress.
func (l *history) spans() []widgets.Span {
	if l.timeline == nil {
		return nil
	}
	spans := make([]widgets.Span, len(l.timeline.Stretches))
	for i, s := range l.timeline.Stretches {
		spans[i] = widgets.Span(s)
	}
	if s := l.screen.feed.snap; len(spans) > 0 && s.Phase != engine.Ended && s.At.After(spans[len(spans)-1].To) {
		spans[len(spans)-1].To = s.At
	}
	return spans
}

// end returns the end of the history; zero if it is empty.
func (l *history) end() time.Time {
	spans := l.spans()
	if len(spans) == 0 {
		return time.Time{}
	}
	return spans[len(spans)-1].To
}

// ticks are the marks for barriers, changes and checkpoints: the newest, if there are very many.
func (l *history) ticks() []widgets.Tick {
	if l.timeline == nil {
		return nil
	}
	c := l.timeline
	var all []widgets.Tick
	if len(c.Barriers) <= mostTicks/4 { // more would fill the scrubber
		for i := range c.Barriers {
			all = append(all, widgets.Tick{At: c.Barriers[i].At, Kind: widgets.TickCycle, Text: "cycle " + engine.FormatCount(int64(c.Barriers[i].Cycle)) + " closed"})
		}
	}
	for i := max(len(c.Changes)-mostTicks/2, 0); i < len(c.Changes); i++ {
		if row := &c.Changes[i]; chartmark.Shown(row) {
			all = append(all, widgets.Tick{At: row.At, Kind: widgets.TickChange, Text: chartmark.Label(row)})
		}
	}
	for i := range c.Checkpoints {
		p := &c.Checkpoints[i]
		all = append(all, widgets.Tick{At: p.At, Kind: widgets.TickPoint, Text: "checkpoint " + engine.FormatCount(int64(p.Number)) + ", " + p.Reason})
	}
	return all
}

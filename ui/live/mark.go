package live

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/words"
)

// mark is a change on the charts.
type mark struct {
	what, from string
	chart.Marker
}

// mark notes a change that has a place on the charts. Limits that follow each other closely, as those of a slider do,
// are one; where a governor moves the limit, its line says so itself.
func (f *feed) mark(c *engine.ChangeRow) {
	if !marked(c) {
		return
	}
	if last := f.lastChange(); last != nil && c.What == engine.LimitSetting && last.what == c.What && c.At.Sub(last.At) < near {
		last.Text, last.Kind = markText(c.What, last.from, c.New), direction(last.from, c.New)
		return
	}
	f.keep(mark{c.What, c.Old, chart.Marker{At: c.At, Kind: kindOf(c), Text: markText(c.What, c.Old, c.New)}})
}

// keep notes a mark; the oldest makes room for it.
func (f *feed) keep(m mark) {
	if len(f.marks) == keptMarks {
		f.marks = append(f.marks[:0], f.marks[1:]...)
	}
	f.marks = append(f.marks, m)
}

// lastChange is the newest mark but for checkpoints; nil without one.
func (f *feed) lastChange() *mark {
	for i := range slices.Backward(f.marks) {
		if f.marks[i].what != checkpointMark {
			return &f.marks[i]
		}
	}
	return nil
}

// checkpointMark is what a checkpoint is called among the changes.
const checkpointMark = "checkpoint"

// markCheckpoint notes a checkpoint that was taken since.
func (f *feed) markCheckpoint(s *engine.Snapshot) {
	if !s.LastCheckpoint.After(f.saved) {
		return
	}
	f.saved = s.LastCheckpoint
	f.keep(mark{what: checkpointMark, Marker: chart.Marker{
		At: s.LastCheckpoint, Kind: chart.Saved, Text: fmt.Sprintf("checkpoint %d", s.Checkpoints),
	}})
}

// kindOf is the shape of a change on the charts.
func kindOf(c *engine.ChangeRow) chart.MarkerKind {
	switch {
	case c.What == engine.LimitSetting || c.What == engine.CeilingSetting:
		return direction(c.Old, c.New)
	case c.Who == "rate limiter":
		return chart.Refused
	case c.What == engine.InjectChange:
		return chart.Told
	case c.What == engine.StallChange, c.What == engine.SleepChange, c.Who == "breaker":
		return chart.Troubled
	case c.What != engine.PhaseChange:
		return chart.Changed
	case c.New == engine.Paused.String():
		return chart.Paused
	case c.New == engine.Running.String():
		return chart.Resumed
	}
	return chart.Ended
}

// direction is the shape of a number that became another.
func direction(from, to string) chart.MarkerKind {
	before, err1 := strconv.Atoi(from)
	now, err2 := strconv.Atoi(to)
	switch {
	case err1 != nil || err2 != nil:
		return chart.Changed
	case now < before:
		return chart.Lowered
	}
	return chart.Raised
}

func marked(c *engine.ChangeRow) bool {
	if c.What == engine.LimitSetting {
		return !slices.ContainsFunc(engine.Governors, func(g engine.Governing) bool { return g.Name == c.Who })
	}
	if c.Who == "rate limiter" { // where the rate shrank
		var before, now float64
		_, err1 := fmt.Sscan(c.Old, &before)
		_, err2 := fmt.Sscan(c.New, &now)
		return err1 == nil && err2 == nil && now < before
	}
	return c.What != "exactness"
}

func markText(what, from, to string) string {
	switch what {
	case engine.PhaseChange:
		return to
	case engine.InjectChange:
		return "told " + from
	}
	if words.OfAgent(what) {
		return what + " " + from
	}
	if title := engine.Subject(what); title != what {
		what = strings.ToLower(title[:1]) + title[1:]
	}
	if from == "" {
		return what + " " + to
	}
	return fmt.Sprintf("%s %s to %s", what, from, to)
}

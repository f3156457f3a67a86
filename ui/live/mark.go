package live

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/words"
)

// mark is a change on the charts.
type mark struct {
	what, from string
	chart.Marker
}

// mark adds a mark for a change. Limit changes in quick succession, for example from dragging the slider, are one mark. Changes of the
// limit by a governor have no mark, because its line shows them.
func (f *feed) mark(c *engine.ChangeRow) {
	if !marked(c) {
		return
	}
	if last := f.lastChange(); last != nil && c.What == engine.LimitSetting && last.what == c.What && c.At.Sub(last.At) < near {
		last.Text, last.Kind = markText(c.What, last.from, c.New), direction(last.from, c.New)
		return
	}
	kind := kindOf(c)
	if c.What == engine.LimitSetting && c.Old == engine.Automatic {
		kind = direction(strconv.Itoa(f.limit), c.New)
	}
	f.keep(mark{c.What, c.Old, chart.Marker{At: c.At, Kind: kind, Text: markText(c.What, c.Old, c.New)}})
}

// keep adds a mark and drops the oldest if there are too many.
func (f *feed) keep(m mark) {
	if len(f.marks) == keptMarks {
		f.marks = append(f.marks[:0], f.marks[1:]...)
	}
	f.marks = append(f.marks, m)
}

// lastChange returns the newest mark that is not a checkpoint, or nil.
func (f *feed) lastChange() *mark {
	for i := range slices.Backward(f.marks) {
		if f.marks[i].what != checkpointMark {
			return &f.marks[i]
		}
	}
	return nil
}

// checkpointMark is the label of a checkpoint's mark.
const checkpointMark = "checkpoint"

// markCheckpoint adds a mark for a new checkpoint.
func (f *feed) markCheckpoint(s *engine.Snapshot) {
	if !s.LastCheckpoint.After(f.saved) {
		return
	}
	f.saved = s.LastCheckpoint
	f.keep(mark{what: checkpointMark, Marker: chart.Marker{
		At: s.LastCheckpoint, Kind: chart.Saved, Text: fmt.Sprintf("checkpoint %d", s.Checkpoints),
	}})
}

// markOutage adds a mark for a row after a time without Throng, unless a change there says why.
func (f *feed) markOutage(m *engine.MetricsRow) {
	away := m.At.Sub(f.last)
	if f.last.IsZero() || away <= f.gap {
		return
	}
	if last := f.lastChange(); last != nil && last.At.After(f.last) && last.what == engine.SleepChange {
		return
	}
	f.keep(mark{what: outageMark, Marker: chart.Marker{At: m.At, Kind: chart.Resumed, Text: "resumed after " + engine.FormatDuration(away.Truncate(time.Second))}})
}

// outageMark is the mark where another process resumed the run.
const outageMark = "resumed"

// kindOf returns the symbol of a change.
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

// direction returns the symbol for a change of a number.
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
	if c.What == engine.LimitChange {
		return false
	}
	if c.Who == "rate limiter" { // the rate went down
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
		return "to " + from
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

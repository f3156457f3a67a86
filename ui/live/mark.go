package live

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/chartmark"
)

// mark is a change on the charts.
type mark struct {
	what, from string
	chart.Marker
}

// mark adds a mark for a change. Limit changes in quick succession, for example from dragging the slider, are one mark. Changes of the
// limit by a governor have no mark, because its line shows them.
func (f *feed) mark(c *engine.ChangeRow) {
	if !chartmark.Shown(c) {
		return
	}
	if last := f.lastChange(); last != nil && c.What == engine.LimitSetting && last.what == c.What && c.At.Sub(last.At) < near {
		last.Text, last.Kind = chartmark.Text(c.What, last.from, c.New), chartmark.Direction(last.from, c.New)
		return
	}
	kind := chartmark.Kind(c)
	if c.What == engine.LimitSetting && c.Old == engine.Automatic {
		kind = chartmark.Direction(strconv.Itoa(f.limit), c.New)
	}
	f.keep(mark{c.What, c.Old, chart.Marker{At: c.At, Kind: kind, Text: chartmark.Label(c)}})
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
	f.keep(mark{what: outageMark, Marker: chartmark.Outage(m.At, away)})
}

// outageMark is the mark where another process resumed the run.
const outageMark = "resumed"

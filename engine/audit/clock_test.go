package audit_test

import (
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

// TestClockThatWasSetBack sets the wall clock back by an hour in the middle of a run, and checks that measured times
// stay correct and that the audit confirms them.
func TestClockThatWasSetBack(t *testing.T) {
	for _, step := range []time.Duration{-time.Hour, -300 * time.Millisecond, 2 * time.Second} {
		r := record(t)
		rows, seconds := []engine.Row(nil), 0
		for _, row := range r.rows {
			if _, ok := row.(engine.MetricsRow); ok {
				if seconds++; seconds == 3 {
					rows = append(rows, engine.ChangeRow{At: row.(engine.MetricsRow).At.Add(step), What: engine.ClockChange, New: step.String()})
				}
			}
			if seconds >= 3 {
				row = stamped(row, step)
			}
			rows = append(rows, row)
		}
		r.record.Ended = r.record.Ended.Add(step)
		r.rows = rows
		if names, _ := differing(t, r); len(names) > 0 {
			t.Errorf("set by %v: %q", step, names)
		}
	}
}

// stamped returns a row with the time of a clock that was set.
func stamped(row engine.Row, step time.Duration) engine.Row {
	switch r := row.(type) {
	case engine.MetricsRow:
		r.At = r.At.Add(step)
		return r
	case engine.BarrierRow:
		r.At = r.At.Add(step)
		return r
	case engine.ChangeRow:
		r.At = r.At.Add(step)
		return r
	case engine.SessionRows:
		rows := append(engine.SessionRows(nil), r...)
		for i := range rows {
			rows[i].Started = rows[i].Started.Add(step)
		}
		return rows
	}
	return row
}

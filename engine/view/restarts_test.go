package view

import (
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

var nine = time.Date(2026, 11, 26, 9, 0, 0, 0, time.Local)

func minute(n float64) time.Time { return nine.Add(time.Duration(n * float64(time.Minute))) }

// TestRestarts lists a run that was killed, resumed, stopped, resumed, completed, and extended: only the kill is an interruption.
func TestRestarts(t *testing.T) {
	c := &engine.RunTimeline{
		Stretches: []engine.Stretch{{From: minute(0), To: minute(5)}, {From: minute(7), To: minute(10)}, {From: minute(20), To: minute(30)}, {From: minute(40), To: minute(41)}},
		Barriers:  []engine.BarrierRow{{Cycle: 7, At: minute(2)}, {Cycle: 8, At: minute(8)}, {Cycle: 9, At: minute(29.99)}},
		Changes: []engine.ChangeRow{
			{At: minute(1), What: engine.LimitChange, Old: "40", New: "35", Why: "CPU 91%"},
			{At: minute(9), What: engine.PhaseChange, Old: "running", New: "stopping", Who: "user"},
		},
	}
	all := WithRestarts(c, minute(50))
	want := []string{"09:01 limit 35 0", "09:05 run interrupted 8", "09:07 run resumed 8", "09:09 phase stopping 0", "09:20 run resumed 9", "09:40 run resumed 10", "09:41 run interrupted 10", "09:50 run resumed 10"}
	if len(all) != len(want) {
		t.Fatalf("got %+v, want %q", all, want)
	}
	for i := range all {
		r := &all[i]
		if got := r.At.Format("15:04 ") + r.What + " " + r.New + " " + engine.FormatCount(int64(r.Cycle)); got != want[i] {
			t.Errorf("change %d is %q, want %q", i, got, want[i])
		}
	}
	if why := all[2].Why; why != "Throng was not running for 2 min, from 09:05:00 to 09:07:00." {
		t.Errorf("the resume says %q", why)
	}
	if len(c.Changes) != 2 {
		t.Error("the timeline was changed")
	}
}

// TestAllChanges joins what the store and the run have, without duplicates.
func TestAllChanges(t *testing.T) {
	old := []engine.ChangeRow{{At: minute(1), New: "a"}, {At: minute(2), New: "b"}}
	now := []engine.ChangeRow{{At: minute(2).Add(300 * time.Nanosecond), New: "b"}, {At: minute(3), New: "c"}}
	text := func(all []engine.ChangeRow) (s string) {
		for i := range all {
			s += all[i].New
		}
		return s
	}
	for _, tt := range []struct {
		until time.Time
		now   []engine.ChangeRow
		want  string
	}{{minute(9), now, "abc"}, {minute(9), nil, "ab"}, {minute(1), nil, "a"}, {minute(0), nil, ""}} {
		if got := text(AllChanges(old, tt.now, tt.until)); got != tt.want {
			t.Errorf("until %s: %q, want %q", tt.until, got, tt.want)
		}
	}
	if got := text(AllChanges(nil, now, minute(9))); got != "bc" {
		t.Errorf("without earlier ones: %q", got)
	}
}

func TestLastMove(t *testing.T) {
	move, hand := engine.ChangeRow{What: engine.LimitChange, New: "35"}, engine.ChangeRow{What: engine.LimitSetting, New: "50"}
	phase := engine.ChangeRow{What: engine.PhaseChange}
	if m := LastMove([]engine.ChangeRow{hand, move, phase}); m == nil || m.New != "35" {
		t.Errorf("got %+v", m)
	}
	if m := LastMove([]engine.ChangeRow{move, hand, phase}); m != nil {
		t.Errorf("a person set the limit since, but the last move is %+v", m)
	}
}

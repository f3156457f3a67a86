package view

import (
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

// TestAForkCountsWhatItKeeps compares the progress of a fork in a snapshot, in its JSON form and in the store: the sessions that it took
// over count as done everywhere, and time left is estimated from its own sessions.
func TestAForkCountsWhatItKeeps(t *testing.T) {
	s := &engine.Snapshot{
		Phase: engine.Running, SessionCounts: engine.SessionCounts{Ended: 202, Total: 6324, Kept: 2604},
		Pace: engine.Pace{Elapsed: time.Minute, Remaining: time.Hour},
	}
	r := &engine.RunRecord{Done: 202, Total: 6324, Ancestry: engine.Ancestry{Kept: 2604}}
	p := NewProgress(s)
	for name, d := range map[string]Done{"snapshot": DoneIn(s), "record": DoneOf(r), "progress": p.Done()} {
		if d.String() != "2,806 of 8,928 sessions" || d.Percent() != "31%" || d.Brief() != "2,806 (31%)" {
			t.Errorf("%s: %s, %s, %s", name, d, d.Percent(), d.Brief())
		}
	}
	if SharePercent(s) != "31%" || p.Percent() != "31%" || TimeLeft(s) != Estimating {
		t.Errorf("a fork that just began is at %s, %s, with %q", SharePercent(s), p.Percent(), TimeLeft(s))
	}
	for d, want := range map[Done]string{{}: "0 sessions", {Sessions: 1}: "1 session", {Sessions: 5, Kept: 2}: "7 sessions", {Sessions: 3, Planned: 3}: "3 of 3 sessions"} {
		if d.String() != want {
			t.Errorf("%+v is %q, want %q", d, d.String(), want)
		}
	}
	if got := (Done{Sessions: 5}).Brief(); got != "5" {
		t.Errorf("without a plan: %q", got)
	}
}

func TestCyclesDone(t *testing.T) {
	for _, c := range []struct {
		open, cycles int
		want         string
	}{{0, 1, "0 of 1 cycle done"}, {6, 24, "6 of 24 cycles done"}, {24, 24, "24 of 24 cycles done"}, {25, 24, "24 of 24 cycles done"}, {1, 0, "1 cycle done"}, {0, 0, "0 cycles done"}} {
		if got := CyclesDone(c.open, c.cycles); got != c.want {
			t.Errorf("%d of %d: %q, want %q", c.open, c.cycles, got, c.want)
		}
	}
}

func TestOrigin(t *testing.T) {
	at := time.Date(2026, 11, 26, 9, 51, 12, 0, time.Local)
	r := &engine.RunRecord{Ancestry: engine.Ancestry{Parent: "p", ForkCycle: 7, ForkedAt: at, Kept: 2604}, Created: at.Add(time.Minute)}
	for _, c := range []struct{ got, want string }{
		{Origin(r, "Marketplace shoppers"), "continues Marketplace shoppers from 09:51:12"},
		{Origin(r, ""), "continues run p from 09:51:12"},
		{OriginSentence(r, "Shoppers"), "Continues Shoppers from 09:51:12, the start of cycle 7; 2,604 sessions are kept."},
		{Origin(&engine.RunRecord{Ancestry: engine.Ancestry{Parent: "p", ForkedAt: at}, Created: at.AddDate(0, 0, 1)}, "A"), "continues A from 2026-11-26 09:51:12"},
		{OriginSentence(&engine.RunRecord{Ancestry: engine.Ancestry{Parent: "p", ForkCycle: 2}}, ""), "Continues run p from the start of cycle 2."},
		{Origin(&engine.RunRecord{}, "A"), ""},
		{OriginSentence(&engine.RunRecord{}, "A"), ""},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestContinuing(t *testing.T) {
	for _, c := range []struct {
		point engine.CheckpointRecord
		kept  int64
		want  string
	}{
		{engine.CheckpointRecord{Cycle: 7, Done: 2842, Kept: 2604}, 0, "2,604 sessions are kept, and the 238 already done in cycle 7 run again"},
		{engine.CheckpointRecord{Cycle: 7, Done: 2972, Kept: 2604}, 100, "2,704 sessions are kept, and the 368 already done in cycle 7 run again"},
		{engine.CheckpointRecord{Cycle: 1, Done: 2, Kept: 1}, 0, "1 session is kept, and the one already done in cycle 1 runs again"},
		{engine.CheckpointRecord{Cycle: 1, Done: 372, Kept: 372}, 0, "372 sessions are kept, and none runs again"},
		{engine.CheckpointRecord{Done: 4}, 0, "no session is kept, and the 4 already done in cycle 0 run again"},
	} {
		if got := Continuing(&c.point, c.kept); got != c.want {
			t.Errorf("%+v: %q, want %q", c.point, got, c.want)
		}
	}
}

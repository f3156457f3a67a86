package run

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

// TestNewestEvents checks the ring of events: the newest in order, names looked up once, and no new list without new
// events.
func TestNewestEvents(t *testing.T) {
	var e emitted
	asked := 0
	name := func(i int) (string, error) {
		asked++
		if i == 3 {
			return "", errors.New("unknown")
		}
		return "agent-" + strconv.Itoa(i), nil
	}
	if got := e.list(name); len(got) != 0 {
		t.Errorf("without events: %v", got)
	}
	began := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	row := func(agent, events int) *engine.SessionRow {
		r := &engine.SessionRow{Place: engine.Place{Cycle: 2, Agent: agent}, Started: began, Total: time.Duration(agent) * time.Second}
		for i := range events {
			r.Events = append(r.Events, engine.Event{Path: "buy[" + strconv.Itoa(i) + "]", Name: "bought"})
		}
		return r
	}
	e.add(row(1, 2))
	e.add(row(3, 1))
	got := e.list(name)
	if len(got) != 3 || got[0].AgentName() != "agent-1" || got[2].AgentName() != "3" || got[1].Path != "buy[1]" || !got[2].At.Equal(began.Add(3*time.Second)) || got[2].Cycle != 2 {
		t.Errorf("got %+v", got)
	}
	if again := e.list(name); &again[0] != &got[0] || asked != 3 {
		t.Errorf("without new events: a new list, or %d names looked up", asked)
	}
	for i := range 100 {
		e.add(row(10+i, 1))
	}
	e.add(row(500, 3*maxEmitted))
	if got = e.list(name); len(got) != maxEmitted || got[0].Agent != 500 || got[maxEmitted-1].Path != "buy["+strconv.Itoa(3*maxEmitted-1)+"]" {
		t.Errorf("%d events, the first %+v", len(got), got[0])
	}
	if n := testing.AllocsPerRun(100, func() { e.add(row1) }); n != 0 {
		t.Errorf("an event costs %v allocations", n)
	}
}

var row1 = &engine.SessionRow{Events: []engine.Event{{Path: "a", Name: "b"}}}

// TestInactive checks a population with a warm-up and a chosen subset.
func TestInactive(t *testing.T) {
	s := engine.DefaultSettings()
	s.Seed, s.WarmUp, s.WarmUpCycles = 7, []float64{0.25, 0.5}, 2
	count := func(cycle int, chosen []int) (n int) {
		inactive := Inactive(&s, 1000, chosen, cycle)
		for i := range 1000 {
			if inactive(i) {
				n++
			}
		}
		return n
	}
	for cycle, want := range map[int]int{0: 750, 1: 750, 2: 500, 4: 0} {
		if got := count(cycle, nil); got < want-60 || got > want+60 {
			t.Errorf("in cycle %d, %d agents are inactive, want about %d", cycle, got, want)
		}
	}
	if got := count(4, []int{1, 2, 3}); got != 997 {
		t.Errorf("%d agents are inactive, want the 997 that were not chosen", got)
	}
	timeline := engine.RunTimeline{Stretches: []engine.Stretch{{From: time.Unix(0, 0), To: time.Unix(60, 0)}, {From: time.Unix(600, 0), To: time.Unix(660, 0)}}, Barriers: []engine.BarrierRow{{Cycle: 3, At: time.Unix(30, 0)}}}
	for second, want := range map[int64]struct {
		idle    bool
		cycle   int
		elapsed time.Duration
	}{0: {false, 3, 0}, 30: {false, 4, 30 * time.Second}, 61: {true, 4, time.Minute}, 630: {false, 4, 90 * time.Second}, 700: {true, 4, 2 * time.Minute}} {
		at := time.Unix(second, 0)
		if idle, cycle, elapsed := timeline.Idle(at), timeline.Cycle(3, at), timeline.Elapsed(at); idle != want.idle || cycle != want.cycle || elapsed != want.elapsed {
			t.Errorf("after %d s: idle %v, cycle %d, %v; want %v", second, idle, cycle, elapsed, want)
		}
	}
}

package run_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
)

// crowd returns what the agents of a run are doing as text.
func crowd(r *run.Run) string {
	c := r.Crowd(nil)
	all := make([]string, len(c.States))
	for i, s := range c.States {
		all[i] = s.String()
	}
	return fmt.Sprintf("%d: %s", c.Cycle, strings.Join(all, ", "))
}

// wantCrowd fails the test unless the agents of a run have the wanted states.
func wantCrowd(t *testing.T, r *run.Run, want string) {
	t.Helper()
	synctest.Wait()
	if got := crowd(r); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// variedOutcomes is a program whose agents end in every possible way, one after another.
func variedOutcomes(s *engine.Session) {
	ctx := s.Clock().Context()
	wait := func(d time.Duration) bool {
		select {
		case <-time.After(d):
			return true
		case <-ctx.Done():
			s.Row.Fail("wait", context.Cause(ctx))
			return false
		}
	}
	switch s.Agent {
	case 3: // until the session times out
		wait(time.Hour)
		return
	case 4: // until it is retired
		s.Throttle(engine.ThrottledByRate)
		wait(4 * time.Second)
		s.Unthrottle()
	}
	if !wait(2 * time.Second) {
		return
	}
	switch {
	case s.Agent == 1:
		s.Row.Outcome = engine.Stopped
	case s.Agent == 2 && s.Take == 0 && s.Cycle == 0:
		s.Row.Fail("pay", engine.Fail(engine.ServerError, "no"))
	default:
		s.Row.Outcome = engine.OK
	}
}

// TestCrowd checks every state of an agent: first with a limit of 1, then with sessions running concurrently.
func TestCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := enginetest.Config(7, programFunc(variedOutcomes), nil)
		cfg.Chosen = []int{0, 1, 2, 3, 4, 6}
		cfg.Settings.Cycles, cfg.Settings.Limit, cfg.Settings.SessionTimeout = 2, 1, 3*time.Second
		r := start(t, cfg)
		wantCrowd(t, r, "0: in flight, waiting, waiting, waiting, waiting, resting, waiting")
		time.Sleep(3 * time.Second)
		wantCrowd(t, r, "0: ok, in flight, waiting, waiting, waiting, resting, waiting")
		time.Sleep(2 * time.Second)
		wantCrowd(t, r, "0: ok, stopped, in flight, waiting, waiting, resting, waiting")
		time.Sleep(2 * time.Second)
		wantCrowd(t, r, "0: ok, stopped, failed, in flight, waiting, resting, waiting")
		do(t, r.Requeue(t.Context(), 2, "me"))
		wantCrowd(t, r, "0: ok, stopped, waiting, in flight, waiting, resting, waiting")
		time.Sleep(3 * time.Second)
		wantCrowd(t, r, "0: ok, stopped, waiting, timeout, throttled, resting, waiting")
		do(t, r.SetLimit(3, "me", ""))
		wantCrowd(t, r, "0: ok, stopped, in flight, timeout, throttled, resting, in flight")
		do(t, r.Retire(t.Context(), 4, "me"))
		time.Sleep(time.Second)
		wantCrowd(t, r, "0: ok, stopped, in flight, timeout, canceled, resting, in flight")
		time.Sleep(2 * time.Second) // into the next cycle
		wantCrowd(t, r, "1: in flight, in flight, in flight, waiting, retired, resting, waiting")
		r.Wait()
		wantCrowd(t, r, "1: ok, stopped, ok, timeout, retired, resting, ok")
		if n := r.Crowd(nil).Counts(); n[engine.AgentOK] != 3 || n[engine.AgentRetired] != 1 || n[engine.AgentWaiting] != 0 {
			t.Errorf("counted %v", n)
		}
	})
}

// TestCrowdOfAWarmUp checks that only warmed-up agents are active.
func TestCrowdOfAWarmUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := enginetest.Config(200, works(time.Second), nil)
		cfg.Settings.Cycles, cfg.Settings.Limit, cfg.Settings.WarmUp = 2, 300, []float64{0.25, 1}
		cfg.Settings.WarmUpCycles = 1
		r := start(t, cfg)
		synctest.Wait()
		few := r.Crowd(nil).Counts()
		if few[engine.AgentInFlight] < 20 || few[engine.AgentInFlight] > 90 || few[engine.AgentInFlight]+few[engine.AgentResting] != 200 {
			t.Errorf("in the warm-up %v", few)
		}
		time.Sleep(1500 * time.Millisecond)
		if all := r.Crowd(nil).Counts(); all[engine.AgentInFlight] != 200 {
			t.Errorf("after the warm-up %v", all)
		}
		r.Wait()
	})
}

// TestCrowdAfterResume checks that a resumed run knows how the sessions of an earlier process ended.
func TestCrowdAfterResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := enginetest.Config(6, programFunc(variedOutcomes), nil)
		cfg.Settings.Cycles, cfg.Settings.Limit, cfg.Settings.SessionTimeout = 9, 2, time.Hour
		cfg.Resume = &engine.Resumption{
			Cycle: 7, Done: []int{0, 1, 5}, Outcomes: []engine.Outcome{engine.OK, engine.TimedOut, engine.Failed}, Retired: map[int]int{3: 2},
			Bad: map[int]engine.SessionEnd{5: {Outcome: engine.Failed}, 1: {Outcome: engine.TimedOut}},
		}
		r := start(t, cfg)
		wantCrowd(t, r, "7: ok, timeout, in flight, retired, throttled, failed")
		do(t, r.Pause("me", ""))
		time.Sleep(3 * time.Second)
		wantCrowd(t, r, "7: ok, timeout, ok, retired, throttled, failed")
		cut(t, r)
		wantCrowd(t, r, "7: ok, timeout, ok, retired, waiting, failed") // sessions that were cut will run again
	})
}

// TestCrowdWhileSessionsEnd reads the crowd while a run executes: within a cycle no ended agent changes back, and a cycle
// begins without ended agents.
func TestCrowdWhileSessionsEnd(t *testing.T) {
	const agents, cycles = 70_000, 2 // more than one page
	cfg := enginetest.Config(agents, programFunc(func(s *engine.Session) { s.Row.Outcome = engine.OK }), nil)
	cfg.Settings.Cycles, cfg.Settings.Limit = cycles, 4
	r := start(t, cfg)
	var c, last *engine.Crowd
	for over := false; !over; {
		select {
		case <-r.Done():
			over = true
		default:
		}
		last, c = c, r.Crowd(last)
		if last == nil || c.Cycle > last.Cycle {
			continue
		}
		for i, s := range last.States {
			if s == engine.AgentOK && c.States[i] != s {
				t.Fatalf("cycle %d: agent %d was %s and is %s", c.Cycle, i, s, c.States[i])
			}
		}
	}
	if n := c.Counts()[engine.AgentOK]; n != agents || c.Cycle != cycles-1 {
		t.Errorf("at the end of cycle %d, %d sessions are ok; want %d in cycle %d", c.Cycle, n, agents, cycles-1)
	}
	if n := testing.AllocsPerRun(10, func() { c = r.Crowd(c) }); n > 0 {
		t.Errorf("%v allocations with a crowd to reuse, want 0", n)
	}
}

// TestAgentMemory checks that an agent's memory is the one at the start of the open cycle, and at the end of the run.
func TestAgentMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		program := programFunc(func(s *engine.Session) {
			time.Sleep(time.Second)
			s.Row.Outcome = engine.OK
			s.Row.Delta.Set = []engine.Field{{Name: "cycle", Value: fmt.Append(nil, s.Cycle)}}
		})
		cfg := enginetest.Config(2, program, nil)
		cfg.Settings.Cycles = 2
		r := start(t, cfg)
		synctest.Wait()
		if m, _ := r.Memory(1); m != nil {
			t.Errorf("in the first cycle, the memory is %v, want none", m)
		}
		time.Sleep(1500 * time.Millisecond)
		if m, _ := r.Memory(1); m == nil || string(m.Fields[0].Value) != "0" {
			t.Errorf("in the second cycle, the memory is %v, want that of cycle 0", m)
		}
		r.Wait()
		if m, _ := r.Memory(1); m == nil || string(m.Fields[0].Value) != "1" {
			t.Errorf("at the end, the memory is %v, want that of cycle 1", m)
		}
	})
}

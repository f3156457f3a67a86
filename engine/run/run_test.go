package run_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
)

// programFunc is a program made from one function.
type programFunc func(*engine.Session)

func (f programFunc) Session(s *engine.Session) { f(s) }

// works is a program whose sessions use d and succeed unless their context ends.
func works(d time.Duration) engine.Program {
	return programFunc(func(s *engine.Session) {
		select {
		case <-time.After(d):
			s.Row.Outcome = engine.OK
		case <-s.Clock().Context().Done():
			s.Row.Fail("work", context.Cause(s.Clock().Context()))
		}
	})
}

func start(t *testing.T, cfg run.Config) *run.Run {
	t.Helper()
	r, err := run.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// took fails the test unless the time since start is want.
func took(t *testing.T, start time.Time, want time.Duration) {
	t.Helper()
	if got := time.Since(start); got != want {
		t.Errorf("it took %v, want %v", got, want)
	}
}

func TestRunExecutesAllCycles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const agents, cycles = 40, 6
		crowd := &enginetest.Crowd{Work: time.Second, Remember: 0.5, Fail: 0.2, Stop: 0.1, Events: 3}
		j := &enginetest.Journal{Latency: 10 * time.Millisecond}
		cfg := enginetest.Config(agents, crowd, j)
		cfg.Settings.Cycles, cfg.Settings.Limit = cycles, 7
		var closed []int
		cfg.Barrier = func(cycle int) { closed = append(closed, cycle) }
		var times [cycles]time.Time
		crowd.Began = func(s *engine.Session) {
			if s.Agent == 0 {
				times[s.Cycle] = s.Now
			}
		}
		r := start(t, cfg)
		got := r.Wait()
		if got.Ending != engine.EndFinished || !got.Passed() {
			t.Errorf("got ending %v: %s", got.Ending, got.Reason)
		}
		if want := []int{0, 1, 2, 3, 4, 5}; !slices.Equal(closed, want) {
			t.Errorf("Barrier was called for %v, want %v", closed, want)
		}
		for c, at := range times {
			if want := cfg.Clock.Start.Add(time.Duration(c) * time.Hour); !at.Equal(want) {
				t.Errorf("cycle %d is at %v, want %v", c, at, want)
			}
		}
		want := map[int]*engine.Memory{}
		for agent := range agents {
			if m := crowd.Memory(cfg.Settings.Seed, agent, cycles); m != nil {
				want[agent] = m
			}
		}
		if g, w := enginetest.ShowMemory(j.MemoryAt(cycles)), enginetest.ShowMemory(want); g != w {
			t.Errorf("memory at the end:\n%s\nwant\n%s", g, w)
		}
		for _, row := range j.Sessions() {
			if want := crowd.Plan(cfg.Settings.Seed, row.Cycle, row.Agent).Outcome; row.Outcome != want {
				t.Errorf("session %v: %v, want %v", row.Place, row.Outcome, want)
			}
		}
		ends := enginetest.Of[engine.EndRow](j)
		if len(ends) != 1 || ends[0].Ending != engine.EndFinished {
			t.Errorf("%d ends in the journal: %v", len(ends), ends)
		}
	})
}

func TestPanicFailsOnlyItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		cfg := enginetest.Config(30, programFunc(func(s *engine.Session) {
			s.Row.Outcome = engine.OK
			if s.Agent == 13 {
				s.Clock()
				s.Row.Path = "chain.explode"
				panic("thirteen")
			}
		}), j)
		got := start(t, cfg).Wait()
		if got.Totals.Outcomes[engine.OK] != 29 || got.Totals.Errors[engine.Panic] != 1 {
			t.Errorf("outcomes %v, errors %v; want 29 ok and a panic", got.Totals.Outcomes, got.Totals.Errors)
		}
		for _, row := range j.Sessions() {
			if row.Agent != 13 {
				continue
			}
			if row.Class != engine.Panic || row.Path != "chain.explode" || !strings.Contains(row.Error, "thirteen") || !strings.Contains(row.Error, "run_test.go") {
				t.Errorf("class %v, path %q, error %q; want a panic at chain.explode with its stack", row.Class, row.Path, row.Error)
			}
		}
	})
}

func TestUnsetOutcomeFails(t *testing.T) {
	got := start(t, enginetest.Config(3, programFunc(func(*engine.Session) {}), nil)).Wait()
	if got.Totals.Outcomes[engine.Failed] != 3 || got.Totals.Outcomes[engine.Unfinished] != 0 {
		t.Errorf("outcomes = %v, want 3 failed", got.Totals.Outcomes)
	}
}

func TestTimeoutsExcludeThrottling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// Agent 0 is throttled for an hour and uses 4 s. Agent 1 is throttled as long and uses 6 s.
		j := &enginetest.Journal{}
		cfg := enginetest.Config(2, programFunc(func(s *engine.Session) {
			up := s.Clock()
			up.Hold()
			time.Sleep(time.Hour)
			up.Release()
			select {
			case <-time.After(time.Duration(4+2*s.Agent) * time.Second):
				s.Row.Outcome = engine.OK
			case <-up.Context().Done():
				s.Row.Fail("slow", context.Cause(up.Context()))
			}
		}), j)
		cfg.Settings.SessionTimeout = 5 * time.Second
		began := time.Now()
		got := start(t, cfg).Wait()
		took(t, began, time.Hour+5*time.Second)
		rows := j.Sessions()
		if rows[0].Outcome != engine.OK || rows[0].Agent != 0 {
			t.Errorf("the session that used 4 s: agent %d, %v, %s", rows[0].Agent, rows[0].Outcome, rows[0].Error)
		}
		if r := rows[1]; r.Outcome != engine.TimedOut || r.Class != engine.Timeout || r.Error != "session timed out after 5 s" || r.Total != time.Hour+5*time.Second {
			t.Errorf("the session that used 6 s: %v, %v, %q after %v", r.Outcome, r.Class, r.Error, r.Total)
		}
		if want := "inexact since cycle 0, agent 1, step slow: timed out"; got.Totals.Inexact.String() != want {
			t.Errorf("the run is %v, want %s", got.Totals.Inexact, want)
		}
	})
}

func TestHungSessionsTimeOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := enginetest.Config(50, &enginetest.Crowd{Hang: 1}, &enginetest.Journal{})
		cfg.Settings.SessionTimeout, cfg.Settings.Cycles = 30*time.Second, 3
		began := time.Now()
		got := start(t, cfg).Wait()
		took(t, began, 90*time.Second)
		if got.Totals.Outcomes[engine.TimedOut] != 150 || got.Totals.Peaks.Cycle != 30*time.Second {
			t.Errorf("outcomes %v, longest cycle %v", got.Totals.Outcomes, got.Totals.Peaks.Cycle)
		}
	})
}

func TestCycleTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		cfg := enginetest.Config(10, works(10*time.Second), j)
		cfg.Settings.Limit, cfg.Settings.CycleTimeout = 2, 25*time.Second
		began := time.Now()
		got := start(t, cfg).Wait()
		took(t, began, 25*time.Second)
		if got.Ending != engine.EndFinished || got.Totals.Outcomes[engine.OK] != 4 || got.Totals.Outcomes[engine.TimedOut] != 6 {
			t.Errorf("got ending %v with %v; want 4 ok and 6 timed out", got.Ending, got.Totals.Outcomes)
		}
		for _, row := range j.Sessions()[4:] {
			if row.Error != "cycle timed out after 25 s" || row.Class != engine.Timeout {
				t.Errorf("session %v: %v, %q", row.Place, row.Class, row.Error)
			}
		}
	})
}

// TestPausedRunPausesTheCycleClock checks that a cycle does not time out while a person or the disk pauses the run,
// and that this time does not count for the cycle.
func TestPausedRunPausesTheCycleClock(t *testing.T) {
	for _, how := range []string{"pause", "limit 0", "trouble"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := &enginetest.Journal{}
				cfg := enginetest.Config(4, works(10*time.Second), j)
				cfg.Settings.Limit, cfg.Settings.CycleTimeout = 2, 25*time.Second
				began := time.Now()
				r := start(t, cfg)
				time.Sleep(5 * time.Second)
				switch how {
				case "pause":
					do(t, r.Pause("test", ""))
				case "limit 0":
					do(t, r.SetLimit(0, "test", ""))
				default:
					j.Break(engine.ErrNoRoom)
				}
				time.Sleep(10 * time.Minute)
				if s := r.Snapshot(); s.InFlight != 0 || s.Ended != 2 {
					t.Errorf("after ten minutes: %d in flight, %d ended; want 0, 2", s.InFlight, s.Ended)
				}
				do(t, r.SetLimit(2, "test", ""))
				do(t, r.Resume("test"))
				j.Heal()
				got := r.Wait()
				took(t, began, 5*time.Second+10*time.Minute+10*time.Second)
				if got.Totals.Outcomes[engine.OK] != 4 {
					t.Errorf("outcomes = %v, want 4 ok", got.Totals.Outcomes)
				}
				if got, want := got.Totals.Peaks.Cycle, 20*time.Second; got != want {
					t.Errorf("the cycle took %v, want %v", got, want)
				}
			})
		})
	}
}

// TestCycleClockResumesAfterAPause checks that the rest of the cycle's time counts again after a pause.
func TestCycleClockResumesAfterAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := enginetest.Config(10, works(10*time.Second), &enginetest.Journal{})
		cfg.Settings.Limit, cfg.Settings.CycleTimeout = 2, 24*time.Second
		began := time.Now()
		r := start(t, cfg)
		time.Sleep(5 * time.Second)
		do(t, r.Pause("test", ""))
		time.Sleep(10 * time.Minute)
		do(t, r.Resume("test"))
		got := r.Wait()
		took(t, began, 10*time.Minute+24*time.Second)
		if got.Totals.Outcomes[engine.OK] != 4 || got.Totals.Outcomes[engine.TimedOut] != 6 {
			t.Errorf("outcomes = %v, want 4 ok and 6 timed out", got.Totals.Outcomes)
		}
	})
}

// TestReplayIsUsedOnce checks that a journaled result serves one step, and that a session knows when it has passed the
// last one.
func TestReplayIsUsedOnce(t *testing.T) {
	cfg := enginetest.Config(2, programFunc(func(s *engine.Session) {
		s.Row.Outcome = engine.OK
		if got, want := s.Replaying(), s.Agent == 1; got != want {
			t.Errorf("agent %d: replaying %v at its start, want %v", s.Agent, got, want)
		}
		if s.Agent == 0 {
			return
		}
		if e, ok := s.Replay("pay"); !ok || string(e.Output) != "paid" {
			t.Errorf("replay of pay = %+v, %v", e, ok)
		}
		if _, ok := s.Replay("pay"); ok || s.Replaying() {
			t.Error("the journaled result is still there after it was taken")
		}
	}), nil)
	cfg.Resume = &engine.Resumption{Prefixes: map[int]engine.Prefix{1: {{Path: "pay", Attempts: 1, Output: []byte("paid")}}}}
	start(t, cfg).Wait()
}

func TestEmptyCyclesTakeNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := enginetest.Config(1, works(time.Second), &enginetest.Journal{})
		cfg.Settings.Cycles, cfg.Settings.WarmUp, cfg.Settings.WarmUpCycles = 500, []float64{1e-12}, 499
		began := time.Now()
		got := start(t, cfg).Wait()
		took(t, began, time.Second)
		if n := got.Totals.Ended(); n != 1 {
			t.Errorf("%d sessions, want 1", n)
		}
	})
}

func TestQueueAndTotalTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		cfg := enginetest.Config(9, works(2*time.Second), j)
		cfg.Settings.Limit, cfg.Settings.Cycles = 3, 2
		start(t, cfg).Wait()
		for _, row := range j.Sessions() {
			wave := time.Duration(row.Agent / 3)
			if row.Total != 2*time.Second || row.Queue != wave*2*time.Second {
				t.Errorf("session %v: total %v, queue %v; want 2s, %v", row.Place, row.Total, row.Queue, wave*2*time.Second)
			}
		}
	})
}

func TestConfigIsChecked(t *testing.T) {
	p := works(0)
	for name, change := range map[string]func(*run.Config){
		"agents":          func(c *run.Config) { c.Agents = -1 },
		"max-concurrent":  func(c *run.Config) { c.Settings.Limit = 0 },
		"agents: index 5": func(c *run.Config) { c.Chosen = []int{1, 5} },
		"agents: index 2": func(c *run.Config) { c.Chosen = []int{2, 2} },
	} {
		cfg := enginetest.Config(5, p, nil)
		change(&cfg)
		_, err := run.Start(t.Context(), cfg)
		var mistake *engine.FieldError
		if !errors.As(err, &mistake) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error = %v, want a *FieldError about it", name, err)
		}
	}
}

func TestChosenAgentsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		cfg := enginetest.Config(100, &enginetest.Crowd{}, j)
		cfg.Chosen, cfg.Settings.Cycles = []int{3, 64, 99}, 2
		r := start(t, cfg)
		r.Wait()
		for _, row := range j.Sessions() {
			if !slices.Contains(cfg.Chosen, row.Agent) {
				t.Errorf("agent %d was active", row.Agent)
			}
		}
		if s := r.Snapshot(); s.Ended != 6 || s.Total != 6 {
			t.Errorf("%d of %d sessions, want 6 of 6", s.Ended, s.Total)
		}
	})
}

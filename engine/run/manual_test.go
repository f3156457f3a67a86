package run_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
)

// takeRecorder is a program whose sessions take a second and fail as the test wants. It records the takes of each session.
type takeRecorder struct {
	fails func(p engine.Place) bool
	slow  func(p engine.Place) time.Duration

	mu      sync.Mutex
	started []engine.Place
}

func (k *takeRecorder) Session(s *engine.Session) {
	k.mu.Lock()
	k.started = append(k.started, s.Place)
	k.mu.Unlock()
	took := time.Second
	if k.slow != nil {
		took += k.slow(s.Place)
	}
	s.Row.Steps = append(s.Row.Steps, engine.StepRecord{Path: "buy", Attempts: 1})
	s.Row.Events = append(s.Row.Events, engine.Event{Path: "tell", Name: "bought"})
	select {
	case <-time.After(took):
	case <-s.Clock().Context().Done():
		s.Row.Fail("buy", context.Cause(s.Clock().Context()))
		return
	}
	if s.Row.Acted = true; k.fails != nil && k.fails(s.Place) {
		s.Row.Fail("buy", engine.Fail(engine.ServerError, "busy"))
		return
	}
	s.Row.Outcome = engine.OK
}

func (k *takeRecorder) takesOf(agent int) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var all []string
	for _, p := range k.started {
		if p.Agent == agent {
			all = append(all, fmt.Sprintf("%d.%d", p.Cycle, p.Take))
		}
	}
	return strings.Join(all, " ")
}

// manualRun is a run of a population of five named agents.
func manualRun(k *takeRecorder) (run.Config, *enginetest.Journal) {
	j := &enginetest.Journal{}
	cfg := enginetest.Config(5, k, j)
	cfg.Settings.Cycles, cfg.Settings.Limit = 3, 5
	cfg.Name = func(i int) (string, error) { return string(rune('a' + i)), nil }
	return cfg, j
}

// TestRetire checks that a retired agent is inactive from the next cycle on, and that its waiting session ends immediately.
func TestRetire(t *testing.T) {
	for _, timeout := range []time.Duration{0, time.Minute} {
		for _, cycleTimeout := range []time.Duration{0, time.Hour} {
			synctest.Test(t, func(t *testing.T) {
				k := &takeRecorder{slow: func(p engine.Place) time.Duration { return time.Duration(p.Agent) * 10 * time.Second }}
				cfg, j := manualRun(k)
				cfg.Settings.SessionTimeout, cfg.Settings.CycleTimeout, cfg.Settings.Limit = timeout, cycleTimeout, 4
				r := start(t, cfg)
				time.Sleep(500 * time.Millisecond)
				if s := r.PublishNow(); s.Total != 15 {
					t.Errorf("%d sessions are planned", s.Total)
				}
				do(t, r.Retire(t.Context(), 3, "me"))
				synctest.Wait()
				s := r.PublishNow()
				if s.Total != 13 || s.InFlight != 4 || s.Inexact == nil || s.Inexact.Cycle != 0 || s.Inexact.Agent != 3 {
					t.Errorf("%d planned, %d in flight, %v", s.Total, s.InFlight, s.Inexact)
				}
				time.Sleep(600 * time.Millisecond)
				if rows := j.Sessions(); len(rows) != 2 || rows[0].Agent != 3 || rows[0].Outcome != engine.Canceled || rows[0].Class != engine.NoError {
					t.Errorf("journaled: %+v", rows)
				}
				do(t, r.Retire(t.Context(), 4, "me")) // in flight by now
				got := r.Wait()
				if k.takesOf(3) != "0.0" || k.takesOf(4) != "0.0" || k.takesOf(2) != "0.0 1.0 2.0" {
					t.Errorf("the sessions were %s, %s, %s", k.takesOf(3), k.takesOf(4), k.takesOf(2))
				}
				if got.Totals.Outcomes[engine.Canceled] != 2 || got.Totals.Outcomes[engine.OK] != 9 || got.Totals.Bad() != 0 || got.Ending != engine.EndFinished {
					t.Errorf("%v: %v", got.Ending, got.Totals.Outcomes)
				}
				if got, want := describeChanges(enginetest.Of[engine.ChangeRow](j)), `retire d→{"cycle":1,"agent":3} by me: ; retire e→{"cycle":1,"agent":4} by me: `; got != want {
					t.Errorf("journaled: %s", got)
				}
				if end := enginetest.Of[engine.EndRow](j)[0]; end.Total != 11 {
					t.Errorf("at the end %d were planned, want 11", end.Total)
				}
				if want := j.Recount(); show(&got.Totals) != show(&want) {
					t.Errorf("totals kept:\n%s\nrecomputed:\n%s", show(&got.Totals), show(&want))
				}
			})
		}
	}
}

func TestRetireChecks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, _ := manualRun(&takeRecorder{})
		cfg.Chosen, cfg.Settings.Limit, cfg.Settings.Cycles = []int{1, 3}, 1, 2
		r := start(t, cfg)
		time.Sleep(500 * time.Millisecond)
		var field *engine.FieldError
		for _, agent := range []int{-1, 0, 2, 5} {
			if err := r.Retire(t.Context(), agent, "me"); !errors.As(err, &field) {
				t.Errorf("agent %d: %v", agent, err)
			}
		}
		do(t, r.Retire(t.Context(), 3, "me")) // its session has not started yet, and still runs
		if err := r.Retire(t.Context(), 3, "me"); !errors.As(err, &field) || !strings.Contains(err.Error(), "d is retired already") {
			t.Errorf("a second time: %v", err)
		}
		time.Sleep(2 * time.Second) // in the last cycle, which has one session
		do(t, r.Retire(t.Context(), 1, "me"))
		got := r.Wait()
		if got.Totals.Outcomes[engine.OK] != 2 || got.Totals.Outcomes[engine.Canceled] != 1 || r.Snapshot().Total != 3 {
			t.Errorf("%v of %d", got.Totals.Outcomes, r.Snapshot().Total)
		}
		if err := r.Retire(t.Context(), 1, "me"); !errors.Is(err, engine.ErrEnded) {
			t.Errorf("after the end: %v", err)
		}
	})
}

// TestRetireAllAgents checks that a run without active agents ends.
func TestRetireAllAgents(t *testing.T) {
	for _, hours := range []float64{0, 5} {
		synctest.Test(t, func(t *testing.T) {
			cfg, _ := manualRun(&takeRecorder{})
			cfg.Settings.Hours = hours
			if hours > 0 {
				cfg.Settings.Cycles = 0
			}
			began := time.Now()
			r := start(t, cfg)
			time.Sleep(1500 * time.Millisecond)
			for agent := range 5 {
				do(t, r.Retire(t.Context(), agent, "me"))
			}
			got := r.Wait()
			took(t, began, 1500*time.Millisecond)
			if got.Ending != engine.EndFinished || got.Reason != engine.NoAgents || got.Totals.Outcomes[engine.Canceled] != 5 {
				t.Errorf("%v: %s, %v", got.Ending, got.Reason, got.Totals.Outcomes)
			}
		})
	}
}

// TestRequeue checks that a failed session runs again within its cycle, and that the second take counts.
func TestRequeue(t *testing.T) {
	for _, c := range []struct {
		again              bool // the second take fails too
		ok, bad            int64
		failed, sequential bool
	}{{false, 15, 0, false, false}, {true, 14, 1, true, false}, {false, 15, 0, false, true}} {
		synctest.Test(t, func(t *testing.T) {
			k := &takeRecorder{
				fails: func(p engine.Place) bool { return p.Cycle == 1 && p.Agent == 2 && (p.Take == 0 || c.again) },
				slow:  func(p engine.Place) time.Duration { return time.Duration(p.Agent) * time.Second },
			}
			cfg, j := manualRun(k)
			cfg.Settings.Sequential, cfg.Settings.Seed = c.sequential, 3 // agent 2 is not the last in order
			r := start(t, cfg)
			var field *engine.FieldError
			for wait := true; wait; {
				time.Sleep(100 * time.Millisecond)
				s := r.PublishNow()
				if wait = s.Outcomes[engine.Failed] == 0; s.Cycle > 1 {
					t.Fatal("the session has not failed")
				}
			}
			if err := r.Requeue(t.Context(), 1, "me"); !errors.As(err, &field) {
				t.Errorf("requeue of a successful session: %v, want a *FieldError", err)
			}
			before := r.PublishNow()
			do(t, r.Requeue(t.Context(), 2, "me"))
			s := r.PublishNow()
			if s.Ended != before.Ended-1 || s.Outcomes[engine.Failed] != 0 || len(s.Errors) != 0 || s.Events != before.Events-1 || s.Inexact == nil {
				t.Errorf("requeued: %d ended, %v, %v, %d events, %v", s.Ended, s.Outcomes, s.Errors, s.Events, s.Inexact)
			}
			if err := r.Requeue(t.Context(), 2, "me"); !errors.As(err, &field) {
				t.Errorf("requeue of a requeued session: %v, want a *FieldError", err)
			}
			got := r.Wait()
			tt := &got.Totals
			if k.takesOf(2) != "0.0 1.0 1.1 2.0" || tt.Outcomes[engine.OK] != c.ok || tt.Bad() != c.bad || tt.Errors[engine.ServerError] != c.bad {
				t.Errorf("%s: %v, %v", k.takesOf(2), tt.Outcomes, tt.Errors)
			}
			if _, failed := tt.Failures(9); (failed > 0) != c.failed || tt.Requests != 16 || tt.Events != 15 || tt.Acted != 15 || tt.Total.Count() != 16 {
				t.Errorf("%d agents failed, %d requests, %d events, %d acted, %d took time; want 16 requests and times, of 15 sessions", failed, tt.Requests, tt.Events, tt.Acted, tt.Total.Count())
			}
			end := r.Snapshot()
			if end.Begun != 15 || end.Ended != 15 {
				t.Errorf("begun %d, ended %d", end.Begun, end.Ended)
			}
			if want := j.Recount(); show(tt) != show(&want) {
				t.Errorf("totals kept:\n%s\nrecomputed:\n%s", show(tt), show(&want))
			}
			if n := strings.Count(enginetest.Results(j.Sessions()), "\n1 2 "); n != 1 {
				t.Errorf("the results have the session %d times, want once", n)
			}
			if err := r.Requeue(t.Context(), 2, "me"); !errors.Is(err, engine.ErrEnded) {
				t.Errorf("after the end: %v", err)
			}
		})
	}
}

// TestRequeueKeepsItsCycleOpen checks that an order given in time is carried out, however slow the disk is.
func TestRequeueKeepsItsCycleOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &takeRecorder{
			fails: func(p engine.Place) bool { return p.Cycle == 0 && p.Agent == 2 && p.Take == 0 },
			slow:  func(p engine.Place) time.Duration { return time.Duration(p.Agent) * 100 * time.Millisecond },
		}
		cfg, j := manualRun(k)
		j.Latency = 5 * time.Second
		r := start(t, cfg)
		for k.takesOf(2) == "" || r.PublishNow().Outcomes[engine.Failed] == 0 {
			time.Sleep(10 * time.Millisecond)
		}
		do(t, r.Requeue(t.Context(), 2, "me"))
		if s := r.PublishNow(); s.Cycle != 0 || s.Ended != 4 {
			t.Errorf("cycle %d with %d ended, want cycle 0 with 4: the cycle must wait for the order", s.Cycle, s.Ended)
		}
		if got := r.Wait(); k.takesOf(2) != "0.0 0.1 1.0 2.0" || got.Totals.Outcomes[engine.OK] != 15 {
			t.Errorf("%s: %v", k.takesOf(2), got.Totals.Outcomes)
		}
	})
}

func TestRequeueOfAClosedCycle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &takeRecorder{fails: func(p engine.Place) bool { return p.Cycle == 0 && p.Agent == 2 }}
		cfg, _ := manualRun(k)
		r := start(t, cfg)
		time.Sleep(1500 * time.Millisecond)
		var field *engine.FieldError
		if err := r.Requeue(t.Context(), 2, "me"); !errors.As(err, &field) {
			t.Errorf("requeue in the next cycle: %v, want a *FieldError", err)
		}
		if got := r.Wait(); got.Totals.Bad() != 1 || got.Totals.Inexact == nil { // because of the server's error
			t.Errorf("%v, %v", got.Totals.Outcomes, got.Totals.Inexact)
		}
	})
}

// TestManualOrdersSurviveACrash checks that the next process carries out an order, whenever the process dies after it.
func TestManualOrdersSurviveACrash(t *testing.T) {
	for _, after := range []time.Duration{0, 500 * time.Millisecond, 1500 * time.Millisecond, 3500 * time.Millisecond, 6 * time.Second, 9 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			k := &takeRecorder{fails: func(p engine.Place) bool { return p.Cycle == 1 && p.Agent == 0 && p.Take == 0 }}
			cfg, j := manualRun(k)
			cfg.Settings.Limit = 2 // a cycle takes three seconds
			ctx, kill := context.WithCancel(t.Context())
			r, err := run.Start(ctx, cfg)
			do(t, err)
			time.Sleep(4500 * time.Millisecond)
			do(t, r.Retire(t.Context(), 4, "me"))
			do(t, r.Requeue(t.Context(), 0, "me"))
			do(t, r.Checkpoint(t.Context(), "test"))
			time.Sleep(after)
			j.Die()
			kill()
			r.Wait()
			j = j.Reopen()
			cfg.Journal, cfg.Resume = j, j.Resumption()
			next := &takeRecorder{fails: k.fails}
			cfg.Program = next
			got := start(t, cfg).Wait()
			var of0, of4 string
			for _, row := range j.Sessions() {
				switch row.Agent {
				case 0:
					of0 += fmt.Sprintf("%d.%d:%v ", row.Cycle, row.Take, row.Outcome)
				case 4:
					of4 += fmt.Sprintf("%d.%d:%v ", row.Cycle, row.Take, row.Outcome)
				}
			}
			if want := "0.0:ok 1.0:failed 1.1:ok 2.0:ok "; of0 != want {
				t.Errorf("crash %v later: the requeued agent had %s, want %s", after, of0, want)
			}
			if want := "0.0:ok 1.0:ok "; of4 != want {
				t.Errorf("crash %v later: the retired agent had %s, want %s", after, of4, want)
			}
			if want := j.Recount(); show(&got.Totals) != show(&want) || got.Totals.Outcomes[engine.OK] != 14 || got.Totals.Bad() != 0 {
				t.Errorf("crash %v later: totals kept:\n%s\nrecomputed:\n%s", after, show(&got.Totals), show(&want))
			}
		})
	}
}

// TestRequeueAfterResume checks that a session that failed before the process died can be requeued afterward.
func TestRequeueAfterResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &takeRecorder{fails: func(p engine.Place) bool { return p.Agent == 0 && p.Take == 0 && p.Cycle == 0 }}
		cfg, j := manualRun(k)
		cfg.Settings.Limit = 1
		ctx, kill := context.WithCancel(t.Context())
		r, err := run.Start(ctx, cfg)
		do(t, err)
		time.Sleep(2500 * time.Millisecond)
		j.Die()
		kill()
		r.Wait()
		j = j.Reopen()
		cfg.Journal, cfg.Resume = j, j.Resumption()
		r = start(t, cfg)
		time.Sleep(500 * time.Millisecond)
		do(t, r.Requeue(t.Context(), 0, "me"))
		got := r.Wait()
		if want := j.Recount(); show(&got.Totals) != show(&want) || got.Totals.Outcomes[engine.OK] != 15 || k.takesOf(0) != "0.0 0.1 1.0 2.0" {
			t.Errorf("%s: totals kept:\n%s\nrecomputed:\n%s", k.takesOf(0), show(&got.Totals), show(&want))
		}
	})
}

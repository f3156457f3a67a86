package run_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/arrivals"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
)

// working is a program whose sessions each take a time.
func working(d time.Duration) engine.Program {
	return programFunc(func(s *engine.Session) {
		defer s.Clock() // it has waited
		<-time.After(d)
		s.Row.Outcome, s.Row.Service = engine.OK, d
	})
}

// inOrder returns the sessions of a cycle by the time of their start.
func inOrder(j *enginetest.Journal, cycle int) []engine.SessionRow {
	all := slices.DeleteFunc(slices.Clone(j.Sessions()), func(r engine.SessionRow) bool { return r.Cycle != cycle })
	slices.SortFunc(all, func(a, b engine.SessionRow) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Agent, b.Agent))
	})
	return all
}

// arriving returns the configuration of a run whose agents arrive one per second.
func arriving(agents, limit int, took time.Duration, j *enginetest.Journal) run.Config {
	cfg := enginetest.Config(agents, working(took), j)
	cfg.Settings.Limit, cfg.Settings.Ceiling, cfg.Settings.Metrics = limit, max(limit, 100), true
	cfg.Clock.Arrivals = &arrivals.Plan{Stages: arrivals.Constant(1)}
	return cfg
}

// TestSessionsStartAtTheirTime checks that sessions start when the schedule says, in its order, with the same schedule in every cycle
// but another order, and that the barrier waits for the last one.
func TestSessionsStartAtTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		cfg := arriving(10, 50, 1500*time.Millisecond, j)
		cfg.Settings.Cycles = 2
		got := start(t, cfg).Wait()
		var orders [2][]int
		for cycle := range 2 {
			sessions := inOrder(j, cycle)
			if len(sessions) != 10 {
				t.Fatalf("%d sessions in cycle %d", len(sessions), cycle)
			}
			began := sessions[0].Started
			for i, s := range sessions {
				if at := s.Started.Sub(began); (at-time.Duration(i)*time.Second).Abs() > 3*time.Millisecond || !s.Open || s.Queue > 3*time.Millisecond {
					t.Errorf("cycle %d: session %d started after %v, queued %v", cycle, i, at, s.Queue)
				}
				orders[cycle] = append(orders[cycle], s.Agent)
			}
		}
		if slices.Equal(orders[0], orders[1]) || slices.IsSorted(orders[0]) {
			t.Errorf("orders %v", orders)
		}
		if took := got.Totals.Peaks.Cycle; (took - 10500*time.Millisecond).Abs() > 5*time.Millisecond {
			t.Errorf("a cycle took %v, want 10.5 s", took)
		}
		if o := got.Totals.Peaks.Overhead; o.Full > 10*time.Millisecond || o.Idle < 20*time.Second {
			t.Errorf("all slots were in use %v, the schedule held sessions back %v", o.Full, o.Idle)
		}
	})
}

// TestLagUnderASmallLimit checks that a limit below the load is measured: sessions start ever later, their latency counts from their
// intended start, and the snapshot says what delays them.
func TestLagUnderASmallLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		cfg := arriving(11, 1, 2*time.Second, j)
		cfg.Settings.Manual = true
		r := start(t, cfg)
		time.Sleep(10*time.Second + 500*time.Millisecond)
		// Sessions 0 to 4 have ended, 5 is in flight since 10 s, and 6 to 10 wait since 6 to 10 s.
		s := r.PublishNow()
		if s.Overdue != 5 || (s.Lag-4500*time.Millisecond).Abs() > 10*time.Millisecond {
			t.Errorf("after 10.5 s: %d overdue, the first by %v", s.Overdue, s.Lag)
		}
		if want := "the concurrency limit is 1"; s.LagWhy != want {
			t.Errorf("%q, want %q", s.LagWhy, want)
		}
		got := r.Wait()
		for i, s := range inOrder(j, 0) {
			if want := time.Duration(i) * time.Second; (s.Queue-want).Abs() > 20*time.Millisecond || (s.Latency()-want-2*time.Second).Abs() > 20*time.Millisecond || (s.Total-2*time.Second).Abs() > time.Millisecond {
				t.Errorf("session %d: queued %v, took %v, latency %v", i, s.Queue, s.Total, s.Latency())
			}
		}
		if p99 := got.Totals.Latency().Quantile(0.99); (p99 - 12*time.Second).Abs() > 200*time.Millisecond {
			t.Errorf("the 99th percentile of the latency is %v, want 12 s", p99)
		}
		if got := r.Snapshot().Latency.Max; (got - 12*time.Second).Abs() > 200*time.Millisecond {
			t.Errorf("the snapshot's longest latency is %v, want 12 s", got)
		}
		if lag := got.Totals.Peaks.Lag; lag < 8500*time.Millisecond || lag > 10*time.Second {
			t.Errorf("the largest lag is %v, want about 9.5 s", lag)
		}
		lags := 0
		for _, m := range enginetest.Of[engine.MetricsRow](j) {
			if m.Lag > time.Second {
				lags++
			}
		}
		if lags < 10 {
			t.Errorf("%d rows of metrics have the lag", lags)
		}
		if o := got.Totals.Peaks.Overhead; o.Full < 19*time.Second {
			t.Errorf("all slots were in use for %v, want about 20 s", o.Full)
		}
	})
}

// TestPauseShiftsTheSchedule checks that agents arrive later by the length of a pause, and that the pause is not lag.
func TestPauseShiftsTheSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, limit := range []bool{false, true} {
			j := &enginetest.Journal{}
			r := start(t, arriving(6, 50, 100*time.Millisecond, j))
			time.Sleep(2500 * time.Millisecond)
			if limit {
				do(t, r.SetLimit(0, "test", ""))
			} else {
				do(t, r.Pause("test", ""))
			}
			time.Sleep(time.Minute)
			if s := r.PublishNow(); s.Ended != 3 || s.Lag != 0 || s.Overdue != 0 {
				t.Errorf("in a pause: %d ended, lag %v, %d overdue", s.Ended, s.Lag, s.Overdue)
			}
			if limit {
				do(t, r.SetLimit(50, "test", ""))
			} else {
				do(t, r.Resume("test"))
			}
			r.Wait()
			sessions := inOrder(j, 0)
			for i, s := range sessions {
				want := time.Duration(i) * time.Second
				if i > 2 {
					want += time.Minute
				}
				if at := s.Started.Sub(sessions[0].Started); (at-want).Abs() > 10*time.Millisecond || s.Queue > 10*time.Millisecond {
					t.Errorf("session %d started after %v, want %v; queued %v", i, at, want, s.Queue)
				}
			}
		}
	})
}

// TestInterruptionShiftsTheSchedule checks that a cycle that was interrupted continues its schedule where it was: sessions that had begun
// start immediately, and later ones keep their distance.
func TestInterruptionShiftsTheSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		cfg := arriving(10, 50, 100*time.Millisecond, j)
		r := start(t, cfg)
		time.Sleep(4500 * time.Millisecond)
		j.Die()
		_, _ = r.Stop("test", ""), r.Stop("test", "") // the run may have ended
		r.Wait()
		time.Sleep(time.Hour)
		j = j.Reopen()
		cfg.Journal, cfg.Resume = j, j.Resumption()
		began := time.Now()
		r = start(t, cfg)
		time.Sleep(time.Second / 2)
		if s := r.PublishNow(); s.Lag != 0 || (s.Remaining-4600*time.Millisecond).Abs() > 50*time.Millisecond {
			t.Errorf("after a resume: lag %v, %v left", s.Lag, s.Remaining)
		}
		r.Wait()
		sessions := inOrder(j, 0)
		if len(sessions) != 10 {
			t.Fatalf("%d sessions", len(sessions))
		}
		for i, s := range sessions[5:] { // the latest that had ended arrived at 4 s
			if at, want := s.Started.Sub(began), time.Duration(i+1)*time.Second; (at - want).Abs() > 20*time.Millisecond {
				t.Errorf("session %d started %v after the resume, want %v", i+5, at, want)
			}
		}
	})
}

// TestTimeLeftOfAProfile checks that the time left follows from the schedule and not from a slow beginning.
func TestTimeLeftOfAProfile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := arriving(420, 200, 50*time.Millisecond, &enginetest.Journal{})
		cfg.Settings.Cycles = 2
		cfg.Clock.Arrivals = &arrivals.Plan{Stages: []arrivals.Stage{{For: 20 * time.Second, From: 1, To: 1}, {For: 10 * time.Second, From: 40, To: 40}}}
		r := start(t, cfg)
		began := time.Now()
		for _, after := range []time.Duration{time.Second, 15 * time.Second, 25 * time.Second, 45 * time.Second} {
			time.Sleep(time.Until(began.Add(after)))
			if left, want := r.PublishNow().Remaining, time.Minute-after; (left - want).Abs() > time.Second {
				t.Errorf("after %v: %v left, want %v", after, left, want)
			}
		}
		r.Wait()
		if took := time.Since(began); (took - time.Minute).Abs() > time.Second {
			t.Errorf("the run took %v", took)
		}
	})
}

// readingsOf is a governor that only looks.
type readingsOf func(r engine.Reading)

func (f readingsOf) Steer(r engine.Reading) engine.Orders { f(r); return engine.Orders{} }
func (readingsOf) Use(engine.Steering) error              { return nil }
func (readingsOf) Reset()                                 {}

// TestRareArrivalsAreNoStall checks that a long time without a session looks neither like a stall nor like a full run.
func TestRareArrivalsAreNoStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		cfg := arriving(4, 10, 40*time.Second, j)
		cfg.Clock.Arrivals = &arrivals.Plan{Stages: arrivals.Constant(1. / 300)}
		longest, busiest := time.Duration(0), 0.0
		cfg.Governor = readingsOf(func(r engine.Reading) {
			if r.InFlight > 0 {
				longest = max(longest, r.At.Sub(r.LastEnd))
			}
			busiest = max(busiest, r.Busy)
		})
		got := start(t, cfg).Wait()
		if longest < 39*time.Second || longest > 41*time.Second || busiest > 0.01 {
			t.Errorf("in flight without an end for up to %v, want 40 s; all slots were in use for %v of a second, want 0", longest, busiest)
		}
		if got.Totals.Ended() != 4 {
			t.Errorf("%d sessions", got.Totals.Ended())
		}
	})
}

// TestArrivalsNeedParallelSessions checks which settings do not fit arrivals.
func TestArrivalsNeedParallelSessions(t *testing.T) {
	for want, change := range map[string]func(s *engine.Settings, p *arrivals.Plan){
		"sequential": func(s *engine.Settings, _ *arrivals.Plan) { s.Sequential = true },
		"batch":      func(s *engine.Settings, _ *arrivals.Plan) { s.Batch = 5 },
		"time-scale": func(_ *engine.Settings, p *arrivals.Plan) { *p = arrivals.Plan{} },
	} {
		cfg := arriving(3, 3, 0, &enginetest.Journal{})
		change(&cfg.Settings, cfg.Clock.Arrivals)
		if _, err := run.Start(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error about %s", err, want)
		}
	}
}

package run_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
)

// TestFlow compares the flow figures with a plain count of the records.
func TestFlow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(drawRow), 0, 20).Draw(t, "rows")
		var totals engine.Totals
		var want engine.Flow
		timedOut := 0
		for i, r := range rows {
			totals.Add(&rows[i])
			together := false
			for _, s := range r.Steps {
				ran := s.Status == engine.StepOK || s.Status == engine.StepFailed || s.Status == engine.StepTimedOut
				together = together || ran && s.Parallel
				want.Parallel += count(ran && s.Parallel)
				want.Sequential += count(ran && !s.Parallel)
				want.Failed += count(s.Status == engine.StepFailed)
				want.TimedOut += count(s.Status == engine.StepTimedOut)
			}
			if together {
				want.Chains++
				want.Busy += r.Service
				want.Wall += r.Total
				want.Throttled += r.Throttled
			}
			if r.Outcome == engine.TimedOut {
				timedOut++
			}
		}
		if totals.Flow != want {
			t.Fatalf("%+v, want %+v", totals.Flow, want)
		}
		if len(rows) == 0 {
			if !math.IsNaN(totals.TimeoutRate()) || !math.IsNaN(want.Rate(0)) || !math.IsNaN(want.Speedup()) || !math.IsNaN(totals.Speedup()) {
				t.Fatal("rates of no sessions are not NaN")
			}
			return
		}
		if got, want := totals.TimeoutRate(), float64(timedOut)/float64(len(rows)); got != want {
			t.Fatalf("%v of the sessions timed out, want %v", got, want)
		}
	})
}

func count(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// busy is a program whose sessions take d. Their steps overlap and use three times as long in total.
func busy(d time.Duration) engine.Program {
	return programFunc(func(s *engine.Session) {
		<-time.After(d)
		for _, path := range []string{"a", "b", "c"} {
			s.Row.Steps = append(s.Row.Steps, engine.StepRecord{Path: path, Service: d, Parallel: path != "a"})
		}
		s.Row.Service, s.Row.Outcome = 3*d, engine.OK
	})
}

func near(got, want float64) bool { return math.Abs(got-want) < 0.01 }

// TestSpeedup checks that ten concurrent sessions, each with three concurrent steps, are thirty times as fast. Pauses and
// waits for the schedule do not count.
func TestSpeedup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := enginetest.Config(20, busy(2*time.Second), &enginetest.Journal{})
		cfg.Settings.Cycles, cfg.Settings.Limit, cfg.Settings.TimeScale, cfg.Settings.Metrics = 3, 10, 3600, true // a cycle takes 4 s
		cfg.Clock.Cycle = 10 * time.Hour                                                                          // and begins every 10 s
		r := start(t, cfg)
		<-time.After(5 * time.Second)
		if s := r.PublishNow(); !near(s.Speedup, 30) || s.Flow.Chains != 20 || s.Flow.Parallel != 40 || s.Flow.Sequential != 20 {
			t.Errorf("after a cycle: speed-up %v, %+v", s.Speedup, s.Flow)
		}
		do(t, r.Pause("test", ""))
		<-time.After(time.Minute)
		do(t, r.Resume("test"))
		got := r.Wait()
		s := r.Snapshot()
		if !near(got.Totals.Speedup(), 30) || !near(s.Speedup, 30) || !near(s.Flow.Speedup(), 3) || s.Flow.Rate(s.Ended) != 1 {
			t.Errorf("at the end: %v, %v, of chains %v", got.Totals.Speedup(), s.Speedup, s.Flow.Speedup())
		}
		if worked := got.Totals.Peaks.Worked; worked != 12*time.Second {
			t.Errorf("the cycles took %v, want 12s", worked)
		}
		if s.Queue.Max.Round(100*time.Millisecond) != 2*time.Second || s.Queue.P50 != 0 {
			t.Errorf("queue times: %+v; half of the sessions wait 2 s", s.Queue)
		}
	})
}

// TestSpeedupOverInterruptions checks that the unfinished cycles of earlier processes do not count, however many processes
// there were.
func TestSpeedupOverInterruptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		cfg := enginetest.Config(40, busy(2*time.Second), j)
		cfg.Settings.Cycles, cfg.Settings.Limit = 2, 10
		for _, after := range []time.Duration{9 * time.Second, time.Second, time.Second} { // in the second cycle
			r := start(t, cfg)
			<-time.After(after)
			do(t, r.Stop("test", ""))
			r.Wait()
			cfg.Resume = j.Resumption()
		}
		next := start(t, cfg)
		if got := next.Wait(); !near(got.Totals.Speedup(), 30) || got.Totals.Ended() != 80 {
			t.Errorf("speed-up %v of %d sessions, want 30 of 80", got.Totals.Speedup(), got.Totals.Ended())
		}
	})
}

// TestMetricsOfFlow checks that the journaled figures of all seconds add up.
func TestMetricsOfFlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		cfg := enginetest.Config(50, busy(111*time.Millisecond), j)
		cfg.Settings.Limit, cfg.Settings.Metrics = 2, true
		start(t, cfg).Wait()
		rows := enginetest.Of[engine.MetricsRow](j)
		var busy float64
		last := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
		for i, m := range rows {
			busy += m.Speedup * m.At.Sub(last).Seconds()
			last = m.At
			if m.Flow.Parallel != 2*m.Ended || m.Flow.Sequential != m.Ended {
				t.Errorf("second %d: %+v after %d sessions", i, m.Flow, m.Ended)
			}
			if m.Total.Count > 0 && m.Queue.Count != m.Total.Count {
				t.Errorf("second %d: %d waits of %d sessions", i, m.Queue.Count, m.Total.Count)
			}
		}
		if !near(busy, 16.65) {
			t.Errorf("the seconds' busy time adds up to %v s, want 16.65", busy)
		}
	})
}

// TestCycleTimes checks that waits for the schedule and pauses do not count as cycle time.
func TestCycleTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := enginetest.Config(20, busy(2*time.Second), &enginetest.Journal{})
		cfg.Settings.Cycles, cfg.Settings.Limit, cfg.Settings.TimeScale = 2, 10, 3600 // a cycle takes 4 s
		cfg.Clock.Cycle = 10 * time.Hour                                              // and begins every 10 s
		r := start(t, cfg)
		check := func(when string, open, last time.Duration) {
			t.Helper()
			if s := r.PublishNow(); s.CycleTook != open || s.LastCycle.Took != last {
				t.Errorf("%s: %v and %v, want %v and %v", when, s.CycleTook, s.LastCycle, open, last)
			}
		}
		<-time.After(3 * time.Second)
		check("in the first cycle", 3*time.Second, 0)
		<-time.After(5 * time.Second)
		check("while the next one waits", 0, 4*time.Second)
		<-time.After(3 * time.Second)
		do(t, r.Pause("test", "")) // sessions in flight end at 12 s
		<-time.After(time.Minute)
		check("paused", 2*time.Second, 4*time.Second)
		do(t, r.Resume("test"))
		r.Wait()
		check("at the end", 0, 4*time.Second)
	})
}

// TestFailuresOfCycles checks that failures count for their cycle, including those of an earlier process.
func TestFailuresOfCycles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		cfg := enginetest.Config(10, programFunc(func(s *engine.Session) {
			<-time.After(time.Second)
			s.Row.Outcome = engine.OK
			if s.Agent < 4 && s.Cycle > 0 {
				s.Row.Outcome, s.Row.Class = engine.Failed, engine.Script
			}
			if s.Agent == 9 {
				s.Row.Outcome, s.Row.Class = engine.TimedOut, engine.Timeout
			}
		}), j)
		cfg.Settings.Cycles, cfg.Settings.Limit = 3, 1
		check := func(r *run.Run, when string, open int64, last engine.ClosedCycle) {
			t.Helper()
			s := r.PublishNow()
			if was := s.LastCycle; was.Work.Failed+was.Work.TimedOut != last.Failed || was.Work.OK != last.Sessions-last.Failed {
				t.Errorf("%s: the last cycle was %s", when, was.Work.Describe())
			}
			if s.LastCycle.Work = (engine.CycleWork{}); s.CycleFailed != open || s.LastCycle != last {
				t.Errorf("%s: %d and %+v, want %d and %+v", when, s.CycleFailed, s.LastCycle, open, last)
			}
		}
		r := start(t, cfg)
		<-time.After(9500 * time.Millisecond)
		check(r, "in the first cycle", 0, engine.ClosedCycle{})
		<-time.After(3 * time.Second)
		check(r, "in the second", 2, engine.ClosedCycle{Took: 10 * time.Second, Sessions: 10, Failed: 1})
		do(t, r.Stop("test", ""))
		r.Wait()
		cfg.Resume = j.Resumption()
		next := start(t, cfg)
		<-time.After(2500 * time.Millisecond)
		check(next, "in the second again", 4, engine.ClosedCycle{})
		next.Wait()
		check(next, "at the end", 0, engine.ClosedCycle{Took: 10 * time.Second, Sessions: 10, Failed: 5})
	})
}

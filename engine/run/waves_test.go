package run_test

import (
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
)

// uneven is a program whose first agent takes 5 s and the others 1 s.
func uneven() engine.Program {
	return programFunc(func(s *engine.Session) {
		d := time.Second
		if s.Agent == 0 {
			d = 5 * time.Second
		}
		<-time.After(d)
		s.Row.Outcome = engine.OK
	})
}

// startsOf returns when the agents of cycle 0 in a journal started, by agent.
func startsOf(j *enginetest.Journal, began time.Time) []time.Duration {
	var all []time.Duration
	sessions := j.Sessions()
	slices.SortFunc(sessions, func(a, b engine.SessionRow) int { return a.Agent - b.Agent })
	for _, s := range sessions {
		if s.Cycle == 0 {
			all = append(all, s.Started.Sub(began)/time.Second)
		}
	}
	return all
}

// TestWaves checks that a wave starts when the last session of the previous one has ended, and that its wait does not count
// as queue time.
func TestWaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		cfg := enginetest.Config(10, uneven(), j)
		cfg.Settings.Cycles, cfg.Settings.Limit, cfg.Settings.Ceiling, cfg.Settings.Batch = 2, 100, 100, 4
		began := time.Now()
		got := start(t, cfg).Wait()
		if want := []time.Duration{0, 0, 0, 0, 5, 5, 5, 5, 6, 6}; !slices.Equal(startsOf(j, began), want) {
			t.Errorf("sessions started at %v s, want %v", startsOf(j, began), want)
		}
		if got.Totals.Ended() != 20 || got.Totals.Queue.Max() > time.Millisecond || got.Totals.Peaks.Cycle != 7*time.Second {
			t.Errorf("%d sessions, the longest wait %v, the longest cycle %v", got.Totals.Ended(), got.Totals.Queue.Max(), got.Totals.Peaks.Cycle)
		}
		if full := got.Totals.Peaks.Overhead.Full; full > time.Millisecond {
			t.Errorf("all slots count as full for %v, want none", full)
		}
	})
}

// TestWavesUnderALimit checks that a wave larger than the limit respects the limit.
func TestWavesUnderALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		cfg := enginetest.Config(5, uneven(), j)
		cfg.Settings.Limit, cfg.Settings.Batch = 2, 3
		began := time.Now()
		start(t, cfg).Wait()
		if want := []time.Duration{0, 0, 1, 5, 5}; !slices.Equal(startsOf(j, began), want) {
			t.Errorf("sessions started at %v s, want %v", startsOf(j, began), want)
		}
	})
}

// TestWavesAfterInterruption checks that a run that is stopped or paused in a wave continues with the rest, with the same
// results.
func TestWavesAfterInterruption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		results := func(batch int, interrupt bool) map[engine.Place]engine.Outcome {
			j := &enginetest.Journal{}
			cfg := enginetest.Config(23, &enginetest.Crowd{Work: time.Second, Fail: 0.2, Stop: 0.1}, j)
			cfg.Settings.Cycles, cfg.Settings.Limit, cfg.Settings.Batch, cfg.Settings.Breaker = 2, 10, batch, engine.BreakerOff
			r := start(t, cfg)
			if interrupt {
				<-time.After(1500 * time.Millisecond)
				do(t, r.Pause("test", ""))
				<-time.After(10 * time.Second)
				do(t, r.Resume("test"))
				<-time.After(500 * time.Millisecond)
				do(t, r.Stop("test", ""))
				r.Wait()
				cfg.Resume = j.Resumption()
				r = start(t, cfg)
			}
			r.Wait()
			all := map[engine.Place]engine.Outcome{}
			for _, s := range j.Sessions() {
				all[s.Place] = s.Outcome
			}
			return all
		}
		want := results(0, false)
		if len(want) != 46 {
			t.Fatalf("%d sessions, want 46", len(want))
		}
		for _, interrupt := range []bool{false, true} {
			if got := results(5, interrupt); !reflect.DeepEqual(got, want) {
				t.Errorf("interrupted %v: %v, want %v", interrupt, got, want)
			}
		}
	})
}

// TestWorkOfCycles checks that each barrier reports how the sessions of its cycle ended, which steps they executed, and the
// speedup over executing them one after another.
func TestWorkOfCycles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		cfg := enginetest.Config(10, programFunc(func(s *engine.Session) {
			<-time.After(2 * time.Second)
			s.Row.Outcome, s.Row.Service = engine.OK, 2*time.Second
			s.Row.Steps = append(s.Row.Steps,
				engine.StepRecord{Path: "a", Status: engine.StepOK, Parallel: true}, engine.StepRecord{Path: "b", Status: engine.StepOK, Parallel: true},
				engine.StepRecord{Path: "c", Status: engine.StepOK})
			if s.Cycle == 1 && s.Agent < 3 {
				s.Row.Steps[2].Status, s.Row.Outcome, s.Row.Class = engine.StepFailed, engine.Failed, engine.Script
			}
			if s.Cycle == 1 && s.Agent == 9 {
				s.Row.Steps[2].Status, s.Row.Outcome, s.Row.Class = engine.StepTimedOut, engine.TimedOut, engine.Timeout
			}
		}), j)
		cfg.Settings.Cycles, cfg.Settings.Limit, cfg.Settings.Breaker = 2, 5, engine.BreakerOff
		s := start(t, cfg)
		s.Wait()
		rows := enginetest.Of[engine.BarrierRow](j)
		if len(rows) != 2 {
			t.Fatalf("%d barriers", len(rows))
		}
		for i, want := range []string{"10 completed, 0 failed, 0 timed out", "6 completed, 3 failed, 1 timed out"} {
			w := &rows[i].Work
			if w.Describe() != want || w.Flow.Parallel != 20 || w.Flow.Sequential != 10 {
				t.Errorf("cycle %d: %s, %+v", i, w.Describe(), w.Flow)
			}
			if speedup := w.Speedup(rows[i].Took); speedup < 4.99 || speedup > 5.01 {
				t.Errorf("cycle %d: a speedup of %v with 5 concurrent sessions", i, speedup)
			}
		}
		if f := rows[1].Work.Flow; f.Failed != 3 || f.TimedOut != 1 {
			t.Errorf("steps of the second cycle: %+v", f)
		}
		if last := s.PublishNow().LastCycle.Work; last != rows[1].Work {
			t.Errorf("shown are %+v, want %+v", last, rows[1].Work)
		}
	})
}

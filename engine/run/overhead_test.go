package run_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/health"
)

// slowJournal needs time to queue rows.
type slowJournal struct {
	engine.Journal
	queues time.Duration
}

func (j slowJournal) Append(...engine.Row) { time.Sleep(j.queues) }

// divided is a program whose sessions use 3 s for a service, 1 s throttled, 2 s for a script, 4 s for a wait step, and 0.5
// s between the steps.
func divided(s *engine.Session) {
	s.Clock()
	time.Sleep(10500 * time.Millisecond)
	r := s.Row
	ask := engine.StepRecord{Path: "ask", Attempts: 2, Service: 3 * time.Second}
	ask.Hold(engine.ThrottledByRate, 500*time.Millisecond)
	ask.Hold(engine.ThrottledByRetry, 300*time.Millisecond)
	ask.Hold(engine.ThrottledByJournal, 200*time.Millisecond)
	r.Steps = append(r.Steps, ask, engine.StepRecord{Path: "think[1].script", Service: 2 * time.Second}, engine.StepRecord{Path: "wait", Service: 4 * time.Second})
	r.Outcome, r.Service, r.Throttled = engine.OK, 9*time.Second, time.Second
}

func purposes(step string) engine.Purpose {
	return map[string]engine.Purpose{"think.script": engine.ForScripts, "wait": engine.ForThinking}[step]
}

// TestTimesOfSessions checks that the parts of the sessions' time are separated and add up to the total.
func TestTimesOfSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := enginetest.Config(6, programFunc(divided), slowJournal{engine.Discard, 100 * time.Millisecond})
		cfg.Settings.Limit, cfg.Purpose = 2, purposes
		r := start(t, cfg)
		totals := r.Wait().Totals
		o := totals.Peaks.Overhead
		want := engine.Times{
			engine.ForServices: 18 * time.Second, engine.ForScripts: 12 * time.Second, engine.ForThinking: 24 * time.Second,
			engine.ForPacing: 3 * time.Second, engine.ForRefusals: 1800 * time.Millisecond,
			engine.ForJournal: 1800 * time.Millisecond, // 0.2 s for each, and 0.1 s until each was queued
			engine.ForEngine:  3 * time.Second,
		}
		if o.Times != want {
			t.Errorf("got %v, want %v", o.Times, want)
		}
		if o.Requests != 12 || o.Answer() != 1500*time.Millisecond {
			t.Errorf("%d requests of %v", o.Requests, o.Answer())
		}
		if got := r.Snapshot(); got.Overhead != o || got.Late != (engine.Late{}) {
			t.Errorf("shown are %+v and %+v", got.Overhead, got.Late)
		}
		if got, want := health.DescribeTimes(&o.Times), "wait steps 38%, services 28%, scripts 19%, pacing 4.7%, engine 4.7%, refusals 2.8%, journal 2.8%"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

// TestTimesOfConcurrentSteps checks that all concurrent steps of a session count, and that no time is invented for the rest.
func TestTimesOfConcurrentSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := enginetest.Config(3, programFunc(func(s *engine.Session) {
			s.Clock()
			time.Sleep(2 * time.Second)
			r := s.Row
			ask := engine.StepRecord{Path: "a", Service: time.Second, Parallel: true}
			ask.Hold(engine.ThrottledByRate, 500*time.Millisecond)
			r.Steps = append(r.Steps, ask, engine.StepRecord{Path: "b", Service: 2 * time.Second, Parallel: true})
			r.Outcome, r.Service, r.Throttled = engine.OK, 3*time.Second, ask.Throttled
		}), nil)
		totals := start(t, cfg).Wait().Totals
		if got, want := totals.Peaks.Overhead.Times, (engine.Times{engine.ForServices: 9 * time.Second, engine.ForPacing: 1500 * time.Millisecond}); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

// TestBoundByMachine checks that the host's figures add up over the seconds, without pauses.
func TestBoundByMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := enginetest.Config(100, works(time.Second), nil)
		cfg.Settings.Limit = 4
		cfg.Probe.Host = func() engine.HostMetrics {
			return engine.HostMetrics{CPU: 95, ProcessCPU: 180, Cores: 2, Collector: 20, CoreWait: 3 * time.Millisecond}
		}
		began := time.Now()
		cfg.Probe.Writer = func() time.Duration { return time.Since(began) / 4 }
		r := start(t, cfg)
		time.Sleep(10500 * time.Millisecond)
		do(t, r.Pause("test", ""))
		time.Sleep(time.Minute)
		s := r.Snapshot()
		o := s.Overhead
		if o.Span < 10*time.Second || o.Span > 12*time.Second {
			t.Fatalf("the overhead spans %v of 11 s", o.Span)
		}
		part := func(of time.Duration) float64 { return of.Seconds() / o.Span.Seconds() }
		for name, c := range map[string]struct{ got, want float64 }{
			"cores": {part(o.Cores), 2}, "machine": {part(o.Machine), 1.9}, "process": {part(o.Process), 1.8}, "collector": {part(o.Collector), 0.2}, "writer": {part(o.Writer), 0.25},
		} {
			if c.got < c.want-0.001 || c.got > c.want+0.001 {
				t.Errorf("%s: %v of the time, want %v", name, c.got, c.want)
			}
		}
		if b := health.FindBottleneck(&o, s.Limit, s.Binds); b.Kind != health.BoundByMachine {
			t.Errorf("%+v", b)
		}
		if s.Late.Core != 3*time.Millisecond {
			t.Errorf("late by %+v", s.Late)
		}
		do(t, r.Stop("test", ""))
		r.Wait()
	})
}

// TestBoundByLimitAndSchedule checks the time with all slots in use, and the time in which no cycle was due.
func TestBoundByLimitAndSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := enginetest.Config(100, works(time.Second), nil)
		cfg.Settings.Limit, cfg.Settings.Cycles, cfg.Settings.TimeScale = 10, 2, 36 // a cycle of an hour takes 100 s
		r := start(t, cfg)
		time.Sleep(8500 * time.Millisecond) // of 9 s in which sessions wait for a slot
		if b := health.FindBottleneck(&r.Snapshot().Overhead, 10, ""); b.Kind != health.BoundByLimit {
			t.Errorf("while sessions wait for a slot: %+v", b)
		}
		o := r.Wait().Totals.Peaks.Overhead
		if o.Full != 18*time.Second || o.Idle != 90*time.Second || o.Span != 110*time.Second || o.Barrier != 0 {
			t.Errorf("full %v, idle %v of %v, between cycles %v", o.Full, o.Idle, o.Span, o.Barrier)
		}
		if b := health.FindBottleneck(&o, 10, ""); b.Kind != health.BoundBySchedule {
			t.Errorf("of the whole run: %+v", b)
		}
	})
}

// TestBoundByBarrier checks the time between cycles.
func TestBoundByBarrier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := enginetest.Config(10, works(time.Second), nil)
		cfg.Settings.Cycles = 5
		cfg.Barrier = func(int) { time.Sleep(3 * time.Second) }
		o := start(t, cfg).Wait().Totals.Peaks.Overhead
		if o.Barrier != 15*time.Second || o.Span != 20*time.Second {
			t.Errorf("%v of %v", o.Barrier, o.Span)
		}
		if b := health.FindBottleneck(&o, 50, ""); b.Kind != health.BoundByJournal {
			t.Errorf("%+v", b)
		}
	})
}

// TestPauseIsNotBarrierTime checks that time between cycles does not count while the run is paused.
func TestPauseIsNotBarrierTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := enginetest.Config(10, works(time.Second), nil)
		cfg.Barrier = func(int) { time.Sleep(3 * time.Second) }
		r := start(t, cfg)
		time.Sleep(2 * time.Second)
		do(t, r.Pause("test", ""))
		time.Sleep(10 * time.Second)
		do(t, r.Resume("test"))
		if o := r.Wait().Totals.Peaks.Overhead; o.Barrier != time.Second || o.Barrier > o.Span {
			t.Errorf("%v of %v", o.Barrier, o.Span)
		}
	})
}

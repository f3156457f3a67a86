package run_test

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
)

// fakeService is a service whose state the test sets.
type fakeService struct {
	mu           sync.Mutex
	state        engine.ServiceState
	changes      []engine.ChangeRow
	tuned        map[string]string
	order        []string // names in the order in which they were tuned
	renewed      int
	renewRefills bool // Renew makes the quota available again
}

var _ engine.Service = (*fakeService)(nil)

func (o *fakeService) State(time.Time) engine.ServiceState {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.state
}

func (o *fakeService) Tunables() []engine.Tunable {
	o.mu.Lock()
	defer o.mu.Unlock()
	var all []engine.Tunable
	for _, what := range []string{"max-rate", "rate", "timeout"} {
		name := o.state.Name + "." + what
		all = append(all, engine.Tunable{Name: name, Value: o.value(name)})
	}
	return all
}

func (o *fakeService) value(name string) string {
	if v, ok := o.tuned[name]; ok {
		return v
	}
	return "10"
}

func (o *fakeService) Tune(name, value string) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if value == "much" {
		return "", &engine.FieldError{Field: name, Problem: "is not a number"}
	}
	old := o.value(name)
	if o.tuned == nil {
		o.tuned = map[string]string{}
	}
	o.tuned[name] = value
	o.order = append(o.order, name)
	return old, nil
}

func (o *fakeService) Renew() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.renewed++
	if o.renewRefills {
		o.state.Exhausted = ""
	}
}

func (o *fakeService) Moves() []engine.ChangeRow {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := o.changes
	o.changes = nil
	return all
}

func (o *fakeService) change(f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f()
}

// tripBreaker is a governor's breaker that opens at one second and closes at another; 0 means never.
func tripBreaker(p *governor, open, closed int, probes ...int) {
	p.orders(func(r engine.Reading) engine.Orders {
		o := engine.Orders{Limit: r.Limit}
		if n := len(p.read); n >= open && (closed == 0 || n < closed) && p.reset == 0 {
			o.Breaker, o.BreakerWhy, o.NextProbe = engine.BreakerOpen, "half of the cycle failed", r.At.Add(time.Minute)
			o.Probe = slices.Contains(probes, n)
		}
		return o
	})
}

func TestOpenBreakerStartsNoSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, p, j := governedRun(40, works(10*time.Second))
		tripBreaker(p, 15, 100)
		began := time.Now()
		r := start(t, cfg)
		time.Sleep(60 * time.Second)
		s := r.Snapshot()
		if s.Phase != engine.Paused || s.Reason != "half of the cycle failed" || s.InFlight != 0 || s.Ended != 20 {
			t.Errorf("%v: %q, %d in flight, %d ended; want paused with the 20 ended that had begun", s.Phase, s.Reason, s.InFlight, s.Ended)
		}
		if s.Breaker != engine.BreakerOpen || s.BreakerWhy == "" || s.NextProbe.IsZero() {
			t.Errorf("the breaker is shown as %v: %q, %v", s.Breaker, s.BreakerWhy, s.NextProbe)
		}
		got := r.Wait()
		took(t, began, 120*time.Second) // 100 s, and two rounds
		if got.Totals.Outcomes[engine.OK] != 40 || got.Totals.Peaks.Cycle != 40*time.Second {
			t.Errorf("%v, the cycle took %v without the pause; want 40 ok, 40s", got.Totals.Outcomes, got.Totals.Peaks.Cycle)
		}
		want := "phase running→paused by breaker: half of the cycle failed; phase paused→running by breaker: all is well again"
		if got := describeChanges(enginetest.Of[engine.ChangeRow](j)); got != want {
			t.Errorf("journaled: %s, want %s", got, want)
		}
		if c := enginetest.Of[engine.CheckpointRow](j); len(c) == 0 || c[0].Reason != "breaker" {
			t.Errorf("no checkpoint was taken for the breaker: %+v", c)
		}
	})
}

func TestBreakerSwitchedOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, p, j := governedRun(40, works(10*time.Second))
		tripBreaker(p, 15, 30)
		r := start(t, cfg)
		time.Sleep(20 * time.Second)
		do(t, r.Set("breaker", "off", "me", ""))
		time.Sleep(20 * time.Second)
		want := "phase paused→running by breaker: it was switched off"
		if got := describeChanges(enginetest.Of[engine.ChangeRow](j)); !strings.HasSuffix(got, want) {
			t.Errorf("journaled: %s, want %s at the end", got, want)
		}
		cut(t, r)
	})
}

// TestProbeIsOneSession checks that an open breaker lets a probe start one session, which may be the first of a new cycle.
// The session's clocks run although the cycle's clock is paused.
func TestProbeIsOneSession(t *testing.T) {
	for workers, open := range map[int]int{1: 11, 10: 1} { // with ten workers, all sessions of the first cycle have started by then
		synctest.Test(t, func(t *testing.T) {
			var begun atomic.Int64
			program := programFunc(func(s *engine.Session) {
				begun.Add(1)
				works(600 * time.Millisecond).Session(s)
			})
			cfg, p, _ := governedRun(20, program)
			cfg.Settings.Limit, cfg.Settings.Cycles, cfg.Settings.CycleTimeout = workers, 2, time.Minute
			tripBreaker(p, open, 600, 100, 101, 400)
			r := start(t, cfg)
			time.Sleep(90*time.Second + 100*time.Millisecond)
			before := begun.Load()
			for _, want := range []struct {
				after  time.Duration
				probes int64
			}{{10 * time.Second, 1}, {time.Second, 2}, {2 * time.Minute, 2}, {3 * time.Minute, 3}} {
				time.Sleep(want.after)
				if got := begun.Load() - before; got != want.probes {
					t.Errorf("limit %d: %d sessions were begun with the breaker open, want %d", workers, got, want.probes)
				}
			}
			if s := r.Snapshot(); s.Phase != engine.Paused || s.InFlight != 0 {
				t.Errorf("%v with %d in flight", s.Phase, s.InFlight)
			}
			got := r.Wait()
			if got.Ending != engine.EndFinished || got.Totals.Outcomes[engine.OK] != 40 {
				t.Errorf("%v with %v, want finished with 40 ok", got.Ending, got.Totals.Outcomes)
			}
			// Three probes of the second cycle run one after another, and then two rounds of the remaining sessions.
			if d := got.Totals.Peaks.Worked; workers == 10 && d != 7*600*time.Millisecond {
				t.Errorf("the cycles took %v without the pause, want 4.2s", d)
			}
		})
	}
}

func TestProbeWaitsForOtherPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, p, _ := governedRun(20, works(time.Second))
		cfg.Settings.Limit = 1
		tripBreaker(p, 3, 0, 10)
		r := start(t, cfg)
		time.Sleep(5 * time.Second)
		do(t, r.Pause("me", "lunch"))
		s := r.Snapshot()
		if s.Reason != "lunch; half of the cycle failed" {
			t.Errorf("paused for %q, want both reasons", s.Reason)
		}
		time.Sleep(10 * time.Second)
		if now := r.Snapshot(); now.Begun != s.Begun {
			t.Errorf("%d begun, and then %d: a probe started in a person's pause", s.Begun, now.Begun)
		}
		do(t, r.Resume("me"))
		s = r.Snapshot()
		if s.Phase != engine.Running || s.Breaker != engine.BreakerClosed || s.Reason != "" || p.reset != 1 {
			t.Errorf("resumed, it is %v: %q, the breaker %v, %d resets", s.Phase, s.Reason, s.Breaker, p.reset)
		}
		r.Wait()
	})
}

// TestBreakerDoesNotDelayTheEnd checks that a breaker that opens when all is done delays nothing, even if only a
// person can close it.
func TestBreakerDoesNotDelayTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, p, _ := governedRun(10, works(2500*time.Millisecond))
		tripBreaker(p, 2, 0)
		began := time.Now()
		r := start(t, cfg)
		if got := r.Wait(); got.Ending != engine.EndFinished {
			t.Errorf("got ending %v", got.Ending)
		}
		took(t, began, 2500*time.Millisecond)
	})
}

func TestExhaustedQuotaPauses(t *testing.T) {
	for until, after := range map[string]time.Duration{"its reset time": time.Hour, "the service reports it": 20 * time.Minute, "a person resumes": 10 * time.Minute} {
		t.Run("until "+until, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model := &fakeService{state: engine.ServiceState{Name: "model"}}
				cfg, _, j := governedRun(40, works(10*time.Second))
				cfg.Services = []engine.Service{&fakeService{state: engine.ServiceState{Name: "shop"}}, model}
				began := time.Now()
				r := start(t, cfg)
				time.Sleep(15 * time.Second)
				model.change(func() { model.state.Exhausted, model.state.Until = "1,000 requests a day", began.Add(time.Hour) })
				time.Sleep(time.Minute)
				s := r.Snapshot()
				if s.Phase != engine.Paused || s.InFlight != 0 || !strings.HasPrefix(s.Reason, "the quota of model is exhausted until ") || !strings.HasSuffix(s.Reason, ": 1,000 requests a day") {
					t.Errorf("%v: %q, %d in flight", s.Phase, s.Reason, s.InFlight)
				}
				if s.Services[1].Exhausted == "" || len(s.Services) != 2 {
					t.Errorf("the services are shown as %+v", s.Services)
				}
				who := "model"
				switch until {
				case "the service reports it":
					time.Sleep(time.Until(began.Add(after)))
					model.change(func() { model.state.Exhausted = "" })
				case "a person resumes":
					time.Sleep(time.Until(began.Add(after)))
					do(t, r.Resume("me"))
					who = "me"
					if model.renewed != 1 {
						t.Errorf("the service was renewed %d times, want once", model.renewed)
					}
				}
				r.Wait()
				if late := time.Since(began.Add(after + 20*time.Second)); late < 0 || late > 200*time.Millisecond {
					t.Errorf("the run resumed %v late", late)
				}
				changes := enginetest.Of[engine.ChangeRow](j)
				if len(changes) != 2 || changes[0].Who != "model" || changes[0].New != "paused" || changes[1].Who != who || changes[1].New != "running" {
					t.Errorf("journaled: %s", describeChanges(changes))
				}
				if why := changes[1].Why; who == "model" && why != "the quota of model may be available again" {
					t.Errorf("the reason is %s", why)
				}
			})
		})
	}
}

// TestQuotaWithoutResetTimeWaitsForAPerson checks that an exhausted quota without a reset time pauses the run until a
// person resumes it, and that the same report does not pause it again.
func TestQuotaWithoutResetTimeWaitsForAPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &fakeService{state: engine.ServiceState{Name: "model", LimiterState: engine.LimiterState{Exhausted: "the account is empty"}}}
		cfg, _, j := governedRun(20, works(10*time.Second))
		cfg.Services = []engine.Service{model}
		r := start(t, cfg)
		time.Sleep(2 * time.Hour)
		if s := r.Snapshot(); s.Phase != engine.Paused || s.Reason != "the quota of model is exhausted: the account is empty" || s.Begun != 0 {
			t.Errorf("%v: %q, %d begun", s.Phase, s.Reason, s.Begun)
		}
		do(t, r.Resume("me"))
		if got := r.Wait(); got.Ending != engine.EndFinished {
			t.Errorf("got ending %v", got.Ending)
		}
		if got := describeChanges(enginetest.Of[engine.ChangeRow](j)); strings.Count(got, "→paused") != 1 {
			t.Errorf("journaled: %s", got)
		}
		if rows := j.Rows(); len(enginetest.Of[engine.StartRow](j)) != 1 || rows[0] != engine.Row(enginetest.Of[engine.StartRow](j)[0]) {
			t.Errorf("the journal begins with a %T", rows[0])
		}
	})
}

// TestNewlyExhaustedQuotaPauses covers a person who resumes too early: the service refuses before the run has asked it,
// and the run pauses again.
func TestNewlyExhaustedQuotaPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &fakeService{state: engine.ServiceState{Name: "model", LimiterState: engine.LimiterState{Exhausted: "the account is empty"}, Said: time.Now()}}
		cfg, _, j := governedRun(20, works(10*time.Second))
		cfg.Services = []engine.Service{model}
		r := start(t, cfg)
		time.Sleep(time.Hour)
		do(t, r.Resume("me"))
		model.change(func() { model.state.Said = time.Now() })
		time.Sleep(time.Hour)
		if s := r.Snapshot(); s.Phase != engine.Paused || s.Reason != "the quota of model is exhausted: the account is empty" {
			t.Errorf("%v: %q", s.Phase, s.Reason)
		}
		do(t, r.Resume("me"))
		if got := r.Wait(); got.Ending != engine.EndFinished {
			t.Errorf("got ending %v", got.Ending)
		}
		if got := describeChanges(enginetest.Of[engine.ChangeRow](j)); strings.Count(got, "→paused") != 2 {
			t.Errorf("journaled: %s", got)
		}
	})
}

// TestQuotaExhaustedAgainPausesImmediately checks that a run resumed with an exhausted quota pauses again immediately, even
// if the service reports it before the node next asks.
func TestQuotaExhaustedAgainPausesImmediately(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &fakeService{state: engine.ServiceState{Name: "model", LimiterState: engine.LimiterState{Exhausted: "the account is empty"}}, renewRefills: true}
		cfg, _, j := governedRun(20, works(10*time.Second))
		cfg.Services = []engine.Service{model}
		r := start(t, cfg)
		time.Sleep(time.Minute + 50*time.Millisecond)
		do(t, r.Resume("me"))
		model.change(func() { model.state.Exhausted = "the account is empty" })
		time.Sleep(time.Second)
		if s := r.Snapshot(); s.Phase != engine.Paused {
			t.Errorf("%v: %q, want paused once more", s.Phase, s.Reason)
		}
		if got := describeChanges(enginetest.Of[engine.ChangeRow](j)); strings.Count(got, "→paused") != 2 {
			t.Errorf("journaled: %s", got)
		}
		cut(t, r)
	})
}

func TestServiceChangesAreJournaled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &fakeService{state: engine.ServiceState{Name: "model"}}
		cfg, _, j := governedRun(10, works(10*time.Second))
		cfg.Services = []engine.Service{model}
		r := start(t, cfg)
		time.Sleep(time.Second)
		model.change(func() {
			model.changes = []engine.ChangeRow{{What: "model rate", Old: "20", New: "16", Who: "rate limiter", Why: "a 429"}}
		})
		time.Sleep(time.Second)
		r.Wait()
		got := enginetest.Of[engine.ChangeRow](j)
		if describeChanges(got) != "model rate 20→16 by rate limiter: a 429" || got[0].At.IsZero() || len(r.Snapshot().Changes) != 1 {
			t.Errorf("journaled: %+v", got)
		}
	})
}

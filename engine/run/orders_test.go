package run_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
)

// governor is a governor whose orders come from a test.
type governor struct {
	steer func(r engine.Reading) engine.Orders

	mu    sync.Mutex
	read  []engine.Reading
	uses  []engine.Steering
	reset int
}

var _ engine.Governor = (*governor)(nil)

func (g *governor) Steer(r engine.Reading) engine.Orders {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.read = append(g.read, r)
	if g.steer == nil {
		return engine.Orders{Limit: r.Limit}
	}
	return g.steer(r)
}

func (g *governor) Use(s engine.Steering) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s.Floor == 13 {
		return &engine.FieldError{Field: "floor", Problem: "unlucky"}
	}
	g.uses = append(g.uses, s)
	return nil
}

func (g *governor) Reset() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.reset++
}

func (g *governor) orders(f func(r engine.Reading) engine.Orders) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.steer = f
}

func (g *governor) readings() []engine.Reading {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]engine.Reading(nil), g.read...)
}

// governedRun is a run of a crowd with a governor.
func governedRun(agents int, program engine.Program) (run.Config, *governor, *enginetest.Journal) {
	p, j := &governor{}, &enginetest.Journal{}
	cfg := enginetest.Config(agents, program, j)
	cfg.Governor = p
	cfg.Settings.Limit = 10
	return cfg, p, j
}

// describeChanges returns the changes as text.
func describeChanges(changes []engine.ChangeRow) string {
	var all []string
	for _, c := range changes {
		all = append(all, fmt.Sprintf("%s %s→%s by %s: %s", c.What, c.Old, c.New, c.Who, c.Why))
	}
	return strings.Join(all, "; ")
}

// cut ends a run that may already be ending.
func cut(t *testing.T, r *run.Run) run.Result {
	t.Helper()
	for range 2 {
		if err := r.Stop("test", ""); err != nil && !errors.Is(err, engine.ErrEnded) {
			t.Error(err)
		}
	}
	return r.Wait()
}

func TestGovernorReadsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		crowd := programFunc(func(s *engine.Session) {
			works(1500 * time.Millisecond).Session(s)
			s.Row.Service = 1500 * time.Millisecond
			if s.Agent%4 == 3 {
				s.Row.Fail("pay", engine.Fail(engine.ServerError, "busy"))
			}
		})
		cfg, p, _ := governedRun(100, crowd)
		cfg.Probe.Connections = func() engine.Connections { return engine.Connections{Own: 3, Server: 40, Max: 60} }
		cfg.Probe.Host = func() engine.HostMetrics { return engine.HostMetrics{CPU: 71} }
		cfg.Services = []engine.Service{&fakeService{state: engine.ServiceState{Name: "shop", InFlight: 4}}}
		r := start(t, cfg)
		time.Sleep(2500 * time.Millisecond)
		all := p.readings()
		if len(all) != 2 {
			t.Fatalf("%d readings in 2.5 s, want one a second", len(all))
		}
		got := all[1]
		if got.Span != time.Second || got.Slept != 0 || got.Phase != engine.Running || got.Cycle != 0 || got.Limit != 10 || got.InFlight != 10 || got.Busy != 1 {
			t.Errorf("the second reading is %+v", got)
		}
		if got.Ended != 10 || got.Failed != 2 || got.CycleEnded != 10 || got.CycleFailed != 2 || got.CycleTotal != 100 {
			t.Errorf("the reading counts %d ended, %d failed; of the cycle %d, %d of %d", got.Ended, got.Failed, got.CycleEnded, got.CycleFailed, got.CycleTotal)
		}
		if all[0].Ended != 0 || got.Service.Count != 10 || got.Host.CPU != 71 || got.Connections.Server != 40 || got.Services[0].InFlight != 4 {
			t.Errorf("the reading has %+v, %+v, %+v, %+v", got.Service, got.Host, got.Connections, got.Services)
		}
		if want := got.At.Add(-500 * time.Millisecond); !got.LastEnd.Equal(want) {
			t.Errorf("the last session ended at %v, want %v", got.LastEnd, want)
		}
		cut(t, r)
	})
}

// TestBusyIsMeasured checks that a limit that did not hold sessions back counts as not busy.
func TestBusyIsMeasured(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		agents, limit := rapid.IntRange(1, 60).Draw(rt, "agents"), rapid.IntRange(1, 30).Draw(rt, "limit")
		work := time.Duration(rapid.IntRange(1, 40).Draw(rt, "work")) * 100 * time.Millisecond
		check(rt, t, func(t *testing.T) error {
			cfg, p, _ := governedRun(agents, works(work))
			cfg.Settings.Limit = limit
			r := start(t, cfg)
			r.Wait()
			rounds := (agents + limit - 1) / limit
			last := time.Duration(rounds-1) * work // when the last sessions start
			for i, got := range p.readings() {
				from, to := time.Duration(i)*time.Second, time.Duration(i+1)*time.Second
				want := max(min(last, to)-from, 0).Seconds()
				if math.Abs(got.Busy-want) > 0.001 {
					return fmt.Errorf("second %d is busy %v, want %v: the last of %d rounds starts after %v", i, got.Busy, want, rounds, last)
				}
			}
			return nil
		})
	})
}

func TestBusyExcludesPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, p, _ := governedRun(100, works(10*time.Second))
		r := start(t, cfg)
		time.Sleep(1250 * time.Millisecond)
		do(t, r.Pause("test", ""))
		time.Sleep(2 * time.Second)
		do(t, r.Resume("test"))
		time.Sleep(time.Second)
		var got []string
		for _, r := range p.readings() {
			got = append(got, fmt.Sprintf("%.2f", r.Busy))
		}
		if got, want := strings.Join(got, " "), "1.00 0.25 0.00 0.75"; got != want {
			t.Errorf("busy %s, want %s", got, want)
		}
		cut(t, r)
	})
}

func TestGovernorMovesTheLimit(t *testing.T) {
	for _, governor := range []string{"adaptive", engine.Manual, ""} {
		t.Run(governor, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg, p, j := governedRun(1000, works(10*time.Second))
				cfg.Settings.Governor = governor
				p.orders(func(r engine.Reading) engine.Orders {
					if r.Limit != 10 {
						return engine.Orders{Limit: r.Limit, By: "resources"}
					}
					return engine.Orders{Limit: 25, By: "latency", Why: "10 → 25: latency is low"}
				})
				began := time.Now()
				r := start(t, cfg)
				time.Sleep(1250 * time.Millisecond)
				s := r.Snapshot()
				moves := governor == "adaptive"
				if want := map[bool]int{true: 25, false: 10}[moves]; s.Limit != want || s.InFlight != want || r.Settings().Limit != want {
					t.Errorf("the limit is %d with %d in flight, want %d", s.Limit, s.InFlight, want)
				}
				if s.SteerBy != "latency" || s.Steer != "10 → 25: latency is low" || s.Floor != 1 || s.Ceiling != 100 {
					t.Errorf("shown: %q by %s, %d to %d", s.Steer, s.SteerBy, s.Floor, s.Ceiling)
				}
				if want := map[bool]string{true: "adaptive", false: engine.Manual}[moves]; s.Governor != want {
					t.Errorf("the governor is %q, want %q", s.Governor, want)
				}
				time.Sleep(time.Second)
				if s := r.Snapshot(); moves && s.Steered.Sub(began) != time.Second || s.Steer != "10 → 25: latency is low" {
					t.Errorf("the last move came after %v: %q", s.Steered.Sub(began), s.Steer)
				}
				if s := r.Snapshot(); moves && (s.SteerBy != "latency" || s.Binds != "resources") {
					t.Errorf("bound by %q; the last move is by %q: %q", s.Binds, s.SteerBy, s.Steer)
				}
				want := ""
				if moves {
					want = "limit 10→25 by latency: 10 → 25: latency is low"
				}
				if got := describeChanges(enginetest.Of[engine.ChangeRow](j)); got != want {
					t.Errorf("journaled: %s, want %s", got, want)
				}
				cut(t, r)
			})
		})
	}
}

// TestLimitByHandTakesOver checks that a person's limit applies immediately and exactly, whatever the governor and its bounds,
// as one change, and that the run can return to the governor.
func TestLimitByHandTakesOver(t *testing.T) {
	for _, set := range []int{1, 3, 50, 100, 400} {
		synctest.Test(t, func(t *testing.T) {
			cfg, p, j := governedRun(1000, works(time.Hour))
			cfg.Settings.Floor = 5
			p.orders(func(r engine.Reading) engine.Orders { // a governor that always wants 7
				return engine.Orders{Limit: 7, By: "resources", Why: "other programs are busy"}
			})
			r := start(t, cfg)
			synctest.Wait()
			began := time.Now()
			do(t, r.SetLimit(set, "me", "slider"))
			synctest.Wait()
			took(t, began, 0)
			time.Sleep(time.Minute)
			s := r.PublishNow()
			if s.Limit != set || s.InFlight != max(set, 10) || s.Floor != 5 || s.Ceiling != 100 || s.Governor != engine.Manual {
				t.Errorf("%d: limit %d, %d in flight, from %d to %d, governor %s", set, s.Limit, s.InFlight, s.Floor, s.Ceiling, s.Governor)
			}
			want := fmt.Sprintf("max-concurrent automatic→%d by me: slider", set)
			if got := describeChanges(enginetest.Of[engine.ChangeRow](j)); got != want {
				t.Errorf("journaled: %s, want %s", got, want)
			}
			if last := p.uses[len(p.uses)-1]; !last.Manual || last.Governor != "adaptive" {
				t.Errorf("the governor uses %+v", last)
			}
			do(t, r.Set(engine.LimitSetting, engine.Automatic, "me", ""))
			if s := r.PublishNow(); s.Limit != set || s.Governor != "adaptive" {
				t.Errorf("returned, the limit is %d, the governor %s", s.Limit, s.Governor)
			}
			time.Sleep(2 * time.Second)
			want += fmt.Sprintf("; max-concurrent %[1]d→automatic by me: ; limit %[1]d→7 by resources: other programs are busy", set)
			if got := describeChanges(enginetest.Of[engine.ChangeRow](j)); got != want {
				t.Errorf("journaled: %s, want %s", got, want)
			}
			cut(t, r)
		})
	}
}

// TestManualSurvivesResume checks that a run that stopped in Manual resumes in Manual, and that checkpoints know the mode.
func TestManualSurvivesResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, p, j := governedRun(1000, works(time.Hour))
		p.orders(func(r engine.Reading) engine.Orders { return engine.Orders{Limit: 7, By: "resources", Why: "busy"} })
		r := start(t, cfg)
		do(t, r.SetLimit(40, "me", ""))
		settings := *r.Settings()
		cut(t, r)
		cfg.Settings, cfg.Resume, cfg.Journal = settings, j.Reopen().Resumption(), &enginetest.Journal{}
		r = start(t, cfg)
		do(t, r.Checkpoint(t.Context(), "now"))
		time.Sleep(5050 * time.Millisecond) // not at the moment of a sample
		if s := r.Snapshot(); s.Limit != 40 || s.Governor != engine.Manual {
			t.Errorf("resumed with the limit %d and the governor %s", s.Limit, s.Governor)
		}
		for _, c := range enginetest.Of[engine.CheckpointRow](cfg.Journal.(*enginetest.Journal)) {
			if c.State.Limit != 40 || !c.State.Manual {
				t.Errorf("a checkpoint has the limit %d, manual %t", c.State.Limit, c.State.Manual)
			}
		}
		do(t, r.Set("governor", "latency", "me", "")) // also returns to automatic
		if s := r.PublishNow(); s.Governor != "latency" || len(s.Changes) != 2 {
			t.Errorf("governor %s, changes %s", s.Governor, describeChanges(s.Changes))
		}
		cut(t, r)
	})
}

// TestAutomaticOfAManualRun checks that a run that was launched without a governor gets the standard one.
func TestAutomaticOfAManualRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, _, j := governedRun(100, works(time.Hour))
		cfg.Settings.Governor = engine.Manual
		r := start(t, cfg)
		do(t, r.SetLimit(12, "me", ""))
		do(t, r.Set(engine.LimitSetting, engine.Automatic, "me", ""))
		if s := r.PublishNow(); s.Governor != engine.Adaptive || s.Limit != 12 {
			t.Errorf("governor %s, limit %d", s.Governor, s.Limit)
		}
		synctest.Wait() // until the rows are written
		if got, want := describeChanges(enginetest.Of[engine.ChangeRow](j)), "max-concurrent 10→12 by me: ; governor manual→adaptive by me: ; max-concurrent 12→automatic by me: "; got != want {
			t.Errorf("journaled: %s, want %s", got, want)
		}
		cut(t, r)

		cfg = enginetest.Config(10, works(time.Hour), &enginetest.Journal{})
		r = start(t, cfg)
		var field *engine.FieldError
		if err := r.Set(engine.LimitSetting, engine.Automatic, "me", ""); !errors.As(err, &field) {
			t.Errorf("without a governor: %v", err)
		}
		cut(t, r)
	})
}

// TestGovernorKeepsALimitOfZero checks that no governor raises a limit of 0, that a person's next limit applies immediately,
// and that returning to automatic starts sessions again.
func TestGovernorKeepsALimitOfZero(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, p, _ := governedRun(1000, works(time.Second))
		p.orders(func(engine.Reading) engine.Orders {
			return engine.Orders{Limit: 20, By: "adaptive", Why: "0 → 20: idle"}
		})
		r := start(t, cfg)
		time.Sleep(500 * time.Millisecond)
		do(t, r.SetLimit(0, "me", ""))
		time.Sleep(5 * time.Second)
		if s := r.Snapshot(); s.Limit != 0 || s.InFlight != 0 || s.Steer != "" {
			t.Errorf("the limit is %d, %d in flight, the last move %q; want 0, 0 and none", s.Limit, s.InFlight, s.Steer)
		}
		do(t, r.Set(engine.LimitSetting, engine.Automatic, "me", ""))
		if s := r.PublishNow(); s.Limit != 10 {
			t.Errorf("returned, the limit is %d, want 10", s.Limit)
		}
		do(t, r.SetLimit(0, "me", ""))
		do(t, r.SetLimit(30, "me", ""))
		if s := r.Snapshot(); s.Limit != 30 || s.Ceiling != 100 {
			t.Errorf("the limit is %d, the ceiling %d, want 30 and 100", s.Limit, s.Ceiling)
		}
		cut(t, r)
	})
}

func TestRefusedSteeringChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, p, j := governedRun(10, works(time.Hour))
		r := start(t, cfg)
		var field *engine.FieldError
		if err := r.Set("floor", "13", "me", ""); !errors.As(err, &field) {
			t.Errorf("an error of the governor: %v", err)
		}
		if s := r.PublishNow(); s.Floor != 1 || len(s.Changes) != 0 || len(p.uses) != 0 || len(enginetest.Of[engine.ChangeRow](j)) != 0 {
			t.Errorf("floor %d, changes %v", s.Floor, s.Changes)
		}
		do(t, r.Set("floor", "20", "me", "up"))
		if got, want := describeChanges(r.PublishNow().Changes), "floor 1→20 by me: up; limit 10→20 by me: the lowest limit is 20, the highest 100"; got != want {
			t.Errorf("changes: %s, want %s", got, want)
		}
		if want := (engine.Steering{Governor: "adaptive", Floor: 20, Ceiling: 100, CPUHigh: 80, CPULow: 50, Breaker: "probe", StallAfter: time.Minute}); p.uses[0] != want {
			t.Errorf("the governor uses %+v, want %+v", p.uses[0], want)
		}
		cut(t, r)
	})
}

func TestStallIsReportedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, p, j := governedRun(10, works(time.Hour))
		p.orders(func(r engine.Reading) engine.Orders {
			o := engine.Orders{Limit: r.Limit}
			if n := len(p.read); n >= 3 && n < 6 || n > 8 {
				o.Stall = &engine.Stall{Since: r.LastEnd, Why: fmt.Sprintf("all wait, reading %d", n)}
			}
			return o
		})
		r := start(t, cfg)
		time.Sleep(5500 * time.Millisecond)
		if s := r.Snapshot(); s.Stall == nil || s.Stall.Why != "all wait, reading 5" {
			t.Errorf("the stall is %+v", s.Stall)
		}
		time.Sleep(2 * time.Second)
		if s := r.Snapshot(); s.Stall != nil {
			t.Errorf("after the stall, it is %+v", s.Stall)
		}
		time.Sleep(2 * time.Second)
		if got, want := describeChanges(enginetest.Of[engine.ChangeRow](j)), "stall → by stall warning: all wait, reading 3; stall → by stall warning: all wait, reading 9"; got != want {
			t.Errorf("journaled: %s\nwant %s", got, want)
		}
		cut(t, r)
	})
}

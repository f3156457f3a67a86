package run_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
)

func TestGapBetween(t *testing.T) {
	const tick = 100 * time.Millisecond
	for name, c := range map[string]struct {
		wall, steady time.Duration
		slept, stood time.Duration
		why          string
	}{
		"on time":                            {tick, tick, 0, 0, ""},
		"a busy machine":                     {4 * time.Second, 4 * time.Second, 0, 0, ""},
		"asleep, the steady clock too":       {3 * time.Hour, tick, 3*time.Hour - tick, 0, "the machine slept"},
		"asleep while the steady clock runs": {3*time.Hour + tick, 3*time.Hour + tick, 3 * time.Hour, 3 * time.Hour, "the process was suspended"},
		"stopped":                            {time.Minute + tick, time.Minute + tick, time.Minute, time.Minute, "the process was suspended"},
		"stopped, and asleep meanwhile":      {time.Hour + time.Minute, time.Minute + tick, time.Hour + time.Minute - tick, time.Minute, "the machine slept"},
		"set back by hand":                   {-time.Hour, tick, 0, 0, ""},
		"set forward by hand":                {time.Hour + tick, tick, time.Hour, 0, "the machine slept"},
		"set back while it was stopped":      {-time.Hour, time.Minute + tick, time.Minute, time.Minute, "the process was suspended"},
		"a leap second":                      {tick + time.Second, tick, 0, 0, ""},
		"just short enough":                  {5*time.Second + tick, tick, 0, 0, ""},
		"a second look in the same tick":     {0, 0, 0, 0, ""},
	} {
		if slept, stood, why := run.GapBetween(c.wall, c.steady, tick); slept != c.slept || stood != c.stood || why != c.why {
			t.Errorf("%s: slept %v, stood %v, %q; want %v, %v, %q", name, slept, stood, why, c.slept, c.stood, c.why)
		}
	}
}

// TestNoGapInVirtualTime checks that hours in which nothing happens are not a gap, also during a pause.
func TestNoGapInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, _, _ := governedRun(2, works(2*time.Hour))
		cfg.Settings.SessionTimeout, cfg.Settings.CheckpointEvery = 0, 0
		r := start(t, cfg)
		r.Wait()
		if s := r.Snapshot(); len(s.Changes) != 0 || s.Elapsed != 2*time.Hour {
			t.Errorf("changes %v in %v", s.Changes, s.Elapsed)
		}
	})
}

// TestGapIsExcluded checks that the time of a suspended process counts nowhere, that services send again, and that the
// governor learns of the gap.
func TestGapIsExcluded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := &fakeService{state: engine.ServiceState{Name: "shop"}}
		cfg, p, j := governedRun(3, works(4*time.Hour))
		cfg.Settings.SessionTimeout, cfg.Settings.CheckpointEvery, cfg.Services = 0, time.Hour, []engine.Service{shop}
		p.orders(func(r engine.Reading) engine.Orders {
			return engine.Orders{Limit: r.Limit, Stall: &engine.Stall{Since: r.LastEnd, Why: "all wait"}}
		})
		r := start(t, cfg)
		time.Sleep(30*time.Minute - 500*time.Millisecond)
		time.Sleep(3 * time.Hour) // simulates sleep
		r.ReportGap(3*time.Hour, 3*time.Hour)
		s := r.Snapshot()
		if want := 30*time.Minute - 500*time.Millisecond; s.Elapsed != want || s.Stall != nil || shop.renewed != 1 {
			t.Errorf("after the gap: %v elapsed, stall %v, renewed %d; want %v, none, once", s.Elapsed, s.Stall, shop.renewed, want)
		}
		if got := describeChanges(s.Changes[len(s.Changes)-1:]); got != "sleep →3h0m0s by clock: the machine slept" {
			t.Errorf("the last change is %s", got)
		}
		time.Sleep(time.Second)
		all := p.readings()
		last := all[len(all)-1]
		if last.Slept != 3*time.Hour || last.Span >= 2*time.Second || last.Busy > 1 || last.At.Sub(last.LastEnd) > time.Second {
			t.Errorf("the governor read slept %v, span %v, busy %v, last end %v ago", last.Slept, last.Span, last.Busy, last.At.Sub(last.LastEnd))
		}
		got := r.Wait()
		if got.Totals.Outcomes[engine.OK] != 3 || got.Totals.Peaks.Elapsed != time.Hour || got.Totals.Peaks.Cycle != time.Hour || got.Totals.Peaks.Worked != time.Hour {
			t.Errorf("%v in %v, the cycle took %v; want an hour", got.Totals.Outcomes, got.Totals.Peaks.Elapsed, got.Totals.Peaks.Cycle)
		}
		if gap := got.Totals.Peaks.CheckpointGap; gap > time.Hour {
			t.Errorf("the longest time between checkpoints was %v", gap)
		}
		if n := len(enginetest.Of[engine.ChangeRow](j)); n != len(r.Snapshot().Changes) {
			t.Errorf("%d changes journaled", n)
		}
	})
}

// TestGapMovesTheSchedule checks that cycles begin later by the gap and that the reason is shown. No cycle has to catch
// up, and none counts as late.
func TestGapMovesTheSchedule(t *testing.T) {
	for _, paused := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var began []time.Duration
			first := time.Now()
			program := programFunc(func(s *engine.Session) {
				began = append(began, time.Since(first))
				works(time.Second).Session(s)
			})
			cfg, _, _ := governedRun(1, program)
			cfg.Settings.Cycles, cfg.Settings.TimeScale = 4, 24 // one every 150 s
			r := start(t, cfg)
			time.Sleep(100 * time.Second)
			if paused {
				do(t, r.Pause("me", ""))
			}
			time.Sleep(40 * time.Second)
			r.ReportGap(40*time.Second, 40*time.Second)
			if paused {
				do(t, r.Resume("me"))
			}
			s := r.PublishNow()
			if want := "cycles begin 40 s later than planned: the machine slept for 40 s"; s.LagWhy != want {
				t.Errorf("explained as %q, want %q", s.LagWhy, want)
			}
			got := r.Wait()
			for i, at := range began {
				want := time.Duration(i) * 150 * time.Second
				if i > 0 {
					want += 40 * time.Second
				}
				if at != want {
					t.Errorf("paused %v: cycle %d began after %v, want %v", paused, i, at, want)
				}
			}
			if len(began) != 4 || got.Totals.Peaks.Lag != 0 {
				t.Errorf("%d cycles, the worst lag is %v", len(began), got.Totals.Peaks.Lag)
			}
		})
	}
}

func TestLagReasonNeedsASchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, _, _ := governedRun(1, works(time.Hour))
		r := start(t, cfg)
		time.Sleep(time.Second)
		r.ReportGap(time.Minute, 0)
		if s := r.Snapshot(); s.LagWhy != "" || !strings.HasPrefix(describeChanges(s.Changes), "sleep →1m0s") || s.Elapsed != time.Second {
			t.Errorf("%q, %v, %v elapsed", s.LagWhy, describeChanges(s.Changes), s.Elapsed)
		}
		cut(t, r)
	})
}

func TestStepBetween(t *testing.T) {
	const tick = 100 * time.Millisecond
	for wall, want := range map[time.Duration]time.Duration{
		tick: 0, tick + 50*time.Microsecond: 0, tick - 50*time.Microsecond: 0, -time.Hour + tick: -time.Hour, 0: -tick, tick + time.Second: time.Second,
	} {
		if got := run.StepBetween(wall, tick); got != want {
			t.Errorf("the wall clock advanced by %v in %v: it was set by %v, want %v", wall, tick, got, want)
		}
	}
}

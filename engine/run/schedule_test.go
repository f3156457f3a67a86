package run_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
)

// scheduledRun is a run whose cycles begin every 150 s: one simulated hour each, at 24 simulated hours per hour.
func scheduledRun(p engine.Program, j engine.Journal) run.Config {
	cfg := enginetest.Config(10, p, j)
	cfg.Settings.TimeScale, cfg.Settings.CheckpointEvery = 24, 0
	return cfg
}

// cycleStarts returns when each cycle of a journal's run began, since start.
func cycleStarts(j *enginetest.Journal, start time.Time) []time.Duration {
	var out []time.Duration
	for _, s := range j.Sessions() {
		if s.Agent == 0 {
			out = append(out, s.Started.Sub(start))
		}
	}
	return out
}

func TestCyclesBeginOnSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The second cycle takes 400 s. The next two are late by 250 s and 100 s, and the rest are on time.
		j := &enginetest.Journal{}
		cfg := scheduledRun(programFunc(func(s *engine.Session) {
			s.Clock()
			if s.Cycle == 1 {
				time.Sleep(400 * time.Second)
			}
			s.Row.Outcome = engine.OK
		}), j)
		cfg.Settings.Cycles, cfg.Settings.SessionTimeout = 6, 0
		began := time.Now()
		r := start(t, cfg)
		time.Sleep(600 * time.Second)
		if left := r.PublishNow().Remaining; left != 150*time.Second {
			t.Errorf("with one cycle to come at 750 s, %v are left at 600 s", left)
		}
		got := r.Wait()
		want := []time.Duration{0, 150, 550, 550, 600, 750}
		for i := range want {
			want[i] *= time.Second
		}
		if g := cycleStarts(j, began); !slices.Equal(g, want) {
			t.Errorf("cycles began at %v, want %v", g, want)
		}
		var lags []time.Duration
		for _, b := range enginetest.Of[engine.BarrierRow](j) {
			lags = append(lags, b.Lag/time.Second)
		}
		if want := []time.Duration{0, 0, 250, 100, 0, 0}; !slices.Equal(lags, want) {
			t.Errorf("lags of %v s, want %v", lags, want)
		}
		if got.Totals.Peaks.Lag != 250*time.Second || got.Totals.Peaks.Cycle != 400*time.Second {
			t.Errorf("worst lag %v, longest cycle %v; want 250s, 400s without the waits", got.Totals.Peaks.Lag, got.Totals.Peaks.Cycle)
		}
	})
}

func TestPausesShiftTheSchedule(t *testing.T) {
	for _, how := range []string{"pause", "limit 0", "trouble"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := &enginetest.Journal{}
				cfg := scheduledRun(works(time.Second), j)
				cfg.Settings.Cycles = 4
				began := time.Now()
				r := start(t, cfg)
				for _, at := range []time.Duration{100, 450} { // first between two cycles, then after that
					time.Sleep(time.Until(began.Add(at * time.Second)))
					switch how {
					case "pause":
						do(t, r.Pause("test", ""))
					case "limit 0":
						do(t, r.SetLimit(0, "test", ""))
					default:
						j.Break(engine.ErrNoRoom)
					}
					time.Sleep(200 * time.Second)
					do(t, r.SetLimit(50, "test", ""))
					do(t, r.Resume("test"))
					j.Heal()
				}
				got := r.Wait()
				want := []time.Duration{0, 350 * time.Second, 700 * time.Second, 850 * time.Second}
				if g := cycleStarts(j, began); !slices.Equal(g, want) {
					t.Errorf("cycles began at %v, want %v", g, want)
				}
				if lag := got.Totals.Peaks.Lag; lag != 0 {
					t.Errorf("pauses count as a lag of %v", lag)
				}
			})
		})
	}
}

// TestHours checks that an hour and a half at scale 24 with cycles of an hour is 36 cycles, and that the run does not wait
// for another.
func TestHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		cfg := scheduledRun(works(time.Second), j)
		cfg.Agents, cfg.Settings.Cycles, cfg.Settings.Hours = 1, 0, 1.5
		began := time.Now()
		r := start(t, cfg)
		time.Sleep(time.Hour)
		if s := r.PublishNow(); s.Remaining != 30*time.Minute || s.Total != 0 || s.Cycles != 0 {
			t.Errorf("after an hour %v are left, of %d sessions in %d cycles; want 30m0s, 0, 0", s.Remaining, s.Total, s.Cycles)
		}
		got := r.Wait()
		took(t, began, 35*150*time.Second+time.Second)
		if n := len(enginetest.Of[engine.BarrierRow](j)); n != 36 || got.Ending != engine.EndFinished {
			t.Errorf("%v after %d cycles, want finished after 36", got.Ending, n)
		}
	})
}

// TestHoursCountOverProcesses checks that the hours include the time of all processes of the run.
func TestHoursCountOverProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		cfg := enginetest.Config(1, works(10*time.Minute), j)
		cfg.Settings.Cycles, cfg.Settings.Hours, cfg.Settings.SessionTimeout = 0, 1, 0
		r := start(t, cfg)
		time.Sleep(25 * time.Minute)
		do(t, r.Stop("test", ""))
		if got := r.Wait(); got.Ending != engine.EndStopped || got.Totals.Peaks.Elapsed != 30*time.Minute {
			t.Fatalf("%v after %v, want stopped after 30m0s", got.Ending, got.Totals.Peaks.Elapsed)
		}
		time.Sleep(12 * time.Hour) // no process runs
		j = j.Reopen()
		cfg.Journal, cfg.Resume = j, j.Resumption()
		began := time.Now()
		if got := start(t, cfg).Wait(); got.Ending != engine.EndFinished || got.Totals.Ended() != 6 {
			t.Errorf("%v after %d cycles, want finished after 6", got.Ending, got.Totals.Ended())
		}
		took(t, began, 30*time.Minute)
	})
}

func TestWarmUpGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		cfg := enginetest.Config(1000, &enginetest.Crowd{}, j)
		cfg.Settings.WarmUp, cfg.Settings.WarmUpCycles, cfg.Settings.Cycles = engine.DefaultWarmUp, 2, 12
		r := start(t, cfg)
		r.Wait()
		active := make([]map[int]bool, 12)
		for c := range active {
			active[c] = map[int]bool{}
		}
		for _, s := range j.Sessions() {
			active[s.Cycle][s.Agent] = true
		}
		barriers := enginetest.Of[engine.BarrierRow](j)
		for c := range active {
			share := engine.DefaultWarmUp[min(c/2, 4)]
			if got, want := float64(len(active[c])), share*1000; got < want-60 || got > want+60 || share == 1 && got != want {
				t.Errorf("cycle %d has %v agents, want about %v", c, got, want)
			}
			if got := barriers[c].Active; got != len(active[c]) {
				t.Errorf("barrier %d counts %d active, %d were", c, got, len(active[c]))
			}
			for agent := range active[max(c-1, 0)] {
				if !active[c][agent] {
					t.Errorf("agent %d was active in cycle %d and not in %d", agent, c-1, c)
				}
			}
		}
		if s := r.Snapshot(); s.Ended != s.Total {
			t.Errorf("%d sessions ended, %d were planned", s.Ended, s.Total)
		}
	})
}

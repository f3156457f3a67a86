package run_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
)

// TestEmptyRunEndsImmediately checks that a run without agents, or without chosen agents, ends immediately, whatever its
// length.
func TestEmptyRunEndsImmediately(t *testing.T) {
	for name, change := range map[string]func(*run.Config){
		"no agents":            func(c *run.Config) { c.Agents = 0 },
		"no agents chosen":     func(c *run.Config) { c.Chosen = []int{} },
		"for hours":            func(c *run.Config) { c.Agents, c.Settings.Cycles, c.Settings.Hours = 0, 0, 5 },
		"with a schedule":      func(c *run.Config) { c.Chosen, c.Settings.TimeScale = []int{}, 1 },
		"sequential, warmed":   func(c *run.Config) { c.Agents, c.Settings.Sequential, c.Settings.WarmUp = 0, true, []float64{0.5} },
		"resumed":              func(c *run.Config) { c.Agents, c.Resume = 0, &engine.Resumption{Cycle: 2} },
		"with nothing to keep": func(c *run.Config) { c.Agents, c.Journal = 0, nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				cfg := enginetest.Config(5, works(time.Second), &enginetest.Journal{})
				cfg.Settings.Cycles = 9
				cfg.Success = []engine.Criterion{{Metric: "agents_completed", Op: "=", Bound: 1}}
				change(&cfg)
				r := start(t, cfg)
				got := r.Wait()
				took(t, began, 0)
				if got.Ending != engine.EndFinished || got.Reason != engine.NoAgents || !got.Passed() {
					t.Errorf("%v: %s, passed %v", got.Ending, got.Reason, got.Passed())
				}
				if s := r.Snapshot(); s.Phase != engine.Ended || s.Reason != got.Reason || s.Total != 0 {
					t.Errorf("shown as %v: %s, %d planned", s.Phase, s.Reason, s.Total)
				}
			})
		})
	}
}

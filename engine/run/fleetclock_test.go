package run_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/fleet/fleettest"
	"github.com/throng-sim/throng/engine/run"
)

// TestPauseOverAFleet checks that the clock of a cycle stands still in the process of a worker, too, while the run is paused, and
// continues afterward, however many orders the worker receives.
func TestPauseOverAFleet(t *testing.T) {
	for _, agents := range []int{5, 12} {
		synctest.Test(t, func(t *testing.T) {
			timedOut := func(pool func(run.PoolConfig) (run.WorkerPool, error)) int64 {
				cfg := enginetest.Config(agents, works(10*time.Second), &enginetest.Journal{})
				cfg.Settings.Limit, cfg.Settings.CycleTimeout, cfg.Pool = 2, 24*time.Second, pool
				r := start(t, cfg)
				orders := func() {
					for i := range 6 {
						time.Sleep(500 * time.Millisecond)
						do(t, r.SetLimit(3-i%2, "test", ""))
					}
				}
				orders()
				do(t, r.Pause("test", ""))
				time.Sleep(time.Minute)
				orders()
				do(t, r.Resume("test"))
				return r.Wait().Totals.Outcomes[engine.TimedOut]
			}
			if want, got := timedOut(nil), timedOut(newFleet(t, fleettest.Faults{}).pool(1)); got != want {
				t.Errorf("%d of %d sessions timed out, want %d", got, agents, want)
			}
		})
	}
}

// TestPauseWhileAWorkerClaims checks that a pause holds for a cycle that a worker learns of only after it has received the order to
// pause.
func TestPauseWhileAWorkerClaims(t *testing.T) {
	for after := 100 * time.Millisecond; after < 2*time.Second; after += 50 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			cfg := enginetest.Config(2, works(10*time.Second), &enginetest.Journal{})
			cfg.Settings.CycleTimeout, cfg.Pool = 24*time.Second, newFleet(t, fleettest.Faults{Delay: 400 * time.Millisecond}).pool(1)
			r := start(t, cfg)
			time.Sleep(after)
			do(t, r.Pause("test", ""))
			time.Sleep(time.Minute)
			do(t, r.Resume("test"))
			if got := r.Wait().Totals.Outcomes; got[engine.OK] != 2 {
				t.Errorf("paused after %v: the sessions ended as %v", after, got)
			}
		})
	}
}

package run_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/fleet"
	"github.com/throng-sim/throng/engine/fleet/fleettest"
)

// sluggish is a journal that takes rows slowly.
type sluggish struct{ *enginetest.Journal }

func (j sluggish) Append(rows ...engine.Row) {
	time.Sleep(3 * fleet.LeaseTime)
	j.Journal.Append(rows...)
}

// TestSessionsStayWithTheirWorker checks that a worker keeps the sessions that it asks for while the coordinator takes long to answer: they
// would move from worker to worker and begin again each time.
func TestSessionsStayWithTheirWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		crowd := &enginetest.Crowd{Asks: 4, Work: time.Minute}
		cfg := enginetest.Config(40, crowd, sluggish{&enginetest.Journal{}})
		cfg.Settings.Limit, cfg.Settings.Cycles, cfg.Pool = 20, 2, newFleet(t, fleettest.Faults{}).pool(3)
		if got := start(t, cfg).Wait(); got.Ending != engine.EndFinished {
			t.Errorf("it ended as %v: %s", got.Ending, got.Reason)
		}
		for what, n := range crowd.AllRequests() {
			if n > 1 {
				t.Errorf("request %s was sent %d times", what, n)
			}
		}
	})
}

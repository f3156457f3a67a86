package run_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/fleet/fleettest"
)

// TestRetiredAgentOfALostWorker checks that the session of a retired agent is canceled although its worker was lost before it could do so, and
// another worker executes the session, which would never end.
func TestRetiredAgentOfALostWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, fleettest.Faults{})
		cfg := enginetest.Config(4, programFunc(func(s *engine.Session) {
			<-s.Clock().Context().Done()
			s.Row.Fail("hang", context.Cause(s.Clock().Context()))
		}), &enginetest.Journal{})
		cfg.Settings.Limit, cfg.Settings.Cycles, cfg.Pool = 4, 1, f.pool(2)
		r := start(t, cfg)
		time.Sleep(5 * time.Second)
		f.kill("w0")
		for agent := range 4 {
			do(t, r.Retire(t.Context(), agent, "test"))
		}
		late := time.AfterFunc(time.Hour, func() { _, _ = r.Stop("test", "it takes forever"), r.Stop("test", "it takes forever") })
		defer late.Stop()
		if got := r.Wait(); got.Totals.Outcomes[engine.Canceled] != 4 {
			t.Errorf("it ended as %v: %s, with %v", got.Ending, got.Reason, got.Totals.Outcomes)
		}
	})
}

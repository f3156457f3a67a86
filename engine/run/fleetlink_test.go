package run_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/fleet"
	"github.com/throng-sim/throng/engine/fleet/fleettest"
	"github.com/throng-sim/throng/engine/service/lending"
)

// interrupted is a link that is interrupted while the worker receives its first bundles.
type interrupted struct {
	fleet.Link
	times int
}

func (l *interrupted) Bundle(ctx context.Context, name string) ([]byte, error) {
	if l.times > 0 {
		l.times--
		return nil, errors.New("the connection was interrupted")
	}
	return l.Link.Bundle(ctx, name) //nolint:wrapcheck // as the link says it
}

// TestInterruptedBundle checks that a worker executes sessions of a run although its connection was interrupted while it received the
// scenario.
func TestInterruptedBundle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, fleettest.Faults{})
		cfg := enginetest.Config(4, &enginetest.Crowd{Work: time.Second}, &enginetest.Journal{})
		ctx, end := context.WithCancel(t.Context())
		f.ends["w0"] = end
		f.all.Go(func() {
			_ = fleet.Work(ctx, fleet.WorkerConfig{
				Link: &interrupted{f.bus.Join("w0"), 3},
				Prepare: func(context.Context, []byte, *lending.Borrower, fleet.Part) (*fleet.Prepared, error) {
					return &fleet.Prepared{Program: cfg.Program}, nil
				},
			})
		})
		cfg.Pool = f.pool(0)
		r := start(t, cfg)
		late := time.AfterFunc(time.Hour, func() { _, _ = r.Stop("test", "it takes forever"), r.Stop("test", "it takes forever") })
		defer late.Stop()
		if got := r.Wait(); got.Ending != engine.EndFinished {
			t.Errorf("it ended as %v: %s; the workers are %+v", got.Ending, got.Reason, f.of.Workers())
		}
	})
}

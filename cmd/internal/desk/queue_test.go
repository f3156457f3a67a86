package desk

import (
	"context"
	"errors"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/setup"
)

// TestARunWaitsItsTurn checks that a run that is launched during another starts at its end, that it can be canceled until then, and that
// the next forecast is based on the runs that finished.
func TestARunWaitsItsTurn(t *testing.T) {
	d := open(t, t.TempDir())
	desk := setupDesk{d}
	if f, err := desk.Forecast(t.Context(), order(t, d, nil)); err != nil || f.Run != "" {
		t.Fatalf("before a first run: based on %q, %v", f.Run, err)
	}
	launch(t, d, func(o *setup.Order) { o.Settings.Cycles = 1_000_000 })
	long := liveDesk{d}.Job()
	if got := desk.InProgress(); got != "A run is in progress." {
		t.Errorf("in progress is %q", got)
	}
	queue := func(ctx context.Context) (waits chan bool, ended chan error) {
		waits, ended = make(chan bool, 2), make(chan error, 1)
		next := order(t, d, nil)
		next.Waits = func(now bool) { waits <- now }
		go func() { ended <- desk.Launch(ctx, next, nil) }()
		if !<-waits {
			t.Error("the second run does not wait")
		}
		return waits, ended
	}
	errChanged := errors.New("changed my mind")
	ctx, cancel := context.WithCancelCause(t.Context())
	_, ended := queue(ctx)
	cancel(errChanged)
	if err := <-ended; !errors.Is(err, errChanged) {
		t.Errorf("canceled in the queue: %v", err)
	}

	waits, ended := queue(t.Context())
	if err := d.Stop(true); err != nil {
		t.Fatal(err)
	}
	if <-waits {
		t.Error("it still waits")
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	next := liveDesk{d}.Job()
	<-d.Settled()
	if s := next.Snapshot(); next.ID() == long.ID() || s.Ending != engine.EndFinished {
		t.Errorf("the run %s is %s", next.ID(), s.Ending)
	}
	launch(t, d, func(o *setup.Order) { o.Settings.Cycles = 1_000_000 })
	f, err := desk.Forecast(t.Context(), order(t, d, nil))
	if err != nil || f.Run != next.ID() || f.Basis() != engine.Measured {
		t.Errorf("while another run is in progress: based on %q (%s), %v; want %s", f.Run, f.Basis(), err, next.ID())
	}
	if err := d.Stop(true); err != nil {
		t.Fatal(err)
	}
	<-d.Settled()
	if f, err := desk.Forecast(t.Context(), order(t, d, nil)); err != nil || f.Run != next.ID() || desk.InProgress() != "" {
		t.Errorf("after a run that was stopped: based on %q, %v; want %s", f.Run, err, next.ID())
	}
}

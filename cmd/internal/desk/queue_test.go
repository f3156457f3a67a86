package desk

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite/queue"
	"github.com/throng-sim/throng/ui/runs"
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
	inLine := func(ctx context.Context) (waits chan bool, ended chan error) {
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
	_, ended := inLine(ctx)
	cancel(errChanged)
	if err := <-ended; !errors.Is(err, errChanged) {
		t.Errorf("canceled in the queue: %v", err)
	}

	waits, ended := inLine(t.Context())
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

// elsewhere returns a function that starts a long run in another program of the data folder, which that function's result ends.
func elsewhere(t *testing.T, d *Desk) (occupy func() (free func())) {
	t.Helper()
	other, err := app.Open(app.Options{Data: d.data})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := other.Close(); err != nil {
			t.Error(err)
		}
	})
	return func() func() {
		l, err := setupDesk{d}.launch(t.Context(), order(t, d, func(o *setup.Order) { o.Settings.Cycles = 1_000_000 }))
		if err != nil {
			t.Fatal(err)
		}
		job, err := other.Start(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		return func() {
			if err := job.Run.Shutdown("the test ends it"); err != nil {
				t.Error(err)
			}
			job.Run.Wait()
			if err := job.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestARunWaitsForOtherPrograms checks that a run waits while another program has one in progress, that the queue shows it, that
// another one of the window, which is put at the head of the queue, does not keep it from starting, and that closing the order, the queue
// and the window cancel it.
func TestARunWaitsForOtherPrograms(t *testing.T) {
	data := t.TempDir()
	d := open(t, data)
	occupy := elsewhere(t, d)
	free := occupy()
	begin := func(ctx context.Context) (waits chan bool, ended chan error) {
		waits, ended = make(chan bool, 2), make(chan error, 1)
		next := order(t, d, nil)
		next.Waits = func(now bool) { waits <- now }
		go func() { ended <- setupDesk{d}.Launch(ctx, next, nil) }()
		if !<-waits {
			t.Error("it does not wait")
		}
		return waits, ended
	}
	waiting := func() []runs.Waiting {
		all, err := runsDesk{d}.Waiting(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	errChanged := errors.New("changed my mind")
	ctx, cancel := context.WithCancelCause(t.Context())
	_, ended := begin(ctx)
	if all := waiting(); len(all) != 1 || !strings.HasPrefix(all[0].Work, "run ") || !strings.HasPrefix(all[0].Details, "waits since 20") || strings.Contains(all[0].Details, "process") || !strings.HasPrefix(setupDesk{d}.InProgress(), "In this window, run ") {
		t.Errorf("the queue is %+v, in progress is %q", all, setupDesk{d}.InProgress())
	}
	if all, err := (runsDesk{d}).Runs(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("a run that has not begun is listed: %d, %v", len(all), err)
	}
	cancel(errChanged)
	if err := <-ended; !errors.Is(err, errChanged) {
		t.Errorf("canceled by the order: %v", err)
	}
	_, ended = begin(t.Context())
	if err := (runsDesk{d}).CancelWaiting(t.Context(), waiting()[0].ID); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, queue.ErrCanceled) {
		t.Errorf("canceled in the queue: %v", err)
	}
	if all, err := (runsDesk{d}).Runs(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("runs that never began are kept: %d, %v", len(all), err)
	}

	waits, ended := begin(t.Context())
	_, endNext := begin(t.Context()) // in this window, until the other one ends
	all := waiting()
	for ; len(all) < 2; all = waiting() {
		runtime.Gosched()
	}
	next := slices.IndexFunc(all, func(w runs.Waiting) bool { return !strings.HasPrefix(w.Work, "run ") })
	if err := (runsDesk{d}).StartNext(t.Context(), all[next].ID); err != nil {
		t.Error(err)
	}
	if !slices.ContainsFunc(waiting(), func(w runs.Waiting) bool {
		return w.ID == all[next].ID && strings.HasPrefix(w.Details, "priority 1, waits since 20")
	}) {
		t.Errorf("with priority: %+v", waiting())
	}
	free()
	if <-waits {
		t.Error("it still waits")
	}
	for _, end := range []chan error{ended, endNext} {
		if err := <-end; err != nil {
			t.Fatal(err)
		}
	}
	<-d.Settled()

	defer occupy()()
	_, ended = begin(t.Context())
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, errStopped) {
		t.Errorf("canceled by closing the window: %v", err)
	}
}

package experimenting

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/experiments"
	"github.com/throng-sim/throng/cmd/internal/app/experiments/steering"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment"
	screen "github.com/throng-sim/throng/ui/experiments"
)

// window is whose orders these are.
const window = "window"

var (
	errClosed     = errors.New("the window is being closed")
	errInProgress = errors.New("the experiment is in progress already")
	errIdle       = errors.New("the experiment is not in progress")
)

// execution is an experiment that this process executes. The lock of the desk guards its fields.
type execution struct {
	*experiments.Execution
	cancel context.CancelCauseFunc // ends waiting for its turn
	began  time.Time               // zero while it waits for its turn
	behind string                  // what it waits for; "" if that is unknown
	done   int                     // runs that ended since then
	stops  int                     // orders to stop
}

// end stops the execution, or ends its wait. The caller does not have the lock, which the events of the execution need.
func (e *execution) end(cut bool, why string) {
	if !e.Stop(cut, "user", why) {
		e.cancel(errors.New(why))
	}
}

// describe adds what only the executing process knows.
func (e *execution) describe(one *screen.Entry) {
	one.Problem = ""
	switch {
	case e.stops > 0:
		one.State = screen.Stopping
	case e.began.IsZero():
		one.State, one.Waits = screen.Queued, e.behind
	case one.State == screen.Running && e.done > 0:
		one.Left = time.Since(e.began) / time.Duration(e.done) * time.Duration(one.Total-one.Done-one.Skipped)
	}
}

// Unallowed returns the addresses that missing runs would call and that the user has not allowed yet.
func (d *Desk) Unallowed(ctx context.Context, path string) ([]engine.Destination, error) {
	x, err := d.current(path)
	if err != nil {
		return nil, err
	}
	s, err := x.Status(ctx)
	if err != nil {
		return nil, err
	}
	return x.Unallowed(s)
}

// Run starts or continues the missing runs, and allows the addresses. It undoes a pause.
func (d *Desk) Run(ctx context.Context, path string, allow []string) error {
	x, err := d.current(path)
	if err == nil {
		x, err = x.Allowing(allow)
	}
	if err != nil {
		return err
	}
	if by := x.Orders.Executing(); by != nil && by.Process != os.Getpid() {
		return fmt.Errorf("process %d (%s) executes the experiment; pause or stop it from here, or wait for its end", by.Process, by.Program)
	}
	s, err := x.Status(ctx)
	if err != nil {
		return err
	}
	if err := x.Consent(s); err != nil { // before it waits for its turn: the user may be away then
		return err
	}
	if err := x.Orders.Resume(); err != nil && !errors.Is(err, steering.ErrDamaged) {
		return err
	}
	return d.execute(context.WithoutCancel(ctx), x)
}

// execute begins the execution, which ends after the order.
func (d *Desk) execute(ctx context.Context, x *experiments.Experiment) error {
	file := x.Orders.File()
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return errClosed
	case d.running[file] != nil:
		return errInProgress
	}
	ctx, cancel := context.WithCancelCause(ctx)
	e := &execution{cancel: cancel}
	locked := func(f func()) {
		d.mu.Lock()
		defer d.mu.Unlock()
		f()
		d.changed()
	}
	var wait func() error
	e.Execution, wait = x.Execute(ctx, experiments.Events{
		Waiting: func(holder string) { locked(func() { e.behind = Here(holder) }) },
		Planned: func(*experiments.Status) {
			locked(func() {
				if e.began.IsZero() {
					e.began = time.Now()
				}
			})
		},
		Changed: func(_ *experiments.Status, r *experiments.Run) {
			locked(func() {
				if !r.State.Missing() {
					e.done++
				}
			})
		},
		Paused: func(string) { d.changed() },
		Warn:   func(text string) { slog.Warn(text, "experiment", file) },
	})
	d.running[file] = e
	delete(d.problems, file)
	d.changed()
	d.working.Go(func() {
		err := wait()
		cancel(nil)
		locked(func() {
			delete(d.running, file)
			if err != nil && e.stops == 0 {
				d.problems[file] = err.Error()
			}
		})
	})
	return nil
}

// of returns the orders for an experiment, and its execution in this process; nil if there is none.
func (d *Desk) of(path string) (*steering.Orders, *execution, error) {
	o, err := steering.Of(d.data, path)
	if err != nil {
		return nil, nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return o, d.running[o.File()], nil
}

// Pause starts no further run until Continue. Runs in progress continue.
func (d *Desk) Pause(_ context.Context, path string) error {
	defer d.changed()
	o, e, err := d.of(path)
	switch {
	case err != nil:
		return err
	case e != nil:
		return e.Pause(window)
	}
	return o.Pause(window)
}

// Continue undoes Pause.
func (d *Desk) Continue(_ context.Context, path string) error {
	defer d.changed()
	o, e, err := d.of(path)
	switch {
	case err != nil:
		return err
	case e != nil:
		return e.Resume()
	}
	return o.Resume()
}

// Stop ends the execution after the sessions in progress, or without them if it is stopping already. Run continues it.
func (d *Desk) Stop(_ context.Context, path string) error {
	defer d.changed()
	o, e, err := d.of(path)
	if err != nil {
		return err
	}
	const why = "it was stopped in the window"
	if e != nil {
		d.mu.Lock()
		e.stops++
		cut := e.stops > 1
		d.mu.Unlock()
		e.end(cut, why)
		return nil
	}
	if o.Executing() == nil {
		return errIdle
	}
	return o.Stop(window, why, false)
}

// MoreSeeds adds seeds to every point, in the file.
func (d *Desk) MoreSeeds(_ context.Context, path string, n int) error {
	if _, err := experiments.Extend(d.data, path, experiment.Changes{Seeds: n}); err != nil {
		return err
	}
	return d.ordered(path, func(*steering.Orders) error { return nil })
}

// Skip leaves a run out, or takes it back.
func (d *Desk) Skip(_ context.Context, path, run string, undo bool) error {
	return d.ordered(path, func(o *steering.Orders) error { return o.Skip([]string{run}, undo) })
}

// First has a run begin before all others.
func (d *Desk) First(_ context.Context, path, run string) error {
	return d.ordered(path, func(o *steering.Orders) error { return o.First([]string{run}) })
}

// ordered changes the orders. An execution in this process looks for them.
func (d *Desk) ordered(path string, change func(*steering.Orders) error) error {
	defer d.changed()
	o, e, err := d.of(path)
	if err == nil {
		err = change(o)
	}
	if e != nil {
		e.Look()
	}
	return err
}

package desk

import (
	"context"
	"errors"
	"sync"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/desk/experimenting"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/calibrate"
	"github.com/throng-sim/throng/ui/live"
)

var (
	errBusy    = errors.New("a run or a calibration is in progress in this window; stop it, or wait for its end")
	errStopped = errors.New("the window is being closed")
)

// work is what a window works on: at most one run or calibration at a time.
type work struct {
	mu      sync.Mutex
	closed  bool
	busy    bool             // a run or calibration is starting, in progress or being closed
	giveUp  func(error)      // cancels the calibration in progress, writing the population of a run, or waiting for others; nil if none
	behind  string           // the run that another program has in progress, which the launch waits for; "" if none
	stops   int              // number of stop orders while a run was starting
	job     *app.Job         // nil while none is in progress
	shown   *live.Job        // the newest run
	sweep   *calibrate.State // the newest calibration; nil if none
	settled chan struct{}    // closed while nothing is in progress
	aside   aside
}

// begin reserves the window for a run or calibration, so that only one is in progress. A caller that receives a channel must
// call end with it.
func (w *work) begin() (settled chan struct{}, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, errStopped
	}
	if w.busy || w.aside.busy {
		return nil, errBusy
	}
	w.busy, w.stops, w.settled = true, 0, make(chan struct{})
	return w.settled, nil
}

func (w *work) end(settled chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy, w.job, w.giveUp = false, nil, nil
	close(settled)
}

// show makes a run the one in progress. leave reports whether the window was closed meanwhile, and stops counts stop orders.
func (w *work) show(job *app.Job, shown *live.Job) (leave bool, stops int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.job, w.shown = job, shown
	return w.closed, w.stops
}

// current returns the run in progress; nil if there is none.
func (w *work) current() *app.Job {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.job
}

// Job returns the newest run of this process.
func (w *work) Job() *live.Job {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.shown
}

// Settled is closed when the run in progress has ended and is closed.
func (w *work) Settled() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.settled
}

// InProgress says what is in progress, which another run waits for; "" if nothing is.
func (w *work) InProgress() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case !w.busy && w.aside.busy:
		return "A survey is in progress."
	case !w.busy:
		return ""
	case w.sweep != nil && w.sweep.Running:
		return "A calibration is in progress."
	case w.behind != "":
		if here := experimenting.Here(w.behind); here != w.behind {
			return "In this window, " + here + "."
		}
		return "Another program works: " + w.behind + "."
	}
	return "A run is in progress."
}

// Stop stops the run in progress, or one that is starting as soon as it has begun. Sessions in flight complete first, unless cut
// is set.
func (w *work) Stop(cut bool) error {
	times := 1
	if cut {
		times = 2
	}
	w.mu.Lock()
	job := w.job
	if job == nil && w.busy {
		w.stops = times
	}
	w.mu.Unlock()
	w.cancel(errStopped)
	if job == nil {
		return nil
	}
	if job.Run.Snapshot().Phase == engine.Draining { // it was stopped before
		times--
	}
	return stop(job, times)
}

// cancel cancels the calibration in progress, or writing the population of a run.
func (w *work) cancel(why error) {
	w.mu.Lock()
	giveUp := w.giveUp
	w.mu.Unlock()
	if giveUp != nil {
		giveUp(why)
	}
}

// stop stops a run as the user; the second time it cancels the sessions in flight.
func stop(job *app.Job, times int) error {
	for range times {
		if err := job.Run.Stop("user", "the window was closed"); err != nil {
			return err
		}
	}
	return nil
}

// close rejects new work and ends the work in progress. The returned channel is closed when it is complete.
func (w *work) close() (settled chan struct{}) {
	w.mu.Lock()
	w.closed = true
	settled = w.settled
	w.mu.Unlock()
	w.cancel(errStopped)
	if job := w.leave(engine.QuitReason); job != nil {
		<-job.Run.Done()
	}
	w.closeAside()
	return settled
}

// leave ends the run in progress within seconds, and returns it; nil if there is none.
func (w *work) leave(reason string) *app.Job {
	job := w.current()
	if job != nil {
		_ = job.Run.Shutdown(reason) // the run may have ended
	}
	return job
}

// calibrating starts a calibration, which giveUp cancels.
func (w *work) calibrating(giveUp func(error)) {
	w.mu.Lock()
	w.sweep, w.giveUp = &calibrate.State{Running: true, Doing: "looking at the machine"}, giveUp
	closed := w.closed // the window was closed meanwhile
	w.mu.Unlock()
	if closed {
		giveUp(errStopped)
	}
}

// report stores the state of the calibration.
func (w *work) report(now *calibrate.State) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sweep = now
}

// State returns the newest calibration of this process.
func (w *work) State() *calibrate.State {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sweep
}

// waits reports whether the launch in progress waits for another program.
func (w *work) waits() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.behind != ""
}

// waiting returns a function that receives the holder that a launch waits for, and one to call after the launch. Meanwhile the end of
// ctx or stopping the work cancels it.
func (w *work) waiting(ctx context.Context, giveUp func(error), tell func(bool)) (hear func(holder string), over func()) {
	finished := func() bool { return true }
	began := false
	set := func(giveUp func(error), behind string) (stopped bool) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.giveUp, w.behind = giveUp, behind
		return w.closed || w.stops > 0
	}
	hear = func(holder string) {
		stopped := set(giveUp, holder)
		if !began {
			began, finished = true, context.AfterFunc(ctx, func() { giveUp(context.Cause(ctx)) })
			tell(true)
		}
		if stopped {
			giveUp(errStopped)
		}
	}
	over = func() {
		if began {
			finished()
			set(nil, "")
			tell(false)
		}
	}
	return hear, over
}

// writing returns a function that writes a population and reports the progress to tell. The end of ctx or stopping the work
// cancels it.
func (w *work) writing(ctx context.Context, giveUp func(error), tell func(done, total int)) func(done, total int) {
	finished := func() bool { return true }
	return func(done, total int) {
		w.mu.Lock()
		begins := w.giveUp == nil && done < total
		stopped := w.closed || w.stops > 0
		if w.giveUp = giveUp; done == total {
			w.giveUp = nil
		}
		w.mu.Unlock()
		switch {
		case begins:
			finished = context.AfterFunc(ctx, func() { giveUp(context.Cause(ctx)) })
		case done == total:
			finished()
		}
		if stopped && done < total {
			giveUp(errStopped)
		}
		if tell != nil {
			tell(done, total)
		}
	}
}

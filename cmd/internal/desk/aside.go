package desk

import (
	"context"
	"errors"
	"log/slog"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/engine"
)

// aside is the survey that is in progress while the run of the window is paused. That run keeps its turn in the store and its place in
// Live. It may continue meanwhile, as runs of an experiment do: the survey starts from a checkpoint and shares nothing with it.
type aside struct {
	busy    bool          // a survey is starting, in progress or being closed
	job     *app.Job      // nil until it has started
	settled chan struct{} // closed at the end of the survey; nil before the first
}

// paused reports whether the run of the window is paused, so that agents can be asked.
func (w *work) paused() bool {
	job := w.current()
	return job != nil && job.Run.Snapshot().Phase == engine.Paused
}

// beginAside reserves the window for a survey next to its paused run. A caller that receives no error must call endAside.
func (w *work) beginAside() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		return errStopped
	case w.aside.busy:
		return errors.New("a survey is in progress in this window; stop it, or wait for its end")
	}
	w.aside = aside{busy: true, settled: make(chan struct{})}
	return nil
}

func (w *work) endAside() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.aside.busy, w.aside.job = false, nil
	close(w.aside.settled)
}

// closeAside ends the survey in progress within seconds, and waits until it is closed. The window was closed before.
func (w *work) closeAside() {
	w.mu.Lock()
	a := w.aside
	w.mu.Unlock()
	if a.job != nil {
		_ = a.job.Run.Shutdown(engine.QuitReason) // it may have ended
	}
	if a.busy {
		<-a.settled
	}
}

// askAside starts a survey next to the paused run of the window.
func (d *Desk) askAside(ctx context.Context, l app.Launch) (run engine.RunID, err error) {
	if err := d.beginAside(); err != nil {
		return "", err
	}
	l.Part, l.Telemetry = &app.Part{}, d.elsewhere()
	l.Telemetry.Endpoint = nil // which has the run of the window
	if d.log != nil {
		l.Log = slog.New(d.log.runs)
	}
	job, err := d.app.Start(context.WithoutCancel(ctx), l)
	if err != nil {
		d.endAside()
		return "", err
	}
	d.notify(job, job.Record.DisplayName())
	d.mu.Lock()
	d.aside.job = job
	leave := d.closed
	d.mu.Unlock()
	if leave {
		_ = job.Run.Shutdown(engine.QuitReason)
	}
	go func() {
		if err := job.Close(); err != nil {
			slog.Error("cannot write the end of the survey; you can resume it", "run", job.Record.ID, "error", err)
		}
		d.endAside()
	}()
	return job.Record.ID, nil
}

// StopSurvey stops a survey that is in progress in this window.
func (d studyDesk) StopSurvey(_ context.Context, run engine.RunID) error {
	d.mu.Lock()
	jobs := []*app.Job{d.job, d.aside.job}
	d.mu.Unlock()
	for _, job := range jobs {
		if job != nil && job.Record.ID == run {
			return job.Run.Stop("user", "")
		}
	}
	return errors.New("the survey is not in progress in this window; stop it where it was started")
}

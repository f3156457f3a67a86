package ui

import (
	"strings"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/experiments"
)

// WithoutStopEvent has the toolkit end without its last event, and returns what that would do, for the caller to run afterward. The
// toolkit (2.8.1) queues the event for another goroutine and closes its queue at the same time: if that goroutine is late, it panics
// with "send on closed channel", or the program waits for the event forever.
func WithoutStopEvent(app fyne.App) (stopped func()) {
	l, ok := app.Lifecycle().(interface {
		OnStopped() func()
		SetOnStoppedHookExecuted(f func())
	})
	if !ok {
		return func() {}
	}
	stopped = l.OnStopped()
	l.SetOnStoppedHookExecuted(nil)
	app.Lifecycle().SetOnStopped(nil)
	if stopped == nil {
		return func() {}
	}
	return stopped
}

// unfinished is what closing the window stops.
type unfinished struct {
	run, calibration, launch bool // a launch waits to start
	experiments              []experiments.Work
}

// unfinished returns what closing the window would stop now.
func (a *App) unfinished() (u unfinished) {
	s := a.desk.Calibrate.State()
	u.calibration, u.launch = s != nil && s.Running, a.setup.Waiting()
	select {
	case <-a.desk.Store.Settled():
	default: // a launch that waits is not settled either
		u.run = !u.calibration && (!u.launch || a.desk.Runs.Busy() != "")
	}
	if a.desk.Experiments != nil {
		u.experiments = a.desk.Experiments.Working()
	}
	return u
}

// question asks whether to stop; the title is "" if there is nothing to stop.
func (u unfinished) question() (title, text string) {
	var lines []string
	add := func(of, line string) {
		if title == "" {
			title = of
		}
		lines = append(lines, line)
	}
	if u.run {
		add("A run is in progress", "Throng waits for the sessions in flight of the run and takes a checkpoint. You can resume it in Runs.")
	}
	if u.calibration {
		add("A calibration is in progress", "The calibration is canceled, and its results are discarded.")
	}
	for _, w := range u.experiments {
		if w.Queued {
			add("An experiment is queued", "The experiment “"+w.Title+"” leaves the queue. Start it again in Experiments.")
			continue
		}
		add("An experiment is in progress", "The experiment “"+w.Title+"” stops. It continues later with Experiments > Continue.")
	}
	if u.launch {
		add("A launch is queued", "The launch that is queued in Setup will be lost.")
	}
	return title, strings.Join(lines, "\n\n")
}

package ui

import (
	"errors"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/experiments"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
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

// close ends the program. It asks about unsaved edits and about what is in progress, and waits for a run.
func (a *App) close() {
	if a.editor.screen.Leave(a.close) || a.wizard != nil && a.wizard.Leave(a.close) || a.designer != nil && a.designer.Leave(a.close) {
		return
	}
	title, text := a.unfinished().question()
	if title == "" {
		quit(a.app)
		return
	}
	if a.closing {
		return
	}
	a.closing = true
	ask := dialog.NewCustomConfirm(title, "Stop and close", "Keep running", words.NewParagraph(a.win, text), func(yes bool) {
		if !yes {
			a.closing = false
			return
		}
		a.stopAndClose()
	}, a.win)
	widgets.Ask(a.win, ask, ask.Confirm)
}

// stopAndClose stops the run and quits when all its data is written.
func (a *App) stopAndClose() {
	select {
	case <-a.desk.Store.Settled(): // closing the store stops experiments
		quit(a.app)
		return
	default:
	}
	cut := widget.NewButton("Close now", nil)
	state := widget.NewLabel("Stopping: waiting for sessions in flight, then taking a checkpoint.")
	wait := dialog.NewCustomWithoutButtons("Closing", container.NewVBox(state, widget.NewProgressBarInfinite(), container.NewCenter(cut)), a.win)
	stop := func(cut bool) {
		async.Work(func() (struct{}, error) { return struct{}{}, a.desk.Store.Stop(cut) },
			func(_ struct{}, err error) {
				if err != nil && !errors.Is(err, engine.ErrEnded) {
					state.SetText(err.Error())
				}
			})
	}
	cut.OnTapped = func() {
		cut.Disable()
		state.SetText("Canceling the sessions in flight. They run again when the run is resumed.")
		stop(true)
	}
	wait.Show()
	stop(false)
	async.Work(func() (struct{}, error) {
		<-a.desk.Store.Settled()
		return struct{}{}, nil
	}, func(struct{}, error) { quit(a.app) })
}

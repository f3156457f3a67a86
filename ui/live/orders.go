package live

import (
	"context"
	"errors"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// The author and reason of orders in the journal.
const (
	user   = "user"
	byHand = "by hand"
)

// orders are the buttons that control the run, and the result of the last order.
type orders struct {
	screen  *Screen
	job     *Job
	buttons *fyne.Container
	notice  *widgets.Notice

	pause, checkpoint, broadcastButton, stop, export, results *widget.Button

	phase     engine.Phase    // as drawn
	past      bool            // the history is shown, so orders are not possible
	held      bool            // paused by the user
	waiting   map[string]bool // orders in progress
	cut       bool            // the sessions in flight were canceled
	asking    *broadcastForm  // the open form for a broadcast
	adjusting *adjustForm
}

func newOrders(s *Screen) *orders {
	o := &orders{screen: s, notice: widgets.NewNotice(), waiting: map[string]bool{}}
	o.pause = widget.NewButtonWithIcon("Pause", theme.MediaPauseIcon(), o.pauseOrResume)
	o.checkpoint = widget.NewButtonWithIcon("Checkpoint now", theme.DocumentSaveIcon(), o.takeCheckpoint)
	o.broadcastButton = widget.NewButtonWithIcon("Broadcast…", theme.MailComposeIcon(), o.askBroadcast)
	o.stop = widget.NewButtonWithIcon("Stop", theme.MediaStopIcon(), o.stopOrCut)
	o.export = widget.NewButtonWithIcon("Export CSV…", theme.DownloadIcon(), o.exportFiles)
	o.results = widget.NewButtonWithIcon("Show results", theme.ListIcon(), func() { s.toResults(o.job.ID()) })
	o.results.Importance = widget.HighImportance
	o.results.Hide()
	o.buttons = container.NewHBox(o.pause, o.checkpoint, o.broadcastButton, o.stop, o.export, o.results)
	return o
}

func (o *orders) begin(job *Job) {
	o.job, o.cut = job, false
	clear(o.waiting)
	o.report("", widgets.Neutral)
}

// draw updates the buttons for the run and the orders in progress.
func (o *orders) draw(s *engine.Snapshot) {
	moved := o.phase != s.Phase || o.held != held(s)
	o.phase, o.held = s.Phase, held(s)
	over, draining := s.Phase == engine.Ended, s.Phase == engine.Draining
	if moved {
		o.pause.Hidden, o.checkpoint.Hidden, o.broadcastButton.Hidden, o.stop.Hidden, o.results.Hidden = over, over, over, over, !over
		o.paint()
		o.screen.header.bar.Refresh() // the buttons' widths have changed
	}
	now := !o.past
	enable(o.pause, now && !draining && !o.waiting["Pause"] && !o.waiting["Resume"])
	enable(o.checkpoint, now && !draining && !o.waiting["Checkpoint now"])
	enable(o.broadcastButton, now && !draining && !o.waiting[broadcastOrder])
	enable(o.stop, now && !o.waiting["Stop"] && !o.waiting["Cut now"] && !o.cut)
	enable(o.export, !o.waiting["Export CSV"])
}

// open reports whether the run takes orders.
func (o *orders) open() bool { return o.phase != engine.Ended && !o.past }

// paint sets the buttons' texts.
func (o *orders) paint() {
	pause, icon := "Pause", theme.MediaPauseIcon()
	if o.held {
		pause, icon = "Resume", theme.MediaPlayIcon()
	}
	o.pause.Text, o.pause.Icon = pause, icon
	stop, importance := "Stop", widget.MediumImportance
	if o.phase == engine.Draining {
		stop, importance = "Cut now", widget.DangerImportance
	}
	o.stop.Text, o.stop.Importance = stop, importance
	o.buttons.Refresh()
}

func enable(b *widget.Button, on bool) {
	switch {
	case b.Disabled() == !on:
	case on:
		b.Enable()
	default:
		b.Disable()
	}
}

// held reports whether the user paused the run. The journal can pause it too, and the user cannot undo that.
func held(s *engine.Snapshot) bool {
	if s.Phase != engine.Paused {
		return false
	}
	for i := len(s.Changes) - 1; i >= 0; i-- {
		if c := &s.Changes[i]; c.What == "phase" {
			return c.New == engine.Paused.String()
		}
	}
	return false
}

// order sends an order to the run in the background, then calls then.
func (o *orders) order(name string, do func(Run) error, then func()) {
	job := o.job
	o.waiting[name] = true
	o.report("", widgets.Neutral)
	o.again()
	async.Work(func() (struct{}, error) { return struct{}{}, do(job.Run) }, func(_ struct{}, err error) {
		if o.job != job { // another run started meanwhile
			return
		}
		delete(o.waiting, name)
		if err != nil {
			o.say(name, err)
		} else if then != nil {
			then()
		}
		o.again()
	})
}

// again draws the current state of the run.
func (o *orders) again() {
	o.screen.Collect()
	o.screen.draw()
}

// say shows that an order failed.
func (o *orders) say(name string, err error) {
	text, tone := name+" failed: "+err.Error()+". Nothing has changed.", widgets.Bad
	switch {
	case errors.Is(err, engine.ErrEnded):
		text, tone = name+" is not possible: the run has ended.", widgets.Warning
	case errors.Is(err, engine.ErrNoRoom):
		text = name + " failed: " + err.Error() + ". No stored data is lost. Free some disk space and try again."
	}
	o.report(text, tone)
}

// report shows a sentence below the buttons.
func (o *orders) report(text string, tone widgets.Tone) {
	if o.notice.Text() != text {
		o.notice.Say(text, tone)
		o.screen.page.again()
	}
}

func (o *orders) pauseOrResume() {
	if o.held {
		o.order("Resume", func(r Run) error { return r.Resume(user) }, nil)
		return
	}
	o.order("Pause", func(r Run) error { return r.Pause(user, byHand) }, nil)
}

func (o *orders) takeCheckpoint() {
	o.order("Checkpoint now", func(r Run) error { return r.Checkpoint(context.Background(), byHand) }, nil)
}

// stopOrCut stops the run; the second time it cancels the sessions in flight.
func (o *orders) stopOrCut() {
	if o.phase == engine.Draining {
		o.order("Cut now", func(r Run) error { return r.Stop(user, byHand) }, func() { o.cut = true })
		return
	}
	o.order("Stop", func(r Run) error { return r.Stop(user, byHand) }, nil)
}

func (o *orders) exportFiles() {
	s, run := o.screen, o.job.ID()
	s.pickPath(func(dir string) {
		var path string
		o.order("Export CSV", func(Run) (err error) {
			path, err = s.desk.Export(context.Background(), run, dir)
			return err
		}, func() { o.report("Exported to "+path, widgets.Good) })
	})
}

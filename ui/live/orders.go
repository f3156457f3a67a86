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

// Who gives the orders, and why, as the journal keeps it.
const (
	user   = "user"
	byHand = "by hand"
)

// orders are the buttons that have the run do something, and what came of it.
type orders struct {
	screen  *Screen
	job     *Job
	buttons *fyne.Container
	notice  *widgets.Notice

	pause, checkpoint, tellAgents, stop, export, results *widget.Button

	phase     engine.Phase    // as drawn
	past      bool            // a moment is shown that is past: what is ordered would be of another
	held      bool            // paused by a person
	waiting   map[string]bool // orders that are on their way
	cut       bool            // what is in flight was cut
	asking    *tellForm       // the newest that was shown, as the next
	adjusting *adjustForm
}

func newOrders(s *Screen) *orders {
	o := &orders{screen: s, notice: widgets.NewNotice(), waiting: map[string]bool{}}
	o.pause = widget.NewButtonWithIcon("Pause", theme.MediaPauseIcon(), o.pauseOrResume)
	o.checkpoint = widget.NewButtonWithIcon("Checkpoint now", theme.DocumentSaveIcon(), o.takeCheckpoint)
	o.tellAgents = widget.NewButtonWithIcon("Tell agents…", theme.MailComposeIcon(), o.askWhatToTell)
	o.stop = widget.NewButtonWithIcon("Stop", theme.MediaStopIcon(), o.stopOrCut)
	o.export = widget.NewButtonWithIcon("Export CSV…", theme.DownloadIcon(), o.exportFiles)
	o.results = widget.NewButtonWithIcon("See results", theme.ListIcon(), func() { s.toResults(o.job.ID()) })
	o.results.Importance = widget.HighImportance
	o.results.Hide()
	o.buttons = container.NewHBox(o.pause, o.checkpoint, o.tellAgents, o.stop, o.export, o.results)
	return o
}

func (o *orders) begin(job *Job) {
	o.job, o.cut = job, false
	clear(o.waiting)
	o.tell("", widgets.Neutral)
}

// draw brings the buttons in line with the run and with the orders on their way.
func (o *orders) draw(s *engine.Snapshot) {
	moved := o.phase != s.Phase || o.held != held(s)
	o.phase, o.held = s.Phase, held(s)
	over, draining := s.Phase == engine.Ended, s.Phase == engine.Draining
	if moved {
		o.pause.Hidden, o.checkpoint.Hidden, o.tellAgents.Hidden, o.stop.Hidden, o.results.Hidden = over, over, over, over, !over
		o.paint()
		o.screen.header.bar.Refresh() // buttons have other widths
	}
	now := !o.past
	enable(o.pause, now && !draining && !o.waiting["Pause"] && !o.waiting["Resume"])
	enable(o.checkpoint, now && !draining && !o.waiting["Checkpoint now"])
	enable(o.tellAgents, now && !draining && !o.waiting[tellOrder])
	enable(o.stop, now && !o.waiting["Stop"] && !o.waiting["Cut now"] && !o.cut)
	enable(o.export, !o.waiting["Export CSV"])
}

// open reports whether the run takes orders.
func (o *orders) open() bool { return o.phase != engine.Ended && !o.past }

// paint gives the buttons the words for what they would do now.
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

// held reports whether a person paused the run: a journal in trouble does so too, and nobody can undo that.
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

// order has the run do something that a person asked for.
func (o *orders) order(name string, do func(Run) error, then func()) {
	job := o.job
	o.waiting[name] = true
	o.tell("", widgets.Neutral)
	o.again()
	async.Work(func() (struct{}, error) { return struct{}{}, do(job.Run) }, func(_ struct{}, err error) {
		if o.job != job { // another run began meanwhile
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

// again draws what the run says now.
func (o *orders) again() {
	o.screen.Collect()
	o.screen.draw()
}

// say tells that an order was not carried out.
func (o *orders) say(name string, err error) {
	text, tone := name+" did not work: "+err.Error()+". Nothing else has changed.", widgets.Bad
	switch {
	case errors.Is(err, engine.ErrEnded):
		text, tone = name+" came too late: the run has ended.", widgets.Warning
	case errors.Is(err, engine.ErrNoRoom):
		text = name + " did not work: " + err.Error() + ". Nothing that was kept is lost; make room and try again."
	}
	o.tell(text, tone)
}

// tell shows a sentence below the buttons.
func (o *orders) tell(text string, tone widgets.Tone) {
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

// stopOrCut stops at first, and then cuts what is in flight.
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
		}, func() { o.tell("Exported to "+path, widgets.Good) })
	})
}

package live

import (
	"context"
	"errors"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/export"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// The author and reason of orders in the journal.
const (
	user   = view.User
	byHand = "by hand"
)

// orders are the buttons that control the run, and the result of the last order. Every button keeps its place and its
// meaning: Show results and Resume appear at the left of the others.
type orders struct {
	screen  *Screen
	job     *Job
	buttons *fyne.Container
	notice  notice

	results, resume, pause, stop, more *widget.Button

	// In the menus of stop and more.
	stopRun, forceStop, checkpoint, broadcastMessage, ask, export, adjustRun, details command

	phase     engine.Phase    // as drawn
	ending    engine.Ending   // as drawn
	past      bool            // the history is shown, so orders are not possible
	held      bool            // paused by the user
	waiting   map[string]bool // orders in progress
	cut       bool            // the sessions in flight were canceled
	asking    *broadcastForm  // the open form for a broadcast
	adjusting *adjustForm
}

// command is an entry of a menu.
type command struct {
	name string
	icon fyne.Resource
	do   func()
	can  func() bool
}

// run carries out the command if it is possible.
func (c *command) run() {
	if c.can() {
		c.do()
	}
}

func newOrders(s *Screen) *orders {
	o := &orders{screen: s, waiting: map[string]bool{}}
	o.results = widget.NewButtonWithIcon("Show results", theme.ListIcon(), func() { s.toResults(o.job.ID()) })
	o.resume = widget.NewButtonWithIcon("Resume", theme.MediaPlayIcon(), o.resumeRun)
	o.resume.Importance = widget.HighImportance
	o.pause = widget.NewButtonWithIcon("Pause", theme.MediaPauseIcon(), o.pauseRun)
	o.stop = widget.NewButtonWithIcon("Stop", theme.MenuDropDownIcon(), func() { o.drop(o.stop, &o.stopRun, &o.forceStop) })
	o.more = widget.NewButtonWithIcon("More", theme.MenuDropDownIcon(), func() {
		o.drop(o.more, &o.checkpoint, &o.broadcastMessage, &o.ask, &o.export, &o.adjustRun, &o.details)
	})
	o.stop.IconPlacement, o.more.IconPlacement = widget.ButtonIconTrailingText, widget.ButtonIconTrailingText
	o.results.Hide()
	o.resume.Hide()
	o.buttons = container.New(slots{}, o.results, o.resume, o.pause, o.stop, o.more)
	live := func(names ...string) func() bool { return func() bool { return o.live(names...) } }
	o.stopRun = command{"Stop", theme.MediaStopIcon(), o.stopGently, live(stopOrder)}
	o.forceStop = command{"Force stop", theme.CancelIcon(), o.stopAtOnce, func() bool { return o.open() && !o.cut && !o.waiting[forceOrder] }}
	o.checkpoint = command{"Checkpoint now", theme.DocumentSaveIcon(), o.takeCheckpoint, live(checkpointOrder)}
	o.broadcastMessage = command{"Broadcast…", theme.MailComposeIcon(), o.askBroadcast, live(broadcastOrder)}
	o.ask = command{"Ask agents…", theme.QuestionIcon(), func() { s.ToAsk(o.job.ID()) }, func() bool { return o.job != nil && s.ToAsk != nil }}
	o.export = command{"Export…", theme.DownloadIcon(), func() { export.Open(export.Menu(o.exportAs), o.more) }, func() bool { return o.job != nil && !o.waiting[exportOrder] }}
	o.adjustRun = command{"Adjust…", theme.SettingsIcon(), o.adjustSettings, live(adjustOrder)}
	o.details = command{"Run details…", theme.InfoIcon(), o.showDetails, func() bool { return o.job != nil }}
	return o
}

// Names of orders, for their results.
const (
	pauseOrder      = "Pausing"
	resumeOrder     = "Resuming"
	stopOrder       = "Stopping"
	forceOrder      = "Force stop"
	checkpointOrder = "The checkpoint"
	exportOrder     = "The export"
)

func (o *orders) begin(job *Job) {
	o.job, o.cut = job, false
	clear(o.waiting)
	o.report("", widgets.Neutral)
}

// drop shows commands as a menu below a button.
func (o *orders) drop(below *widget.Button, commands ...*command) {
	items := make([]*fyne.MenuItem, len(commands))
	for i, c := range commands {
		items[i] = fyne.NewMenuItem(c.name, c.run)
		items[i].Icon, items[i].Disabled = c.icon, !c.can()
	}
	menu := widget.NewPopUpMenu(fyne.NewMenu("", items...), o.screen.win.Canvas())
	menu.ShowAtRelativePosition(fyne.NewPos(below.Size().Width-menu.MinSize().Width, below.Size().Height), below)
}

// draw updates the buttons for the run and the orders in progress.
func (o *orders) draw(s *engine.Snapshot) {
	o.phase, o.ending, o.held = s.Phase, s.Ending, held(s)
	over := s.Phase == engine.Ended
	results, resume := show(o.results, over), show(o.resume, o.canContinue() || o.held && !o.past)
	if results || resume {
		o.buttons.Refresh() // a button that was hidden may not know its size yet
	}
	enable(o.resume, !o.waiting[resumeOrder])
	enable(o.pause, !over && !o.held && o.live(pauseOrder, resumeOrder))
	enable(o.stop, o.stopRun.can() || o.forceStop.can())
	enable(o.more, true)
}

// live reports whether the run takes orders that end nothing, and that none of these orders is in progress.
func (o *orders) live(names ...string) bool {
	for _, name := range names {
		if o.waiting[name] {
			return false
		}
	}
	return o.open() && o.phase != engine.Draining
}

// open reports whether the run takes orders.
func (o *orders) open() bool { return o.job != nil && o.phase != engine.Ended && !o.past }

// canContinue reports whether a run that has ended can be resumed.
func (o *orders) canContinue() bool {
	return o.phase == engine.Ended && o.ending != engine.EndFinished && o.screen.ToResume != nil && !o.past
}

func enable(b *widget.Button, on bool) { able(b, on) }

// show shows or hides a button. It reports whether that is a change.
func show(b *widget.Button, on bool) (changed bool) {
	switch {
	case b.Visible() == on:
		return false
	case on:
		b.Show()
	default:
		b.Hide()
	}
	return true
}

// held reports whether the user paused the run. The journal can pause it too, and the user cannot undo that.
func held(s *engine.Snapshot) bool {
	if s.Phase != engine.Paused {
		return false
	}
	for i := len(s.Changes) - 1; i >= 0; i-- {
		if c := &s.Changes[i]; c.What == engine.PhaseChange {
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

// probeService tries a service that does not answer, without waiting for the next probe.
func (o *orders) probeService(name string) {
	o.order("The probe", func(r Run) error {
		_, err := r.Apply([]engine.Assignment{{Name: name + ".breaker", Value: engine.BreakerProbe}}, user, byHand)
		return err
	}, func() { o.report("Trying "+name+" now.", widgets.Accent) })
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

// report shows a sentence in the banner.
func (o *orders) report(text string, tone widgets.Tone) {
	o.notice = notice{text, tone, o.screen.now()}
	o.screen.header.drawBanner(o.screen)
}

func (o *orders) pauseRun() {
	o.order(pauseOrder, func(r Run) error { return r.Pause(user, byHand) }, nil)
}

// resumeRun ends a pause, or resumes a run that has ended.
func (o *orders) resumeRun() {
	if o.canContinue() {
		o.screen.ToResume(o.job.ID())
		return
	}
	o.order(resumeOrder, func(r Run) error { return r.Resume(user) }, nil)
}

// pauseOrResume is the action of the menu and its shortcut.
func (o *orders) pauseOrResume() {
	if o.held {
		o.resumeRun()
	} else {
		o.pauseRun()
	}
}

func (o *orders) takeCheckpoint() {
	o.order(checkpointOrder, func(r Run) error { return r.Checkpoint(context.Background(), byHand) }, func() {
		o.report("A checkpoint was taken.", widgets.Good)
	})
}

// stopGently lets the sessions in flight end.
func (o *orders) stopGently() {
	o.order(stopOrder, func(r Run) error { return r.Stop(user, byHand) }, nil)
}

// stopAtOnce cancels the sessions in flight.
func (o *orders) stopAtOnce() {
	draining := o.phase == engine.Draining
	o.order(forceOrder, func(r Run) error {
		if !draining { // the first only drains
			if err := r.Stop(user, byHand); err != nil {
				return err
			}
		}
		return r.Stop(user, byHand)
	}, func() { o.cut = true })
}

// exportAs exports the run so far in a format, into a folder that the user picks.
func (o *orders) exportAs(f export.Format) {
	s, run := o.screen, o.job.ID()
	s.pickPath(f.Folder(), "Save here", func(dir string) {
		var path string
		o.order(exportOrder, func(Run) (err error) {
			path, err = s.desk.ExportAs(context.Background(), run, dir, f.ID)
			return err
		}, func() { o.report(export.Said(f.ID, path), widgets.Good) })
	})
}

package wizard

import (
	"context"
	"errors"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// Share of the window that the dialog takes, and its maximum size in text heights.
const (
	share    = 0.95
	mostEms  = 92
	mostHigh = 56
)

// Ways open other screens.
type Ways struct {
	Created func(name string) // called with the name of a scenario that was written
}

// page is a page of the dialog.
type page interface {
	content() fyne.CanvasObject
	title() string
	first() fyne.Focusable // the field that is focused when the page is shown; may be nil
	next() (text string, possible bool)
	forward()                           // opens the next page
	back() func()                       // goes back; nil if there is no way back
	submit(focused fyne.Focusable) bool // handles Return in a field of the page itself; otherwise Return goes forward
	tick()
}

// Wizard is the dialog. Call its methods on the UI goroutine.
type Wizard struct {
	desk Desk
	win  fyne.Window
	ways Ways

	dialog *dialog.CustomDialog // nil while it is closed
	room   fyne.Size            // of the window when the dialog was sized
	head   *form.Note
	body   *fyne.Container
	cancel *widget.Button
	prior  *widget.Button
	next   *widget.Button
	create *widget.Button

	shown  page
	source *source
	record *record
	steps  *steps
	finish *finish

	request Request                 // of found
	found   *Found                  // nil before the first
	stop    context.CancelCauseFunc // ends a read in progress; nil if there is none
	asking  bool
}

// New returns the wizard.
func New(desk Desk, win fyne.Window, ways Ways) *Wizard {
	return &Wizard{desk: desk, win: win, ways: ways}
}

// Accepts reports whether a scenario can be made from a file. It may take long, and may be called on any goroutine.
func (w *Wizard) Accepts(path string) bool { return w.desk.Accepts(path) }

// IsOpen reports whether the dialog is open.
func (w *Wizard) IsOpen() bool { return w.dialog != nil }

// Open shows the dialog with its first page.
func (w *Wizard) Open() {
	if w.dialog != nil {
		return
	}
	w.request, w.found = Request{}, nil
	w.head, w.body = form.NewNote(""), container.NewStack()
	w.source, w.record, w.steps, w.finish = newSource(w), newRecord(w), newSteps(w), newFinish(w)
	w.cancel = widget.NewButton("Cancel", w.leave)
	w.prior = widget.NewButtonWithIcon("Back", theme.NavigateBackIcon(), w.goBack)
	w.next, w.create = widget.NewButton("Next", w.forward), widget.NewButton("Create scenario", w.forward)
	w.next.Importance, w.create.Importance = widget.HighImportance, widget.HighImportance
	d := dialog.NewCustomWithoutButtons("New scenario from your backend", form.NewHeaded(w.head, w.body), w.win)
	d.SetButtons([]fyne.CanvasObject{container.NewHBox(w.cancel, layout.NewSpacer(), w.prior, w.next, w.create)})
	w.show(w.source)
	w.dialog = d
	widgets.Ask(w.win, dismissed{d, w.leave}, w.submit)
	w.fit()
	w.focus()
}

// Take makes a scenario from a file, for example one that was dropped on the window.
func (w *Wizard) Take(path string) {
	switch {
	case w.dialog == nil:
		w.Open()
	case w.shown != w.source || w.stop != nil:
		return
	}
	w.read(Source{Place: path})
}

// dismissed is a dialog that Escape closes in another way.
type dismissed struct {
	dialog.Dialog
	leave func()
}

// Dismiss is called for Escape.
func (d dismissed) Dismiss() { d.leave() }

// Tick draws what has changed since the last call, and fits the dialog to the window.
func (w *Wizard) Tick() {
	if w.dialog == nil {
		return
	}
	if w.win.Canvas().Size() != w.room {
		w.fit()
	}
	w.shown.tick()
}

// fit sizes the dialog for the window.
func (w *Wizard) fit() {
	em := theme.TextSize()
	w.room = w.win.Canvas().Size()
	w.dialog.Resize(fyne.NewSize(min(w.room.Width*share, mostEms*em), min(w.room.Height*share, mostHigh*em)))
}

// show shows a page.
func (w *Wizard) show(p page) {
	w.shown = p
	w.head.Say(p.title())
	w.body.Objects = []fyne.CanvasObject{p.content()}
	w.body.Refresh()
	w.follow()
	w.focus()
}

// focus focuses the first field of the page.
func (w *Wizard) focus() {
	if f := w.shown.first(); f != nil && w.dialog != nil {
		w.win.Canvas().Focus(f)
	}
}

// follow updates the buttons.
func (w *Wizard) follow() {
	text, possible := w.shown.next()
	last := w.shown == w.finish
	w.next.Hidden, w.create.Hidden = last || text == "", !last
	if last {
		w.create.SetText(text)
	}
	for _, b := range []*widget.Button{w.next, w.create} {
		enable(b, possible)
		b.Refresh()
	}
	enable(w.prior, w.shown.back() != nil)
}

func enable(b fyne.Disableable, on bool) {
	if on {
		b.Enable()
	} else {
		b.Disable()
	}
}

// forward opens the next page, if that is possible.
func (w *Wizard) forward() {
	if _, possible := w.shown.next(); possible {
		w.shown.forward()
	}
}

// goBack goes back, if that is possible.
func (w *Wizard) goBack() {
	if back := w.shown.back(); back != nil {
		back()
	}
}

// submit handles Return.
func (w *Wizard) submit() {
	if !w.shown.submit(w.win.Canvas().Focused()) {
		w.forward()
	}
}

// leave stops a read in progress; otherwise it closes the dialog, and asks before if something would be lost.
func (w *Wizard) leave() {
	if w.stop != nil {
		w.stop(errStopped)
		return
	}
	if !w.Leave(func() {}) {
		w.close()
	}
}

// Leave asks about an import that was not finished before an action that closes it, such as closing the window, and calls then if the user
// agrees. It returns false without asking if nothing would be lost.
func (w *Wizard) Leave(then func()) bool {
	if w.dialog == nil || w.found == nil && w.record.recorder == nil {
		return false
	}
	w.discard("Discard this import?", "No scenario was created yet. Everything that was read or recorded is lost.", func() {
		w.close()
		then()
	})
	return true
}

var errStopped = errors.New("stopped by the user")

// discard asks before something is lost.
func (w *Wizard) discard(title, text string, then func()) {
	if w.asking {
		return
	}
	w.asking = true
	ask := dialog.NewCustomConfirm(title, "Discard", "Continue", words.NewParagraph(w.win, text), func(yes bool) {
		w.asking = false
		if yes {
			then()
		}
	}, w.win)
	widgets.Ask(w.win, ask, ask.Confirm)
}

// close closes the dialog and ends a recording.
func (w *Wizard) close() {
	if w.dialog == nil {
		return
	}
	w.record.abandon()
	w.dialog.Hide()
	w.dialog = nil
}

// read reads a source, or the second recording of the one that was read before, and then shows the journey.
func (w *Wizard) read(s Source) {
	r := Request{Source: s, CA: w.source.ca}
	if w.source.second {
		r = w.request
		r.Second = &s
	}
	w.ask(r, w.source.state, func(f *Found) {
		w.request, w.found = r, f
		w.source.second = false
		w.steps.fill(f)
		w.show(w.steps)
	})
}

// ask reads a draft, shows the progress and an error in a note, and calls then with the draft.
func (w *Wizard) ask(r Request, state *form.Note, then func(f *Found)) {
	if w.stop != nil {
		return
	}
	ctx, stop := context.WithCancelCause(context.Background())
	w.stop = stop
	on := w.dialog
	state.SetText("Reading… Cancel stops it.")
	w.follow()
	async.Work(func() (*Found, error) { return w.desk.Read(ctx, r) }, func(f *Found, err error) {
		stopped := errors.Is(context.Cause(ctx), errStopped)
		stop(nil)
		if w.dialog != on {
			return
		}
		w.stop = nil
		switch {
		case stopped:
			state.SetText("Stopped. Nothing was read.")
		case err != nil:
			state.SetProblem(words.Trouble(err))
		case len(f.Steps) == 0:
			state.SetProblem("It has no request that a scenario can send. " + details(f.Draft))
		default:
			state.SetText("")
			then(f)
		}
		w.follow()
	})
}

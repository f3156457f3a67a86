package designer

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine/experiment/draft"
	"github.com/throng-sim/throng/ui/experiments"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// Share of the window that the dialog takes, and its maximum size in text heights.
const (
	share    = 0.95
	mostEms  = 96
	mostHigh = 60
)

// pause is the pause in typing before the form is checked.
const pause = 300 * time.Millisecond

// Ways open other screens and programs.
type Ways struct {
	Saved func(path string) // called with the path of an experiment that was written
	Text  func(path string) // opens a file as text
}

// Designer is the dialog. Call its methods on the UI goroutine.
type Designer struct {
	desk Desk
	win  fyne.Window
	ways Ways

	dialog *dialog.CustomDialog // nil while it is closed
	room   fyne.Size            // of the window when the dialog was sized
	state  *form.Note           // about loading and saving
	body   *fyne.Container
	page   *page
	side   *side
	text   *widget.Button
	save   *widget.Button

	path      string      // of the file that is edited; "" if it is new
	form      *Form       // nil until it is loaded
	was       draft.Draft // when it was loaded
	scenarios []Scenario

	asked   int // number of the newest check or load; results of older ones are dropped
	cancel  context.CancelFunc
	timer   *time.Timer // until the next check; nil if none is scheduled
	checked *Checked    // of the form as it is; nil while it is not known
	saving  bool
	asking  bool
}

// New returns the dialog.
func New(desk Desk, win fyne.Window, ways Ways) *Designer {
	return &Designer{desk: desk, win: win, ways: ways}
}

// IsOpen reports whether the dialog is open.
func (w *Designer) IsOpen() bool { return w.dialog != nil }

// Create opens the dialog with a new experiment.
func (w *Designer) Create() {
	w.open("", "New experiment", func(ctx context.Context) (l loaded, err error) {
		if l.scenarios, err = w.desk.Scenarios(ctx); err != nil {
			return l, err
		}
		if len(l.scenarios) == 0 {
			return l, errors.New("there are no scenarios")
		}
		l.form, err = w.desk.Suggest(ctx, l.scenarios[0].Name)
		return l, err
	})
}

// Edit opens the dialog with the file of an experiment.
func (w *Designer) Edit(path string) {
	w.open(path, "Edit "+filepath.Base(path), func(ctx context.Context) (l loaded, err error) {
		l.form, err = w.desk.Load(ctx, path)
		return l, err
	})
}

// loaded is what the dialog begins with.
type loaded struct {
	form      *Form
	scenarios []Scenario // nil for a file
}

// open shows the dialog, and loads its form.
func (w *Designer) open(path, title string, load func(context.Context) (loaded, error)) {
	if w.dialog != nil {
		return
	}
	w.path, w.form, w.checked, w.scenarios, w.saving, w.cancel = path, nil, nil, nil, false, func() {}
	w.state, w.body, w.side = form.NewNote(""), container.NewStack(), newSide()
	w.state.TextSize, w.state.Lines = theme.SizeNameText, 2
	w.text = widget.NewButtonWithIcon("Open as text", theme.DocumentIcon(), w.asText)
	w.save = widget.NewButtonWithIcon("Save", theme.DocumentSaveIcon(), w.submit)
	w.save.Importance = widget.HighImportance
	w.text.Hidden = path == ""
	if path == "" {
		w.save.SetText("Save…")
	}
	w.save.Disable()
	d := dialog.NewCustomWithoutButtons(title, container.NewBorder(nil, w.state, nil, nil, container.New(sides{}, w.body, w.side.content)), w.win)
	d.SetButtons([]fyne.CanvasObject{container.NewHBox(widget.NewButton("Cancel", w.leave), layout.NewSpacer(), w.text, w.save)})
	w.dialog = d
	widgets.Ask(w.win, dismissed{d, w.leave}, w.submit)
	w.fit()
	w.state.SetText("Loading…")
	w.load(load)
}

// load replaces the form.
func (w *Designer) load(load func(context.Context) (loaded, error)) {
	w.asked++
	this := w.asked
	w.drop()
	w.save.Disable()
	async.Work(func() (loaded, error) { return load(context.Background()) }, func(l loaded, err error) {
		if this != w.asked || w.dialog == nil {
			return
		}
		if err != nil {
			w.state.SetProblem("Cannot open it. " + words.Trouble(err))
			if w.form != nil { // the form is still that of the scenario before
				w.show()
			}
			return
		}
		w.state.SetText("")
		w.scenarios = l.scenarios
		w.fill(l.form)
	})
}

// fill shows a form.
func (w *Designer) fill(f *Form) {
	was := f.Draft.Clone()
	if w.form != nil {
		w.keep(f)
	}
	w.form, w.was = f, was
	w.show()
	w.win.Canvas().Focus(w.page.title)
}

// show builds the fields of the form.
func (w *Designer) show() {
	w.page = newPage(w)
	w.body.Objects = []fyne.CanvasObject{w.page.scroll}
	w.body.Refresh()
	w.check()
}

// choose begins with another scenario. Title, seeds and limits stay.
func (w *Designer) choose(of string) {
	if of == w.form.Scenario {
		return
	}
	w.state.SetText("Loading…")
	l := loaded{scenarios: w.scenarios}
	w.load(func(ctx context.Context) (loaded, error) {
		var err error
		l.form, err = w.desk.Suggest(ctx, of)
		return l, err
	})
}

// keep takes over what a person has typed for another scenario.
func (w *Designer) keep(f *Form) {
	now := &w.form.Draft
	d := &f.Draft
	if now.Title != w.was.Title {
		d.Title = now.Title
	}
	d.Seeds, d.Until.HalfWidth, d.Until.AtMost, d.Budget, d.Parallel = now.Seeds, now.Until.HalfWidth, now.Until.AtMost, now.Budget, now.Parallel
}

// dismissed is a dialog that Escape closes in another way.
type dismissed struct {
	dialog.Dialog
	leave func()
}

// Dismiss is called for Escape.
func (d dismissed) Dismiss() { d.leave() }

// Tick fits the dialog to the window.
func (w *Designer) Tick() {
	if w.dialog != nil && w.win.Canvas().Size() != w.room {
		w.fit()
	}
}

// fit sizes the dialog for the window.
func (w *Designer) fit() {
	em := theme.TextSize()
	w.room = w.win.Canvas().Size()
	w.dialog.Resize(fyne.NewSize(min(w.room.Width*share, mostEms*em), min(w.room.Height*share, mostHigh*em)))
}

// typed is called after each change of the form.
func (w *Designer) typed() {
	w.asked++
	this := w.asked
	w.drop()
	w.side.wait()
	w.state.SetText("")
	w.timer = time.AfterFunc(pause, func() {
		async.Do(func() {
			if this == w.asked {
				w.check()
			}
		})
	})
}

// drop drops a check that is scheduled or in progress.
func (w *Designer) drop() {
	w.cancel()
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
	w.checked = nil
}

// check checks the form. Only the newest result counts.
func (w *Designer) check() {
	w.asked++
	this := w.asked
	w.drop()
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	f := *w.form
	f.Draft = f.Draft.Clone()
	async.Work(func() (*Checked, error) { return w.desk.Check(ctx, f) }, func(c *Checked, err error) {
		cancel()
		if this != w.asked || w.dialog == nil {
			return
		}
		if err != nil {
			w.state.SetProblem("Cannot check it. " + words.Trouble(err))
			w.side.unknown()
			w.follow()
			return
		}
		w.checked = c
		w.page.tell(c)
		w.side.show(c)
		w.follow()
	})
}

// follow updates the buttons.
func (w *Designer) follow() {
	if w.form == nil || w.saving || w.checked != nil && w.checked.Wrong() {
		w.save.Disable()
		return
	}
	w.save.Enable()
}

// changed reports whether something would be lost.
func (w *Designer) changed() bool {
	return w.form != nil && !reflect.DeepEqual(w.form.Draft, w.was)
}

// submit saves the experiment. A new one asks for its file.
func (w *Designer) submit() {
	switch {
	case w.save.Disabled():
	case w.path != "":
		w.write(w.path)
	default:
		base := filepath.Base(w.form.Scenario)
		base = strings.TrimSuffix(strings.TrimSuffix(base, filepath.Ext(base)), ".throng")
		widgets.PickSaveAs(w.win, "Save the experiment", base+experiments.Extension, experiments.Extension, w.write)
	}
}

// write writes the file, and closes the dialog.
func (w *Designer) write(to string) {
	if w.dialog == nil {
		return
	}
	w.saving = true
	w.follow()
	w.state.SetText("Saving…")
	f := *w.form
	f.Draft = f.Draft.Clone()
	async.Work(func() (struct{}, error) { return struct{}{}, w.desk.Save(context.Background(), to, f) }, func(_ struct{}, err error) {
		w.saving = false
		if err != nil {
			w.state.SetProblem("Not saved. " + words.Trouble(err))
			w.follow()
			return
		}
		w.close()
		w.ways.Saved(to)
	})
}

// asText opens the file as text in place of the dialog.
func (w *Designer) asText() {
	path := w.path
	then := func() {
		w.close()
		w.ways.Text(path)
	}
	if !w.Leave(then) {
		then()
	}
}

// leave closes the dialog, and asks before if something would be lost.
func (w *Designer) leave() {
	if !w.Leave(w.close) {
		w.close()
	}
}

// Leave asks about changes that were not saved before an action that loses them, and calls then if the user agrees. It returns false
// without asking if nothing would be lost.
func (w *Designer) Leave(then func()) bool {
	if w.dialog == nil || !w.changed() {
		return false
	}
	if w.asking {
		return true
	}
	w.asking = true
	text := words.NewParagraph(w.win, "Your changes in this form were not saved.")
	ask := dialog.NewCustomConfirm("Discard the changes?", "Discard", "Continue", text, func(yes bool) {
		w.asking = false
		if yes {
			w.close()
			then()
		}
	}, w.win)
	widgets.Ask(w.win, ask, ask.Confirm)
	return true
}

// close closes the dialog.
func (w *Designer) close() {
	if w.dialog == nil {
		return
	}
	w.drop()
	w.asked++
	w.dialog.Hide()
	w.dialog = nil
}

// sides lays out the form at the left and its summary at the right.
type sides struct{}

// Widths of the summary.
const (
	sideShare   = 0.34
	leastSide   = 15 // in text heights
	mostSideEms = 26
)

// Layout implements [fyne.Layout].
func (sides) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	em, gap := theme.TextSize(), 2*theme.Padding()
	right := max(min(max(size.Width*sideShare, leastSide*em), mostSideEms*em), objects[1].MinSize().Width)
	objects[0].Move(fyne.NewPos(0, 0))
	objects[0].Resize(fyne.NewSize(size.Width-right-gap, size.Height))
	objects[1].Move(fyne.NewPos(size.Width-right, 0))
	objects[1].Resize(fyne.NewSize(right, size.Height))
}

// MinSize implements [fyne.Layout].
func (sides) MinSize(objects []fyne.CanvasObject) fyne.Size {
	em := theme.TextSize()
	return fyne.NewSize(objects[0].MinSize().Width+2*theme.Padding()+max(leastSide*em, objects[1].MinSize().Width), 10*em)
}

package study

import (
	"context"
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/survey"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// Share of the window that the dialog takes, and its maximum size in text heights.
const (
	share    = 0.95
	mostEms  = 72
	mostHigh = 56
)

// pause is the pause in typing before the questions are checked.
const pause = 300 * time.Millisecond

// endings are the extensions of files of questions.
var endings = []string{".yaml", ".yml", ".json"}

// Asker is the dialog for a survey among the agents of a run. Call its methods on the UI goroutine.
type Asker struct {
	desk  Asking
	win   fyne.Window
	asked func(run engine.RunID) // called with the run of a survey that has started

	dialog *dialog.CustomDialog // nil while it is closed
	room   fyne.Size            // of the window when the dialog was sized
	state  *form.Note           // the forecast, or why the questions cannot be asked
	body   *fyne.Container
	ask    *widget.Button
	write  *widget.Button
	fields *fields // nil until the run is read

	run     engine.RunID
	last    *survey.Survey // asked or written last, with which the dialog begins; nil before the first
	asks    int            // number of the newest check; results of older ones are dropped
	cancel  context.CancelFunc
	timer   *time.Timer // until the next check; nil if none is scheduled
	starts  bool
	pick    func(then func(path string))
	pickNew func(then func(path string))
}

// NewAsker returns the dialog.
func NewAsker(desk Asking, win fyne.Window, asked func(run engine.RunID)) *Asker {
	a := &Asker{desk: desk, win: win, asked: asked, cancel: func() {}}
	a.pick = func(then func(string)) { widgets.PickFile(win, "File of questions", "Open", endings, then) }
	a.pickNew = func(then func(string)) {
		widgets.PickSaveAs(win, "Save the questions", "questions.yaml", ".yaml", then)
	}
	return a
}

// Open opens the dialog for the agents of a run.
func (a *Asker) Open(run engine.RunID) {
	if a.dialog != nil {
		return
	}
	a.run, a.fields, a.starts = run, nil, false
	a.state, a.body = form.NewNote("Reading the run…"), container.NewStack()
	a.state.TextSize, a.state.Lines = theme.SizeNameText, 2
	open := widget.NewButtonWithIcon("Open…", theme.FolderOpenIcon(), a.openFile)
	a.write = widget.NewButtonWithIcon("Save…", theme.DocumentSaveIcon(), a.saveFile)
	a.ask = widget.NewButtonWithIcon("Ask", theme.QuestionIcon(), a.submit)
	a.ask.Importance = widget.HighImportance
	a.ask.Disable()
	a.write.Disable()
	d := dialog.NewCustomWithoutButtons("Ask agents", container.NewBorder(nil, container.New(reserved(2), a.state), nil, nil, a.body), a.win)
	d.SetButtons([]fyne.CanvasObject{container.NewHBox(widget.NewButton("Cancel", a.close), layout.NewSpacer(), open, a.write, a.ask)})
	a.dialog = d
	widgets.Ask(a.win, dismissed{d, a.close}, a.submit)
	a.fit()
	a.asks++
	this := a.asks
	async.Work(func() (*survey.Subject, error) { return a.desk.Subject(context.Background(), run) }, func(s *survey.Subject, err error) {
		switch {
		case this != a.asks || a.dialog == nil:
		case err != nil:
			a.state.SetProblem(words.Trouble(err))
		case len(s.Moments) == 0:
			a.state.SetProblem("The run has no checkpoint, so there is no moment to ask at. Runs take one at their end, and Live takes one at any time.")
		case len(s.Models) == 0:
			a.state.SetProblem("The scenario has no service of kind llm, so its agents cannot answer.")
		default:
			a.show(s)
		}
	})
}

// show builds the fields.
func (a *Asker) show(s *survey.Subject) {
	a.fields = newFields(s, a.typed)
	first := a.last
	if first == nil {
		first = &survey.Survey{Questions: []survey.Question{{Name: "question_1", Kind: survey.Choice}}}
	}
	a.fields.set(first)
	a.body.Objects = []fyne.CanvasObject{a.fields.scroll}
	a.body.Refresh()
	a.win.Canvas().Focus(a.fields.questions[0].ask)
	a.write.Enable()
	a.check()
}

// dismissed is a dialog that Escape closes in another way.
type dismissed struct {
	dialog.Dialog
	leave func()
}

// Dismiss is called for Escape.
func (d dismissed) Dismiss() { d.leave() }

// reserved keeps room for a number of lines, so that nothing moves when a text appears.
type reserved int

// MinSize implements [fyne.Layout].
func (r reserved) MinSize([]fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(0, float32(r)*fyne.MeasureText("M", theme.TextSize(), fyne.TextStyle{}).Height)
}

// Layout implements [fyne.Layout].
func (reserved) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	for _, o := range objects {
		o.Move(fyne.Position{})
		o.Resize(size)
	}
}

// Tick fits the dialog to the window.
func (a *Asker) Tick() {
	if a.dialog != nil && a.win.Canvas().Size() != a.room {
		a.fit()
	}
}

// fit sizes the dialog for the window.
func (a *Asker) fit() {
	em := theme.TextSize()
	a.room = a.win.Canvas().Size()
	a.dialog.Resize(fyne.NewSize(min(a.room.Width*share, mostEms*em), min(a.room.Height*share, mostHigh*em)))
}

// close closes the dialog. It keeps the questions for the next time.
func (a *Asker) close() {
	if a.dialog == nil {
		return
	}
	if a.fields != nil {
		a.last = a.fields.survey()
	}
	a.drop()
	a.dialog.Hide()
	a.dialog = nil
}

// drop drops a check that is scheduled or in progress.
func (a *Asker) drop() {
	a.asks++
	a.cancel()
	if a.timer != nil {
		a.timer.Stop()
		a.timer = nil
	}
}

// typed is called after each change of a field.
func (a *Asker) typed() {
	a.drop()
	a.ask.Disable()
	this := a.asks
	a.timer = time.AfterFunc(pause, func() {
		async.Do(func() {
			if this == a.asks {
				a.check()
			}
		})
	})
}

// order returns what the fields say.
func (a *Asker) order() survey.Order {
	return survey.Order{Run: a.run, Cycle: a.fields.cycle(), Agents: strings.TrimSpace(a.fields.filter.Text), Survey: a.fields.survey()}
}

// check checks the order and shows its forecast. Only the newest result counts.
func (a *Asker) check() {
	a.drop()
	a.ask.Disable()
	o := a.order()
	if empty := a.fields.empty(); empty != "" {
		a.state.SetText(empty)
		return
	}
	this := a.asks
	ctx, cancel := context.WithCancel(context.Background())
	a.cancel = cancel
	async.Work(func() (string, error) { return a.desk.ForecastSurvey(ctx, o) }, func(text string, err error) {
		cancel()
		switch {
		case this != a.asks || a.dialog == nil:
		case err != nil:
			a.state.SetProblem(words.Trouble(err))
		default:
			a.state.SetText(text)
			a.ask.Enable()
		}
	})
}

// submit starts the survey.
func (a *Asker) submit() {
	if a.ask.Disabled() || a.starts {
		return
	}
	o := a.order()
	a.drop()
	a.starts = true
	a.ask.Disable()
	a.state.SetText("Starting…")
	async.Work(func() (engine.RunID, error) { return a.desk.Ask(context.Background(), o) }, func(run engine.RunID, err error) {
		a.starts = false
		if err != nil {
			if a.dialog != nil {
				a.state.SetProblem("Nothing was asked. " + words.Trouble(err))
				a.ask.Enable()
			}
			return
		}
		a.close()
		a.asked(run)
	})
}

// openFile replaces the questions with those of a file.
func (a *Asker) openFile() {
	if a.fields == nil {
		return
	}
	a.pick(func(path string) {
		async.Work(func() (*survey.Survey, error) { return a.desk.ReadQuestions(context.Background(), path) }, func(s *survey.Survey, err error) {
			switch {
			case a.dialog == nil || a.fields == nil:
			case err != nil:
				a.drop()
				a.state.SetProblem("The file was not opened. " + words.Trouble(err))
			default:
				a.fields.set(s)
				a.check()
			}
		})
	})
}

// saveFile writes the questions to a file.
func (a *Asker) saveFile() {
	if a.fields == nil {
		return
	}
	s := a.fields.survey()
	a.pickNew(func(path string) {
		async.Work(func() (struct{}, error) {
			return struct{}{}, a.desk.WriteQuestions(context.Background(), path, s)
		}, func(_ struct{}, err error) {
			switch {
			case a.dialog == nil:
			case err != nil:
				a.state.SetProblem("The questions were not saved. " + words.Trouble(err))
			default:
				a.state.SetGood(fmt.Sprintf("Saved to %s.", path))
			}
		})
	})
}

package fleet

import (
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Use says which processes execute the sessions of a run, and which secrets they receive.
type Use struct {
	Plan
	Share []string // names of secrets
}

// Question asks which processes execute the sessions of a run that is resumed. It belongs to the UI goroutine.
type Question struct {
	choice *Choice
	form   form.Form
	win    fyne.Window
	dialog *dialog.CustomDialog
	resume *widget.Button
	why    *widgets.Line     // why it cannot be resumed yet
	shown  fyne.CanvasObject // the dialog in the window
	scroll *container.Scroll
	open   bool    // workers are invited
	high   float32 // of the choice when the dialog got its size
}

// Sizes of the question, in text sizes, and the part of the window that it may take.
const (
	questionWidth = 46
	questionEdge  = 11 // around the choice
	questionMost  = 0.94
)

// AskUse shows the question with the workers that the run had, and the names of the secrets that its services need. then receives the answer.
func AskUse(win fyne.Window, host Host, had Plan, secrets []string, then func(Use)) *Question {
	q := &Question{win: win, choice: NewChoice(host), why: widgets.NewLine(theme.SizeNameText, widgets.Quiet)}
	q.choice.SetSecrets(secrets)
	q.choice.Put(had)
	q.resume = &widget.Button{Text: "Resume", Importance: widget.HighImportance, OnTapped: func() {
		if p, err := q.choice.Plan(); err == nil {
			q.dialog.Hide()
			then(Use{p, q.choice.Shared()})
		}
	}}
	about := form.NewNote("")
	about.Say("Workers executed the sessions of this run. Choose what executes the rest of them: the results are the same.")
	about.TextSize = theme.SizeNameText
	q.scroll = container.NewVScroll(container.New(layout.NewCustomPaddedLayout(0, 0, 0, 2*theme.Padding()), form.NewStack(about, q.choice.Content)))
	q.dialog = dialog.NewCustomWithoutButtons("Resume on workers?", container.NewBorder(nil, q.why, nil, nil, q.scroll), win)
	q.dialog.SetButtons([]fyne.CanvasObject{widget.NewButton("Cancel", q.dialog.Hide), q.resume})
	q.watch()
	widgets.Ask(win, q.dialog, widgets.Pressing(q.resume))
	q.shown = win.Canvas().Overlays().Top()
	q.Tick(time.Now())
	q.changed()
	return q
}

// watch follows what the user changes.
func (q *Question) watch() {
	for _, f := range q.choice.Fields {
		row := q.form.Add(f.Row, f.Name)
		f.Entry.OnChanged = func(string) {
			row.Changed()
			q.changed()
		}
	}
	q.choice.Tell, q.choice.Changed = q.form.Tell, q.changed
}

// Tick updates the list of workers that have joined.
func (q *Question) Tick(now time.Time) {
	if !slices.Contains(q.win.Canvas().Overlays().List(), q.shown) { // it was answered
		return
	}
	if q.choice.Tick(now) {
		q.changed()
	}
	q.fit()
}

// changed checks the fields, and says why the run cannot be resumed yet.
func (q *Question) changed() {
	_, err := q.choice.Plan()
	_ = q.form.Check(err) // each error has a field
	text := ""
	switch {
	case err != nil:
		text = "Correct the marked field first."
	case !q.choice.Waits():
	case q.choice.Invited():
		text = "The run can be resumed when a worker has joined."
	default:
		text = "Invite workers first."
	}
	q.why.Set(text, widgets.Quiet)
	able(q.resume, text == "")
	q.fit()
	if open := q.choice.Invited(); open != q.open {
		if q.open = open; open {
			q.scroll.Refresh() // it has another height now
			q.scroll.ScrollToBottom()
		}
	}
}

// fit makes the dialog as high as the choice, as far as the window has room.
func (q *Question) fit() {
	high := q.scroll.Content.MinSize().Height
	if high == q.high {
		return
	}
	q.high = high
	room, ems := q.win.Canvas().Size(), theme.TextSize()
	q.dialog.Resize(fyne.NewSize(min(room.Width*questionMost, questionWidth*ems), min(room.Height*questionMost, high+questionEdge*ems)))
	q.shown.Refresh() // puts it in the middle again
}

package fleet

import (
	"fmt"
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/workers"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// drainWorker drains the selected worker, or lets it take sessions again.
func (b *Board) drainWorker() {
	w := b.chosen()
	if w == nil {
		return
	}
	name := w.Name
	if w.Status == workers.Draining {
		b.order(func(f Workers) error { return f.Undrain(name) }, name+" takes sessions again.")
	} else {
		b.order(func(f Workers) error { return f.Drain(name) }, name+" ends its sessions and takes no others.")
	}
}

// askRemove asks before the selected worker is removed, and says what happens to its sessions.
func (b *Board) askRemove() {
	w := b.chosen()
	if w == nil {
		return
	}
	name := w.Name
	b.ask("Remove "+name+"?", words.NewParagraph(b.win, b.consequences(w)), "Remove", widget.DangerImportance, func() bool {
		b.order(func(f Workers) error { return f.Remove(name) }, name+" was removed. Its sessions run again on the other workers.")
		return true
	})
}

// consequences says what happens to the sessions of a worker that is removed.
func (b *Board) consequences(w *workers.State) string {
	text := "It has no sessions in flight."
	if n := w.InFlight + w.Queued; n > 0 {
		its := engine.Counted(int64(n), "session", "sessions")
		text = "Its " + its + " are cut, and run again on the other workers."
		if n == 1 {
			text = "Its " + its + " is cut, and runs again on the other workers."
		}
		text += " Each counts once."
	}
	others := 0
	for i := range b.all {
		if o := &b.all[i]; o.Name != w.Name && o.Status == workers.Ready {
			others++
		}
	}
	if others == 0 {
		text += "\n\nNo other worker is ready: the run waits until one joins."
	}
	if w.Status == workers.Ready && w.InFlight+w.Queued > 0 {
		text += "\n\nDrain it instead to let its sessions end first."
	}
	return text
}

// askLimit asks for the most sessions that the selected worker may have in flight.
func (b *Board) askLimit() {
	w := b.chosen()
	if w == nil {
		return
	}
	name, most := w.Name, form.NewWhole(0, engine.MaxLimit)
	most.SetText(strconv.Itoa(w.MaxLimit))
	row := form.NewRow("Most sessions in flight", most).Marking(most)
	row.SetHelp("0: no bound, " + name + " gets its share of the run's limit, now " + strconv.Itoa(w.Limit))
	f := &form.Form{}
	f.Add(row, "limit")
	d := b.ask("Limit "+name, form.NewSized("Most sessions in flight, and some room", row), "Set", widget.HighImportance, func() bool {
		n, err := most.Value()
		if err != nil {
			_ = f.Tell(&engine.FieldError{Field: "limit", Problem: err.Error()}) // it is the field's
			return false
		}
		done := fmt.Sprintf("%s has at most %s in flight.", name, engine.Counted(int64(n), "session", "sessions"))
		if n == 0 {
			done = name + " has no bound of its own."
		}
		b.order(func(f Workers) error { return f.Limit(name, int(n)) }, done)
		return true
	})
	most.OnSubmitted = func(string) { d() }
	b.win.Canvas().Focus(most)
	most.TypedShortcut(&fyne.ShortcutSelectAll{}) // so that a number replaces the old one
}

// ask shows a question. do is called for the answer yes, and returns whether the question is answered. The result is the answer yes.
func (b *Board) ask(title string, content fyne.CanvasObject, yes string, look widget.Importance, do func() bool) (confirm func()) {
	d := dialog.NewCustomWithoutButtons(title, content, b.win)
	confirm = func() {
		if do() {
			d.Hide()
		}
	}
	button := widget.NewButton(yes, confirm)
	button.Importance = look
	d.SetButtons([]fyne.CanvasObject{widget.NewButton("Cancel", d.Hide), button})
	d.Resize(fyne.NewSize(min(b.win.Canvas().Size().Width*0.9, askWidth*theme.TextSize()), 0))
	widgets.Ask(b.win, d, confirm)
	return confirm
}

// askWidth is the width of a question, in text sizes.
const askWidth = 32

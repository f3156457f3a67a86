package live

import (
	"context"
	"errors"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/widgets"
)

const tellOrder = "Telling agents"

// otherRun is told where an order was thought over until another run was shown.
const otherRun = "Another run is shown by now: nothing was ordered of it."

// tellForm asks whom to tell what.
type tellForm struct {
	to, text *widget.Entry
	dialog   *dialog.FormDialog
}

// askWhatToTell asks for a message that agents find in their inboxes from the next cycle on.
func (o *orders) askWhatToTell() { o.askToTell("") }

// askToTell asks for one to the agents with some ids.
func (o *orders) askToTell(ids string) {
	job := o.job
	f := &tellForm{to: widget.NewEntry(), text: widget.NewMultiLineEntry()}
	f.to.SetText(ids)
	f.to.SetPlaceHolder("everybody")
	f.text.SetPlaceHolder("what they find in their inbox")
	f.text.Wrapping = fyne.TextWrapWord
	f.text.SetMinRowsVisible(4)
	f.text.Validator = func(text string) error {
		if strings.TrimSpace(text) == "" {
			return errors.New("nothing to say")
		}
		return nil
	}
	to := widget.NewFormItem("To", f.to)
	to.HintText = "ids with commas between; empty for everybody"
	text := widget.NewFormItem("Text", f.text)
	text.HintText = "there from the next cycle on; the run is inexact from then"
	f.dialog = dialog.NewForm("Tell agents", "Tell", "Cancel", []*widget.FormItem{to, text}, func(yes bool) {
		switch {
		case !yes:
		case o.job != job:
			o.tell(otherRun, widgets.Warning)
		default:
			o.tellAll(recipients(f.to.Text), f.text.Text)
		}
	}, o.screen.win)
	o.asking = f
	f.dialog.Resize(fyne.NewSize(o.screen.win.Canvas().Size().Width*0.5, 0))
	widgets.Ask(o.screen.win, f.dialog, f.dialog.Submit)
	o.screen.win.Canvas().Focus(f.text)
}

// tellAll has the run put a text into inboxes.
func (o *orders) tellAll(ids []string, text string) {
	tell := o.job.Tell
	whom := "everybody finds it"
	if len(ids) > 0 {
		whom = strings.Join(ids, ", ") + " will find it"
	}
	o.order(tellOrder, func(Run) error { return tell(context.Background(), ids, text) }, func() {
		o.tell("Told: "+whom+" from the next cycle on.", widgets.Good)
	})
}

// recipients are the ids in a text with commas between; none is everybody.
func recipients(text string) []string {
	var ids []string
	for id := range strings.SplitSeq(text, ",") {
		if id = strings.TrimSpace(id); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

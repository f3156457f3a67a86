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

const broadcastOrder = "The broadcast"

// otherRun is shown if an order was for a run that is no longer shown.
const otherRun = "Nothing was sent, because another run is shown now. Try again."

// broadcastForm asks for a message and its recipients.
type broadcastForm struct {
	to, text *widget.Entry
	dialog   *dialog.FormDialog
}

// askBroadcast asks for a message to all agents, from the next cycle on.
func (o *orders) askBroadcast() { o.askToSend("") }

// askToSend asks for a message to the agents with some IDs.
func (o *orders) askToSend(ids string) {
	job := o.job
	f := &broadcastForm{to: widget.NewEntry(), text: widget.NewMultiLineEntry()}
	f.to.SetText(ids)
	f.to.SetPlaceHolder("everybody")
	f.text.SetPlaceHolder("Text of the message")
	f.text.Wrapping = fyne.TextWrapWord
	f.text.SetMinRowsVisible(4)
	f.text.Validator = func(text string) error {
		if strings.TrimSpace(text) == "" {
			return errors.New("enter a text")
		}
		return nil
	}
	to := widget.NewFormItem("To", f.to)
	to.HintText = "Agent IDs, separated by commas. Empty: all agents"
	text := widget.NewFormItem("Message", f.text)
	text.HintText = "Arrives in the next cycle. The run then becomes inexact"
	f.dialog = dialog.NewForm("Broadcast message", "Send", "Cancel", []*widget.FormItem{to, text}, func(yes bool) {
		switch {
		case !yes:
		case o.job != job:
			o.report(otherRun, widgets.Warning)
		default:
			o.broadcast(recipients(f.to.Text), f.text.Text)
		}
	}, o.screen.win)
	o.asking = f
	f.dialog.Resize(fyne.NewSize(o.screen.win.Canvas().Size().Width*0.5, 0))
	widgets.Ask(o.screen.win, f.dialog, f.dialog.Submit)
	o.screen.win.Canvas().Focus(f.text)
}

// broadcast puts a text into the inboxes of agents.
func (o *orders) broadcast(ids []string, text string) {
	send := o.job.Broadcast
	receivers := "all agents receive it"
	if len(ids) > 0 {
		receivers = strings.Join(ids, ", ") + " will receive it"
	}
	o.order(broadcastOrder, func(Run) error { return send(context.Background(), ids, text) }, func() {
		o.report("Message sent: "+receivers+" in the next cycle.", widgets.Good)
	})
}

// recipients splits a list of IDs at commas; an empty list means all agents.
func recipients(text string) []string {
	var ids []string
	for id := range strings.SplitSeq(text, ",") {
		if id = strings.TrimSpace(id); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

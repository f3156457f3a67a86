package live

import (
	"context"
	"fmt"
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// askAbout describes a session in flight and asks whether to retire its agent.
func (l *lists) askAbout(key string) {
	for i := range l.oldest {
		d := l.oldest[i]
		if strconv.Itoa(d.Agent) != key || !l.orders.open() {
			continue
		}
		retire := widget.NewButton("Retire the agent", nil)
		retire.Importance = widget.DangerImportance
		ask := dialog.NewCustomWithoutButtons("Agent "+who(&d), words.NewParagraph(l.win, about(&d)), l.win)
		retire.OnTapped = func() {
			ask.Hide()
			l.orders.retire(d.Agent, who(&d))
		}
		ask.SetButtons([]fyne.CanvasObject{widget.NewButton("Close", ask.Hide), retire})
		widgets.Ask(l.win, ask, nil)
		return
	}
}

func about(d *engine.Activity) string {
	text := fmt.Sprintf("Its session of cycle %d started at %s.", d.Cycle, words.Stamp(d.Began))
	switch {
	case d.Path != "" && d.Service != "":
		text += fmt.Sprintf("\nStep %[2]s has run since %[1]s and calls %[3]s.", words.Stamp(d.Since), d.Path, d.Service)
	case d.Path != "":
		text += fmt.Sprintf("\nStep %[2]s has run since %[1]s.", words.Stamp(d.Since), d.Path)
	}
	if d.ThrottledBy != "" {
		text += "\nThrottled: " + d.ThrottledBy + "."
	}
	return text + "\n\nThis cancels the session and retires the agent from the next cycle. The run becomes inexact."
}

func (o *orders) retire(agent int, name string) {
	o.order("Retiring "+name, func(r Run) error { return r.Retire(context.Background(), agent, user) }, func() {
		o.report("Agent "+name+" is retired.", widgets.Good)
	})
}

func (o *orders) requeue(agent int, name string) {
	o.order("Requeuing "+name, func(r Run) error { return r.Requeue(context.Background(), agent, user) }, func() {
		o.report("Running the session of agent "+name+" again.", widgets.Good)
	})
}

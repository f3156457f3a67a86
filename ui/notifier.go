package ui

import (
	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/live"
)

// notifier sends desktop notifications when the user is looking elsewhere.
type notifier struct {
	app  fyne.App
	off  map[view.Occasion]bool // occasions without a notification
	seen bool                   // a window of the program is focused

	job *live.Job // the last seen job
	of  view.Notifier
}

// follow reads a run's state and notifies about changes. The state at the first read causes no notification.
func (h *notifier) follow(job *live.Job) {
	if job != h.job {
		h.job, h.of = job, view.Notifier{}
	}
	for _, n := range h.of.See(job.Snapshot()) {
		if !h.off[n.Occasion] {
			h.tell(job.Title+": "+n.Title, n.Text)
		}
	}
}

// tell sends a notification, unless the window is focused. It does not wait for the system.
func (h *notifier) tell(title, text string) {
	if h.seen {
		return
	}
	app := h.app
	async.Work(func() (struct{}, error) {
		app.SendNotification(fyne.NewNotification(title, text))
		return struct{}{}, nil
	}, func(struct{}, error) {})
}

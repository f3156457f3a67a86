package ui

import (
	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/live"
)

// notifier has the system notify a person who is looking elsewhere.
type notifier struct {
	app  fyne.App
	off  map[engine.Occasion]bool // that a person does not want to hear of
	seen bool                     // a window of the program has the focus

	job *live.Job // that was looked at last
	of  engine.Notifier
}

// follow looks at a run. What it was found in at the first look is no news.
func (h *notifier) follow(job *live.Job) {
	if job != h.job {
		h.job, h.of = job, engine.Notifier{}
	}
	for _, n := range h.of.See(job.Snapshot()) {
		if !h.off[n.Occasion] {
			h.tell(job.Title+": "+n.Title, n.Text)
		}
	}
}

// tell notifies, unless the person sees it anyway. The system may take its time.
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

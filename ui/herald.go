package ui

import (
	"fmt"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/live"
)

// herald has the system notify a person who is looking elsewhere: at the end of a run, when it pauses by itself, and when
// a breaker opens.
type herald struct {
	app  fyne.App
	on   bool
	seen bool // a window of the program has the focus

	job     *live.Job // that was looked at last
	phase   engine.Phase
	open    bool            // the run's breaker was open
	refused map[string]bool // services whose breaker was open
}

// follow looks at a run. What it was found in at the first look is no news.
func (h *herald) follow(job *live.Job) {
	s := job.Snapshot()
	first := job != h.job
	was, wasOpen, wasRefused := h.phase, h.open, h.refused
	h.job, h.phase, h.open, h.refused = job, s.Phase, s.Breaker != engine.BreakerClosed, refusing(s)
	if first {
		return
	}
	switch {
	case s.Phase == engine.Ended && was != engine.Ended:
		h.tell(job.Title+": "+s.Ending.String(), ending(s))
	case h.open && !wasOpen:
		h.tell(job.Title+": paused, too much fails", s.BreakerWhy+". Nothing that was done is lost; Live says what to do.")
	case s.Phase == engine.Paused && was != engine.Paused && !byPerson(s):
		h.tell(job.Title+": paused", s.Reason+". Nothing that was done is lost; Live says what to do.")
	default:
		for name := range h.refused {
			if !wasRefused[name] {
				h.tell(job.Title+": "+name+" is not answering", "Its breaker is open: requests wait until it answers again. The run goes on without.")
			}
		}
	}
}

// refusing are the services whose breaker is open, or tries whether they answer again.
func refusing(s *engine.Snapshot) map[string]bool {
	names := map[string]bool{}
	for i := range s.Services {
		if s.Services[i].Breaker != engine.BreakerClosed {
			names[s.Services[i].Name] = true
		}
	}
	return names
}

// byPerson reports whether it was a person who paused the run.
func byPerson(s *engine.Snapshot) bool {
	for i := len(s.Changes) - 1; i >= 0; i-- {
		if c := &s.Changes[i]; c.What == engine.PhaseChange && c.New == engine.Paused.String() {
			return c.Who == "user"
		}
	}
	return false
}

// ending is what there is to know of a run's end in a line.
func ending(s *engine.Snapshot) string {
	text := engine.FormatCount(s.Ended) + " sessions in " + engine.FormatDuration(s.Elapsed.Round(1e9))
	if bad := s.Outcomes[engine.Failed] + s.Outcomes[engine.TimedOut]; bad > 0 {
		text += fmt.Sprintf(", %s of them failed or timed out", engine.FormatCount(bad))
	}
	return text + ". Results shows what came of it."
}

// tell notifies, unless the person sees it anyway. The system may take its time.
func (h *herald) tell(title, text string) {
	if !h.on || h.seen {
		return
	}
	app := h.app
	async.Work(func() (struct{}, error) {
		app.SendNotification(fyne.NewNotification(title, text))
		return struct{}{}, nil
	}, func(struct{}, error) {})
}

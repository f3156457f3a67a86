package ui

import (
	"fmt"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/live"
)

// standing is how far the newest run is, as the title and the merge queue say it.
type standing struct {
	name  string // of the scenario; "" is no run
	words string // "42 %", "paused at 42 %", "finished"
	left  string // "3 min left"; "" is not known
	over  bool
	held  bool // paused
}

// stand looks at a run; nil is none.
func stand(job *live.Job) standing {
	if job == nil {
		return standing{over: true}
	}
	s := job.Snapshot()
	at := standing{name: job.Title, over: s.Phase == engine.Ended, held: s.Phase == engine.Paused}
	share := ""
	if s.Total > 0 {
		share = fmt.Sprintf("%d %%", s.Ended*100/s.Total)
	}
	switch {
	case at.over:
		at.words = s.Ending.String()
	case s.Phase == engine.Running && share != "":
		at.words = share
	case share != "":
		at.words = s.Phase.String() + " at " + share
	default:
		at.words = s.Phase.String()
	}
	if s.Phase == engine.Running && s.Remaining >= 0 {
		at.left = coarse(s.Remaining) + " left"
	}
	return at
}

// coarse is a time that need not be said again every second.
func coarse(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "less than a minute"
	case d < 90*time.Minute:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", d.Round(time.Hour)/time.Hour)
	}
	return fmt.Sprintf("%d days", d/(24*time.Hour))
}

// title is what the window is called: the run and how far it is, in front of the program's name.
func (s standing) title() string {
	if s.name == "" {
		return "Throng"
	}
	return s.name + " " + s.words + " · Throng"
}

// line is what the merge queue says.
func (s standing) line() string {
	switch {
	case s.name == "":
		return "No run in progress"
	case s.left != "":
		return s.name + ": " + s.words + ", " + s.left
	}
	return s.name + ": " + s.words
}

// follow brings the title, the merge queue and the notifications in line with the run.
func (a *App) follow() {
	job := a.desk.Live.Job()
	at := stand(job)
	if title := at.title(); a.win.Title() != title {
		a.win.SetTitle(title)
	}
	a.mergeQueue.follow(at)
	if job != nil {
		a.notifier.follow(job)
	}
}

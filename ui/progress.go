package ui

import (
	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/live"
)

// standing is the progress of the newest run for the title and the system tray.
type standing struct {
	name  string  // of the scenario; "" if there is no run
	words string  // "42%", "paused at 42%", "finished"
	left  string  // "3 min left"; "" if unknown
	share float64 // completed, 0 to 1; negative if unknown
	over  bool
	held  bool // paused
}

// stand returns the progress of a run, which may be nil.
func stand(job *live.Job) standing {
	if job == nil {
		return standing{over: true, share: -1}
	}
	s := job.Snapshot()
	at := standing{name: job.Title, over: s.Phase == engine.Ended, held: s.Phase == engine.Paused, share: -1}
	share := ""
	if s.Total > 0 {
		share, at.share = view.SharePercent(s), view.Share(s)
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
	if left := view.TimeLeft(s); left != view.Estimating {
		at.left = left
	}
	return at
}

// title returns the window's title: the run's progress and the program's name.
func (s standing) title() string {
	if s.name == "" {
		return "Throng"
	}
	return s.name + " " + s.words + " · Throng"
}

// line returns the text for the system tray.
func (s standing) line() string {
	switch {
	case s.name == "":
		return "No run in progress"
	case s.left != "":
		return s.name + ": " + s.words + ", " + s.left
	}
	return s.name + ": " + s.words
}

// follow updates the title, the system tray and the notifications.
func (a *App) follow() {
	job := a.desk.Live.Job()
	at := stand(job)
	if title := at.title(); a.win.Title() != title {
		a.win.SetTitle(title)
	}
	a.systemTray.follow(at)
	if at.over {
		a.icon.Show(-1)
	} else {
		a.icon.Show(at.share)
	}
	if job != nil {
		a.notifier.follow(job)
	}
}

// picture returns the content of an icon; nil without one.
func picture(icon fyne.Resource) []byte {
	if icon == nil {
		return nil
	}
	return icon.Content()
}

package ui

import (
	"os"
	"time"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/inspect"
	"github.com/throng-sim/throng/ui/internal/tour"
)

// touredKey is the preference that says that the user has seen or skipped the tour.
const touredKey = "tour.seen"

// tourEnd is the text after the last step.
const tourEnd = "You have seen the most important things. Open Results when the run has ended. To repeat the tour, choose Help, Show the tour."

// welcome starts the tour for a new user who has not opened a file, except in tests that drive the window.
func (a *App) welcome() {
	if !a.opened && !a.app.Preferences().Bool(touredKey) && os.Getenv(inspect.Env) == "" {
		a.showTour()
	}
}

// showTour starts the tour from its first step: launch a run, steer it, pause it, look at an agent. The run may already be in progress.
func (a *App) showTour() {
	if a.tour != nil {
		a.tour.End()
	}
	if a.running() {
		a.showLive()
	} else {
		a.show(a.pages[0])
		a.setup.Tour()
	}
	a.tour = tour.New(a.tourSteps(time.Now()), tourEnd, func() {
		a.app.Preferences().SetBool(touredKey, true)
		a.setup.TourOver()
		a.above.RemoveAll()
		a.over.RemoveAll()
		a.above.Hide()
		a.win.Content().Refresh()
	})
	a.above.Add(a.tour)
	a.over.Add(a.tour.Ring())
	a.above.Show()
	a.win.Content().Refresh()
	a.tour.Follow()
}

// skipTour ends the tour of a window, and reports whether there was one.
func (a *App) skipTour(f *frame) bool {
	if f != a.frame || a.tour == nil || a.tour.Over() {
		return false
	}
	a.tour.End()
	return true
}

// snapshot returns the state of the run in progress or of the last one; nil if there is none.
func (a *App) snapshot() *engine.Snapshot {
	if job := a.desk.Live.Job(); job != nil {
		return job.Snapshot()
	}
	return nil
}

// running reports whether a run is in progress.
func (a *App) running() bool {
	s := a.snapshot()
	return s != nil && s.Phase != engine.Ended
}

// tourSteps returns the steps of a tour that began at a time.
func (a *App) tourSteps(began time.Time) []tour.Step {
	toLive := func(text string) tour.Hint { return tour.Hint{Text: text, Way: "Show Live", Do: a.showLive} }
	toSetup := func(text string) tour.Hint {
		return tour.Hint{Text: text, Way: "Show Setup", Do: func() { a.show(a.pages[0]) }}
	}
	launch := func(text string) tour.Hint { return tour.Hint{Text: text, Target: a.setup.Button} }
	return []tour.Step{
		{Title: "Launch a run", Now: a.nowLaunch, Hints: []tour.Hint{
			launch("The run simulates 372 shoppers in a mock shop. It needs no key, database or network. Press Launch."),
			toSetup("The Launch button is in Setup."),
			{Text: "Another scenario is selected. Press Launch to run it, or return to the tour's, with 372 shoppers in a mock shop.", Way: "Use the tour's scenario", Do: a.setup.Tour, Target: a.setup.Button},
		}},
		{Title: "Move the limit", Now: func() int { return a.nowSteer(limitMoved(a.snapshot(), began), 0) }, Hints: []tour.Hint{
			{Text: "The limit is the number of sessions that run at the same time. Drag the slider, and watch the charts follow.", Target: func() fyne.CanvasObject { return a.live.Marks().Limit }, Shown: a.live.ToTop},
			toLive("The slider is in Live."), toSetup("The run has ended. Launch it again in Setup."), launch("Press Launch to start the run again."),
		}},
		{Title: "Pause and resume", Now: a.nowPause(began), Hints: []tour.Hint{
			{Text: "Press Pause. No session is lost.", Target: func() fyne.CanvasObject { return a.live.Marks().Pause }, Shown: a.live.ToTop},
			toLive("Pause and Resume are in Live."), toSetup("The run has ended. Launch it again in Setup."), launch("Press Launch to start the run again."),
			{Text: "The run is paused. Press Resume.", Target: func() fyne.CanvasObject { return a.live.Marks().Resume }, Shown: a.live.ToTop},
		}},
		{Title: "Look at an agent", Now: a.nowLook, Hints: []tour.Hint{
			{Text: "Open the Agents tab.", Target: func() fyne.CanvasObject { return a.live.Marks().Tabs }, Shown: a.live.ToTabs},
			{Text: "Each cell is a shopper. Click one to read what it did, step by step.", Target: func() fyne.CanvasObject { return a.live.Marks().Grid }},
			toLive("The agents are in Live."),
		}},
	}
}

// nowLaunch returns the hint for the launch.
func (a *App) nowLaunch() int {
	switch {
	case a.running():
		return tour.Done
	case a.current != a.pages[0]:
		return 1
	case !a.setup.ShowsTour():
		return 2
	}
	return 0
}

// nowSteer returns the hint for a step with the run in progress: one of its own hints in Live, or the way there.
func (a *App) nowSteer(done bool, own int) int {
	switch setUp := a.current == a.pages[0]; {
	case done:
		return tour.Done
	case !a.running() && setUp:
		return 3
	case !a.running():
		return 2
	case a.current != a.pages[1]:
		return 1
	}
	return own
}

// nowPause returns the hint for a pause and its end, both after a time.
func (a *App) nowPause(began time.Time) func() int {
	return func() int {
		paused, resumed := pauses(a.snapshot(), began)
		own := 0
		if paused {
			own = 4
		}
		return a.nowSteer(resumed, own)
	}
}

// nowLook returns the hint for an agent.
func (a *App) nowLook() int {
	switch {
	case a.current != a.pages[1]:
		return 2
	case a.live.Inspecting():
		return tour.Done
	case a.live.Tab() == "Agents":
		return 1
	}
	return 0
}

// limitMoved reports whether the user has set the limit after a time.
func limitMoved(s *engine.Snapshot, after time.Time) bool {
	return len(byUser(s, engine.LimitSetting, after)) > 0
}

// pauses reports whether the user's newest change is a pause, and whether the user has ended one, both after a time.
func pauses(s *engine.Snapshot, after time.Time) (paused, resumed bool) {
	for _, c := range byUser(s, engine.PhaseChange, after) {
		switch engine.Paused.String() {
		case c.New:
			paused = true
		case c.Old:
			paused, resumed = false, resumed || paused
		}
	}
	return paused, resumed
}

// byUser returns the user's changes of one kind after a time.
func byUser(s *engine.Snapshot, what string, after time.Time) (all []engine.ChangeRow) {
	if s == nil {
		return nil
	}
	for _, c := range s.Changes {
		if c.What == what && c.Who == view.User && c.At.After(after) {
			all = append(all, c)
		}
	}
	return all
}

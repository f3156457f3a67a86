package ui

import (
	"os"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/internal/inspect"
	"github.com/throng-sim/throng/ui/internal/tour"
)

// touredKey is the preference that says that the user has seen or skipped the tour.
const touredKey = "tour.seen"

// welcome starts the tour for a new user, except in tests that drive the window.
func (a *App) welcome() {
	if !a.app.Preferences().Bool(touredKey) && os.Getenv(inspect.Env) == "" {
		a.showTour()
	}
}

// showTour shows the tour: choose a scenario, launch it, steer it.
func (a *App) showTour() {
	if a.tour != nil {
		a.tour.Rest()
	}
	a.show(a.pages[0])
	a.tour = tour.New(a.win.Canvas(), []tour.Step{
		{
			Title: "Choose a scenario", Target: func() fyne.CanvasObject { return a.setup.Gallery() },
			Text: "A scenario defines the agents and what they do. The first one simulates shoppers in a mock shop: it needs no key, database or network.",
		},
		{
			Title: "Launch it", Target: func() fyne.CanvasObject { return a.setup.Button() }, Next: "Launch now", Do: a.tourLaunch,
			Text: "See the forecast and the preflight checks for what the run needs. Everything is ready: launch it now, or skip the tour to look around.",
		},
		{
			Title: "Steer it", Target: a.steering,
			Text: "Drag the limit to change how many sessions run concurrently. The agents, charts and chain below show the effect. Pause or stop at any time; you can resume the run later.",
		},
	}, func() { a.app.Preferences().SetBool(touredKey, true) })
	a.tour.Go(0)
}

// tourLaunch launches the run; the tour continues when Live shows it.
func (a *App) tourLaunch() {
	a.tour.Rest()
	a.setup.Launch()
}

// launched shows the run that was started, and continues the tour.
func (a *App) launched() {
	a.showLive()
	if a.tour != nil && !a.tour.Over() {
		a.tour.Go(2)
	}
}

// steering returns the controls of the run; nil if there is no run.
func (a *App) steering() fyne.CanvasObject {
	if a.current != a.pages[1] {
		return nil
	}
	return a.live.Steering()
}

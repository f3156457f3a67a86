package ui

import (
	"os"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/internal/inspect"
	"github.com/throng-sim/throng/ui/internal/tour"
)

// touredKey is the preference that says that a person has seen the tour, or skipped it.
const touredKey = "tour.seen"

// welcome shows a person round who is here for the first time. A test that drives the window knows its way.
func (a *App) welcome() {
	if !a.app.Preferences().Bool(touredKey) && os.Getenv(inspect.Env) == "" {
		a.showTour()
	}
}

// showTour shows a person round: what to run, how to launch it, and how to steer it once it runs.
func (a *App) showTour() {
	if a.tour != nil {
		a.tour.Rest()
	}
	a.show(a.pages[0])
	a.tour = tour.New(a.win.Canvas(), []tour.Step{
		{
			Title: "What to run", Target: func() fyne.CanvasObject { return a.setup.Gallery() },
			Text: "A scenario says who the agents are and what they do. The first one is a crowd of shoppers in a shop that Throng plays itself: it needs no key, no database and no network.",
		},
		{
			Title: "Launch it", Target: func() fyne.CanvasObject { return a.setup.Button() }, Next: "Launch now", Do: a.tourLaunch,
			Text: "The forecast and the checks say what a run takes. Everything is ready: launch it now, or skip the tour and look round first.",
		},
		{
			Title: "Steer it", Target: a.steering,
			Text: "Drag the limit while it runs: that many agents are at work at once. The agents, the charts and the chain below show what comes of it. Pause or stop at any moment: nothing is lost, and the run goes on from where it was.",
		},
	}, func() { a.app.Preferences().SetBool(touredKey, true) })
	a.tour.Go(0)
}

// tourLaunch launches what is set up; the tour goes on when the run is shown.
func (a *App) tourLaunch() {
	a.tour.Rest()
	a.setup.Launch()
}

// launched shows the run that was started, and goes on with the tour if there is one.
func (a *App) launched() {
	a.showLive()
	if a.tour != nil && !a.tour.Over() {
		a.tour.Go(2)
	}
}

// steering is what a run is steered by; nil while there is none.
func (a *App) steering() fyne.CanvasObject {
	if a.current != a.pages[1] {
		return nil
	}
	return a.live.Steering()
}

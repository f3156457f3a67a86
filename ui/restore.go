package ui

import (
	"context"
	"encoding/json"
	"log/slog"
	"reflect"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/live"
)

// spotKey is the preference with the spot. It is one text because each write of the preferences writes a file.
const spotKey = "screen"

// spot is what the first window shows, for the next start.
type spot struct {
	Screen   string         // its title
	Runs     []engine.RunID // chosen on the screen
	Scenario string         // in the editor
	// Experiment is the path of the chosen experiment.
	Experiment string `json:",omitempty"`
}

// spotOf returns what a window shows.
func spotOf(a *App) spot {
	at := spot{Screen: a.current.title}
	var run engine.RunID
	switch a.current {
	case a.pages[1]:
		run = a.live.Chosen()
	case a.pages[2]:
		run = a.runs.Chosen()
	case a.pages[3]:
		run = a.results.Chosen()
	case a.pages[4]:
		at.Runs = a.compare.Chosen()
	case a.editor.page:
		at.Scenario = a.editor.screen.Chosen()
	case a.pageOf(experimentsTitle):
		at.Experiment = a.experiments.Chosen()
	}
	if run != "" {
		at.Runs = []engine.RunID{run}
	}
	return at
}

// keep stores the spot if it has changed. A screen that has nothing to show may still be loading.
func (s *spot) keep(a *App) {
	at := spotOf(a)
	if empty := len(at.Runs) == 0 && at.Scenario == "" && at.Experiment == ""; reflect.DeepEqual(*s, at) || empty && at.Screen == s.Screen {
		return
	}
	*s = at
	text, err := json.Marshal(at)
	if err != nil {
		slog.Warn("cannot keep what the window shows", "error", err)
		return
	}
	a.app.Preferences().SetString(spotKey, string(text))
}

// restore shows what the window showed when the program ended, whether it was closed or not. At the first start that is Setup.
func restore(a *App) {
	a.show(a.pages[0])
	var at spot
	if json.Unmarshal([]byte(a.app.Preferences().String(spotKey)), &at) != nil {
		return
	}
	a.choices.spot = at
	var run engine.RunID
	if len(at.Runs) > 0 {
		run = at.Runs[0]
	}
	switch at.Screen {
	case a.pages[1].title:
		restoreLive(a, run)
		return
	case a.pages[2].title:
		a.runs.Select(run)
	case a.pages[3].title:
		a.results.Select(run)
	case a.pages[4].title:
		a.compare.Select(at.Runs...)
	case experimentsTitle:
		if a.experiments != nil && at.Experiment != "" {
			a.experiments.Select(at.Experiment)
		}
	case a.editor.page.title:
		if at.Scenario != "" {
			a.editor.open(at.Scenario)
		}
		return
	}
	for _, p := range a.pages {
		if p.title == at.Screen {
			a.show(p)
		}
	}
}

// restoreLive opens the history of the run that Live showed, because it is no longer in progress here. If there is none, Setup stays.
func restoreLive(a *App, run engine.RunID) {
	if run == "" {
		return
	}
	a.showLive()
	async.Work(func() (*live.Job, error) { return a.desk.Live.Past(context.Background(), run) }, func(job *live.Job, err error) {
		switch {
		case a.current != a.pages[1] || a.desk.Live.Job() != nil: // the user was faster
		case err != nil: // it was deleted
			slog.Info("cannot open the run that was shown last", "run", run, "error", err)
			a.show(a.pages[0])
		default:
			a.live.History(job)
		}
	})
}

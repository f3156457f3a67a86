package ui

import (
	"context"
	"errors"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/live"
	"github.com/throng-sim/throng/ui/uitest"
)

// library is a desk of Runs with two runs.
type library struct{ runsDesk }

func (library) Runs(context.Context) ([]engine.RunRecord, error) {
	return []engine.RunRecord{{ID: "new", Title: "Shoppers", Ending: engine.EndFinished}, {ID: "old", Title: "Shoppers", Ending: engine.EndFinished}}, nil
}

func (library) Checkpoints(context.Context, engine.RunID) ([]engine.CheckpointRecord, error) {
	return nil, nil
}

// again closes the window of a program and starts the program again.
func again(q *uitest.Queue, a *App) *App {
	a.tick()
	next := New(a.app, a.desk)
	q.Drain()
	return next
}

// TestOpensWhereItWasClosed checks that each start shows what the window showed at the last tick before the end.
func TestOpensWhereItWasClosed(t *testing.T) {
	d := &desk{}
	q, a, fake := start(t, d)
	if a.current != a.pages[0] {
		t.Errorf("the first start shows %s", a.current.title)
	}
	a.show(a.pageOf("Calibrate"))
	if a = again(q, a); a.current.title != "Calibrate" {
		t.Errorf("%s is shown instead of Calibrate", a.current.title)
	}
	a.desk.Runs = library{runsDesk{d: d}}
	if a = again(q, a); a.current.title != "Calibrate" {
		t.Errorf("%s is shown instead of Calibrate", a.current.title)
	}
	a.runs.Select("old")
	a.show(a.pages[2])
	q.Drain()
	if a = again(q, a); a.current.title != "Runs" || a.runs.Chosen() != "old" {
		t.Errorf("%s shows %q instead of the older run", a.current.title, a.runs.Chosen())
	}
	a.Open("/a.yaml")
	if a = again(q, a); a.current.title != "Setup" {
		t.Errorf("%s is shown instead of Setup", a.current.title)
	}
	fake.Preferences().SetString(spotKey, `{"Screen": "Elsewhere"}`)
	if a = New(fake, a.desk); a.current.title != "Setup" {
		t.Errorf("%s is shown instead of a screen of another version", a.current.title)
	}
}

// TestOpensTheRunOfLive checks that the run of Live is shown in the history, unless it is gone or the user was faster.
func TestOpensTheRunOfLive(t *testing.T) {
	d := &desk{job: &live.Job{Run: run{}, Title: "Last month", Settings: engine.DefaultSettings()}}
	q, a, _ := start(t, d)
	a.showLive()
	if a.tick(); a.choices.spot.Screen != "Live" || len(a.choices.spot.Runs) != 1 {
		t.Fatalf("kept is %+v", a.choices.spot)
	}
	d.past, d.job = d.job, nil
	a = again(q, a)
	q.Until("the run is shown", func() bool { return a.live.Chosen() == "r" })
	if a.current.title != "Live" {
		t.Errorf("%s is shown instead of Live", a.current.title)
	}
	faster := New(a.app, a.desk)
	faster.Open("/a.yaml")
	q.Until("the run is read", func() bool { return d.was("the history of r") == 2 })
	if q.Drain(); faster.current.title != "Setup" || faster.live.Chosen() != "" {
		t.Errorf("%s shows %q after a file was opened", faster.current.title, faster.live.Chosen())
	}
	d.refusal = errors.New("no such run")
	a = again(q, a)
	q.Until("Setup is shown because the run is gone", func() bool { return a.current.title == "Setup" })
	if a.overlay() != nil {
		t.Error("an error is shown for a run that is gone")
	}
}

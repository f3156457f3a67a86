package ui

import (
	"context"
	"testing"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/setup"
	"github.com/throng-sim/throng/ui/uitest"
)

// firstDesk has one scenario and no problems.
type firstDesk struct {
	setup.Desk
	d *desk
}

func (s firstDesk) Choices(context.Context) ([]setup.Choice, error) {
	return []setup.Choice{{Name: "shopping", Title: "Marketplace shoppers", BuiltIn: true}}, nil
}

func (s firstDesk) Scenario(context.Context, string, map[string]string) (*setup.Scenario, error) {
	return &setup.Scenario{Name: "shopping", Title: "Marketplace shoppers", Agents: 372, Settings: engine.DefaultSettings()}, nil
}
func (s firstDesk) Choose(context.Context, setup.Order) (int, error) { return 372, nil }
func (s firstDesk) Requirements(context.Context, setup.Order) (o setup.Requirements, _ error) {
	return o, nil
}

func (s firstDesk) Forecast(context.Context, setup.Order) (f engine.Forecast, _ error) { return f, nil }

func (s firstDesk) Preset(context.Context) (string, error) { return "", nil }

func (s firstDesk) Preflight(context.Context, setup.Order, bool, func([]engine.Check)) ([]engine.Check, error) {
	return []engine.Check{{Name: "Disk", Grade: engine.GradeOK}}, nil
}

func (s firstDesk) Unallowed(context.Context, setup.Order) ([]engine.Destination, error) {
	return nil, nil
}

func (s firstDesk) Launch(context.Context, setup.Order, func(done, total int)) error {
	s.d.ask("launch")
	return nil
}
func (s firstDesk) Remote() string { return "" }

// first is the window at the first start of the program.
func first(t *testing.T, d *desk) (*uitest.Queue, *App) {
	t.Helper()
	q := uitest.Start(t)
	d.settled = make(chan struct{})
	a := New(&app{App: fyne.CurrentApp()}, Desk{
		Setup: firstDesk{d: d}, Live: liveDesk{d: d}, Runs: runsDesk{d: d}, Results: resultsDesk{},
		Compare: compareDesk{}, Calibrate: calibrateDesk{d: d}, Settings: settingsDesk{}, Store: d,
	})
	q.Until("read", func() bool { return uitest.Shows(a.setup.Content(), "372 agents") })
	a.greet()
	return q, a
}

func (a *App) typed(name fyne.KeyName) {
	a.win.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: name})
}

// TestTheFirstStart checks that the tour is shown and that pressing Return three times launches the mock without
// further input.
func TestTheFirstStart(t *testing.T) {
	d := &desk{}
	q, a := first(t, d)
	q.Until("shown round", func() bool { return a.overlay() != nil && uitest.Shows(a.overlay(), "1 of 3") })
	a.typed(fyne.KeyReturn)
	if !uitest.Shows(a.overlay(), "2 of 3") {
		t.Fatalf("the screen shows %q", uitest.Texts(a.overlay()))
	}
	a.typed(fyne.KeyReturn)
	q.Until("launched", func() bool { return d.was("launch") == 1 && a.current.title == "Live" })
	q.Until("continued", func() bool { return a.overlay() != nil && uitest.Shows(a.overlay(), "3 of 3") })
	a.tick()
	a.typed(fyne.KeyReturn)
	if a.overlay() != nil || !a.app.Preferences().Bool(touredKey) {
		t.Error("the tour is not over")
	}
	a.greet()
	q.Drain()
	if a.overlay() != nil {
		t.Error("the tour is shown again")
	}
	a.showTour()
	if a.overlay() == nil || a.current.title != "Setup" {
		t.Error("the menu does not show it")
	}
}

// TestTheTourIsSkipped checks that a skipped tour does not open again, and that it does not open if there is a run to
// resume.
func TestTheTourIsSkipped(t *testing.T) {
	q, a := first(t, &desk{})
	q.Until("shown round", func() bool { return a.overlay() != nil })
	a.typed(fyne.KeyEscape)
	if a.overlay() != nil || !a.app.Preferences().Bool(touredKey) {
		t.Error("the tour is not skipped permanently")
	}
	q, a = first(t, &desk{interrupted: &engine.RunRecord{ID: "r1", Title: "Shoppers"}})
	q.Until("asked", func() bool { return a.overlay() != nil })
	if uitest.Shows(a.overlay(), "1 of 3") {
		t.Error("the tour hides the question")
	}
}

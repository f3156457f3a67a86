package ui

import (
	"context"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/importer"
	"github.com/throng-sim/throng/ui/uitest"
	"github.com/throng-sim/throng/ui/wizard"
)

// importing is a desk with one request. Methods that no test calls panic.
type importing struct{ wizard.Desk }

func (importing) Accepts(path string) bool { return strings.HasSuffix(path, ".har") }

func (importing) Read(context.Context, wizard.Request) (*wizard.Found, error) {
	step := importer.Step{ID: "GET /", Name: "home", Use: true, Method: "GET", Path: importer.Value{Literal: "/"}}
	return &wizard.Found{Draft: &importer.Draft{Source: "a visit", Services: []importer.Service{{Name: "shop"}}, Steps: []importer.Step{step}}}, nil
}

func (importing) Chain(context.Context, []byte, []importer.File) (g engine.Graph, err error) {
	return g, nil
}

func TestFilesThatAreImported(t *testing.T) {
	d := &desk{}
	q, a, fake := start(t, d)
	if b := a.commandNamed("New scenario from your backend…"); b == nil || b.Can() {
		t.Error("importing is offered without a desk for it")
	}
	a.wizard = wizard.New(importing{}, a.win, wizard.Ways{Created: a.created})
	a.Open("/scenarios/mine.yaml")
	q.Until("read", func() bool { return d.was("read /scenarios/mine.yaml") > 0 })
	if a.wizard.IsOpen() {
		t.Error("a scenario is imported")
	}
	a.Open("/visits/first.har")
	q.Until("imported", func() bool {
		return a.wizard.IsOpen() && uitest.Shows(a.overlay(), "A visit: 1 step, 1 in the journey.")
	})
	a.tick()
	a.close()
	q.Drain()
	if fake.quit != 0 || !uitest.Shows(a.overlay(), "Discard this import?") {
		t.Fatalf("quit %d times", fake.quit)
	}
	q.Tap(a.overlay(), "Discard")
	if fake.quit != 1 || a.wizard.IsOpen() {
		t.Errorf("quit %d times", fake.quit)
	}
}

// TestImportFromTheMenu checks that the command opens the dialog, which Escape closes.
func TestImportFromTheMenu(t *testing.T) {
	q := uitest.Start(t)
	d := &desk{settled: make(chan struct{})}
	close(d.settled)
	a := New(&app{App: fyne.CurrentApp()}, Desk{
		Setup: setupDesk{d: d}, Live: liveDesk{d: d}, Runs: runsDesk{d: d}, Results: resultsDesk{}, Import: importing{},
		Compare: compareDesk{}, Calibrate: calibrateDesk{d: d}, Settings: settingsDesk{}, Experiments: experimentsDesk{d: d}, Designer: designs{}, Store: d,
	})
	q.Drain()
	a.do(a.commandNamed("New scenario from your backend…"))
	if !a.wizard.IsOpen() || !uitest.Shows(a.overlay(), "Step 1 of 3") {
		t.Fatal("the dialog is not open")
	}
	a.key(fyne.KeyEscape)
	if a.wizard.IsOpen() || a.overlay() != nil {
		t.Error("Escape does not close the dialog")
	}
}

// commandNamed returns a command of the window, or nil.
func (a *App) commandNamed(name string) *command {
	for _, d := range a.commands {
		if d.Name == name {
			return d
		}
	}
	return nil
}

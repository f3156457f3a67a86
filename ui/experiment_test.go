package ui

import (
	"context"
	"testing"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment/draft"
	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/ui/experiments"
	"github.com/throng-sim/throng/ui/experiments/designer"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/uitest"
)

// experimentsDesk has one experiment without runs, under any path.
type experimentsDesk struct {
	experiments.Desk
	d *desk
}

func (e experimentsDesk) List(context.Context) ([]experiments.Entry, error) {
	return []experiments.Entry{{Path: "/mine/prices.experiment.yaml", Title: "Does eagerness pay?"}}, nil
}

func (e experimentsDesk) Open(_ context.Context, path string) (*experiments.Details, error) {
	e.d.ask("experiment " + path)
	return &experiments.Details{Path: path, Title: "Does eagerness pay?", Forecast: "60 runs take about 12 min."}, nil
}

func (e experimentsDesk) Findings(context.Context, string) (*findings.Table, error) {
	return &findings.Table{
		Baseline: -1, Points: []findings.Point{{Label: "the only one"}}, Seeds: []uint64{1},
		Runs: [][]findings.Run{{{Identity: "i", ID: "r", State: findings.Waiting}}},
	}, nil
}

func (e experimentsDesk) Working() []experiments.Work { return e.d.working }

func (e experimentsDesk) Changed() uint64 { return 0 }

// TestAnExperimentIsOpened checks that an experiment file opens its screen, from a menu, a drop or another program, and a scenario does not.
func TestAnExperimentIsOpened(t *testing.T) {
	d := &desk{}
	q, a, _ := start(t, d)
	a.Open("/mine/prices.experiment.yaml")
	q.Until("it is read", func() bool { return d.was("experiment /mine/prices.experiment.yaml") > 0 })
	q.Until("it is shown", func() bool { return uitest.Shows(a.current.Content(), "60 runs take about 12 min.") })
	if a.current.title != experimentsTitle {
		t.Errorf("%s is shown", a.current.title)
	}
	a.Open("/scenarios/mine.yaml")
	if a.current.title != "Setup" {
		t.Errorf("a scenario opens %s", a.current.title)
	}
	q.Until("read", func() bool { return d.was("read /scenarios/mine.yaml") > 0 })
}

// designs suggests a form without factors, which has one run.
type designs struct{ designer.Desk }

func (designs) Scenarios(context.Context) ([]designer.Scenario, error) {
	return []designer.Scenario{{Name: "shopping", Title: "Shoppers"}}, nil
}

func (designs) Suggest(_ context.Context, of string) (*designer.Form, error) {
	return &designer.Form{Scenario: of, Draft: draft.Draft{Title: "Prices"}}, nil
}

func (designs) Load(_ context.Context, path string) (*designer.Form, error) {
	return &designer.Form{Path: path, Draft: draft.Draft{Title: "Prices"}}, nil
}

func (designs) Check(context.Context, designer.Form) (*designer.Checked, error) {
	return &designer.Checked{Points: 1, Seeds: 1, Runs: 1}, nil
}

func (designs) Save(context.Context, string, designer.Form) error { return nil }

// TestAnExperimentIsMade makes an experiment from the menu. A window with changes that are not saved asks before it closes.
func TestAnExperimentIsMade(t *testing.T) {
	d := &desk{}
	q, a, fake := start(t, d)
	a.show(a.pageOf(experimentsTitle))
	a.do(a.commandNamed("New experiment…"))
	q.Until("the form", func() bool { return a.overlay() != nil && uitest.Shows(a.overlay(), "1 point × 1 seed") })
	a.key(fyne.KeyEscape)
	if a.overlay() != nil {
		t.Fatal("Escape does not close the dialog")
	}
	q.Until("the experiments", func() bool { return uitest.Button(a.current.Content(), "Edit…") != nil })
	q.Tap(a.current.Content(), "Edit…")
	q.Until("the form", func() bool { return a.overlay() != nil && uitest.Shows(a.overlay(), "1 point × 1 seed") })
	title, ok := a.win.Canvas().Focused().(*form.Entry)
	if !ok {
		t.Fatal("the title is not focused")
	}
	title.SetText("Better")
	a.tick()
	a.close()
	q.Drain()
	if fake.quit != 0 || !uitest.Shows(a.overlay(), "Discard the changes?") {
		t.Fatalf("quit %d times", fake.quit)
	}
	q.Tap(a.overlay(), "Continue")
	q.Until("it can be saved", func() bool { b := uitest.Button(a.overlay(), "Save"); return b != nil && !b.Disabled() })
	q.Tap(a.overlay(), "Save")
	q.Until("saved", func() bool { return a.overlay() == nil })
	if a.current.title != experimentsTitle || a.experiments.Chosen() != "/mine/prices.experiment.yaml" {
		t.Errorf("%s shows %q", a.current.title, a.experiments.Chosen())
	}
}

// TestNoExperiments checks that the page is missing if the application has no experiments, and that the keys of the others follow.
func TestNoExperiments(t *testing.T) {
	uitest.Start(t)
	d := &desk{settled: make(chan struct{})}
	a := New(&app{App: fyne.CurrentApp()}, Desk{
		Setup: setupDesk{d: d}, Live: liveDesk{d: d}, Runs: runsDesk{d: d}, Results: resultsDesk{},
		Compare: compareDesk{}, Calibrate: calibrateDesk{d: d}, Settings: settingsDesk{}, Store: d,
	})
	if a.pageOf(experimentsTitle) != nil || a.openExperiment("/mine/prices.experiment.yaml") {
		t.Error("the window has experiments")
	}
	if a.pages[6] != a.pageOf(settingsTitle) {
		t.Error("the settings are elsewhere")
	}
}

// TestTheExperimentIsRestored checks that the next start shows the same experiment.
func TestTheExperimentIsRestored(t *testing.T) {
	d := &desk{}
	q, a, _ := start(t, d)
	a.openExperiment("/mine/prices.experiment.yaml")
	q.Until("it is shown", func() bool { return uitest.Shows(a.current.Content(), "60 runs") })
	a.tick()
	a = again(q, a)
	if a.current.title != experimentsTitle || a.experiments.Chosen() != "/mine/prices.experiment.yaml" {
		t.Errorf("%s shows %q", a.current.title, a.experiments.Chosen())
	}
}

// patientExperiments answers when the test lets it.
type patientExperiments struct {
	experiments.Desk
	*patience
}

func (p patientExperiments) List(context.Context) ([]experiments.Entry, error) {
	p.wait("List of experiments")
	return []experiments.Entry{{Path: "/mine/prices.experiment.yaml", Title: "Does eagerness pay?", State: experiments.Partial, Done: 1, Total: 2}}, nil
}

func (p patientExperiments) Open(_ context.Context, path string) (*experiments.Details, error) {
	p.wait("Open of experiments")
	return &experiments.Details{Path: path, Title: "Does eagerness pay?"}, nil
}

func (p patientExperiments) Findings(ctx context.Context, path string) (*findings.Table, error) {
	p.wait("Findings")
	return experimentsDesk{}.Findings(ctx, path)
}

func (p patientExperiments) Working() []experiments.Work { return nil }

func (p patientExperiments) Changed() uint64 { return 0 }

func (p patientExperiments) Unallowed(context.Context, string) ([]engine.Destination, error) {
	p.wait("Unallowed of experiments")
	return nil, nil
}

func (p patientExperiments) Run(context.Context, string, []string) error {
	p.wait("Run of experiments")
	return nil
}

func (p patientExperiments) Stop(context.Context, string) error {
	p.wait("Stop of experiments")
	return nil
}

func (p patientExperiments) MoreSeeds(context.Context, string, int) error {
	p.wait("MoreSeeds")
	return nil
}

func (p patientExperiments) Forget(context.Context, string) error {
	p.wait("Forget")
	return nil
}

// patientDesigns answers when the test lets it.
type patientDesigns struct {
	designer.Desk
	*patience
}

func (p patientDesigns) Scenarios(context.Context) ([]designer.Scenario, error) {
	p.wait("Scenarios of experiments")
	return designs{}.Scenarios(context.Background())
}

func (p patientDesigns) Suggest(ctx context.Context, of string) (*designer.Form, error) {
	p.wait("Suggest")
	return designs{}.Suggest(ctx, of)
}

func (p patientDesigns) Load(ctx context.Context, path string) (*designer.Form, error) {
	p.wait("Load of experiments")
	return designs{}.Load(ctx, path)
}

func (p patientDesigns) Check(ctx context.Context, f designer.Form) (*designer.Checked, error) {
	p.wait("Check of experiments")
	return designs{}.Check(ctx, f)
}

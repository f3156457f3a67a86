package design

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/ui/experiments/designer"
)

// newDesk returns a desk with the built-in scenarios.
func newDesk(t *testing.T) *Desk {
	t.Helper()
	keyring.MockInit()
	a, err := app.Open(app.Options{Data: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return &Desk{App: a, List: func(context.Context) ([]designer.Scenario, error) {
		return []designer.Scenario{{Name: "shopping", Title: "Shoppers"}}, nil
	}}
}

// check checks a form.
func check(t *testing.T, d *Desk, f *designer.Form) *designer.Checked {
	t.Helper()
	c, err := d.Check(t.Context(), *f)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestANewExperiment makes an experiment with shopping, saves it, and edits it.
func TestANewExperiment(t *testing.T) {
	d := newDesk(t)
	all, err := d.Scenarios(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f, err := d.Suggest(t.Context(), all[0].Name)
	if err != nil {
		t.Fatal(err)
	}
	c := check(t, d, f)
	if c.Wrong() || c.Points != 6 || c.Seeds != 10 || c.Runs != 60 || c.Done != 0 || c.OverBudget {
		t.Errorf("checked: %+v", c)
	}
	var names []string
	for _, figure := range c.Figures {
		names = append(names, figure.Name)
	}
	if !slices.Contains(names, "time") || !slices.Contains(names, "requests") || !slices.Contains(names, "disk") {
		t.Errorf("forecast: %+v", c.Figures)
	}
	f.Draft.Factors[0].Levels = "0.5, 1"
	if c = check(t, d, f); c.Runs != 40 {
		t.Errorf("with two levels: %+v", c)
	}
	path := filepath.Join(t.TempDir(), "mine.experiment.yaml")
	if err := d.Save(t.Context(), path, *f); err != nil {
		t.Fatal(err)
	}
	was, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(was), "params.eagerness: [0.5, 1]\n") {
		t.Fatalf("%v in\n%s", err, was)
	}
	edited, err := d.Load(t.Context(), path)
	if err != nil || len(edited.Draft.Factors) != len(f.Draft.Factors) || edited.Draft.Varied() != 2 || edited.Choices.Factor("params.eagerness").Usual != "1" {
		t.Fatalf("loaded %+v, %v", edited, err)
	}
	if err := d.Save(t.Context(), path, *edited); err != nil {
		t.Fatal(err)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, was) {
		t.Errorf("an untouched form changed the file, %v:\n%s", err, now)
	}
	edited.Draft.Seeds = "3"
	if c = check(t, d, edited); c.Runs != 12 {
		t.Errorf("with three seeds: %+v", c)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, was) {
		t.Errorf("a check changed the file, %v:\n%s", err, now)
	}
}

// TestMistakes checks that mistakes have their fields, and that nothing with mistakes is written.
func TestMistakes(t *testing.T) {
	d := newDesk(t)
	f, err := d.Suggest(t.Context(), "shopping")
	if err != nil {
		t.Fatal(err)
	}
	f.Draft.Factors[0].Levels = "0 to 5"
	c := check(t, d, f)
	if !c.Wrong() || c.Mistakes[0].Field != "vary.params.eagerness" || c.Unfit["grid"] == "" || c.Unfit["lhs"] != "" {
		t.Errorf("a range in a grid: %+v", c)
	}
	f.Draft.Factors[0].Levels = "1, many"
	if c = check(t, d, f); !c.Wrong() || c.Mistakes[0].Field != "vary.params.eagerness" {
		t.Errorf("a text in place of a number: %+v", c)
	}
	path := filepath.Join(t.TempDir(), "mine.experiment.yaml")
	if err := d.Save(t.Context(), path, *f); err == nil {
		t.Error("it was saved with a mistake")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a file with a mistake was written")
	}
}

// TestAScenarioOfOnesOwn checks that the experiment names the scenario by its path, wherever it is saved, and that a file that changed in
// the meantime is kept.
func TestAScenarioOfOnesOwn(t *testing.T) {
	d := newDesk(t)
	dir := t.TempDir()
	scenario := filepath.Join(dir, "scenarios", "dice.throng.yaml")
	if err := os.MkdirAll(filepath.Dir(scenario), 0o700); err != nil {
		t.Fatal(err)
	}
	const dice = `
title: Dice
parameters:
  sides: {default: 6, min: 2, max: 20}
population: {count: 4}
clock: {cycles: 2}
chain play:
  step roll: {kind: emit, event: roll, data: {value: "${params.sides}"}}
`
	if err := os.WriteFile(scenario, []byte(dice), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := d.Suggest(t.Context(), scenario)
	if err != nil {
		t.Fatal(err)
	}
	if c := check(t, d, f); c.Wrong() || c.Points < 2 {
		t.Errorf("checked: %+v", c)
	}
	if !slices.Contains(f.Choices.Measures, "events.roll.value.mean") || f.Choices.Cycles != "2" {
		t.Errorf("choices: %+v", f.Choices)
	}
	path := filepath.Join(dir, "dice.experiment.yaml")
	if err := d.Save(t.Context(), path, *f); err != nil {
		t.Fatal(err)
	}
	edited, err := d.Load(t.Context(), path)
	if err != nil || edited.Draft.Scenario != "scenarios/dice.throng.yaml" {
		t.Fatalf("loaded %+v, %v", edited, err)
	}
	if err := os.WriteFile(path, append(edited.Text, "# mine\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.Save(t.Context(), path, *edited); err == nil || !strings.Contains(err.Error(), "nothing was written") {
		t.Errorf("a file that changed was replaced: %v", err)
	}
	if _, err := d.Load(t.Context(), filepath.Join(dir, "none")); err == nil {
		t.Error("a missing file was loaded")
	}
}

// Package design serves the dialog in which experiments are made.
package design

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/internal/app/experiments"
	"github.com/throng-sim/throng/engine/experiment"
	"github.com/throng-sim/throng/engine/experiment/draft"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/experiments/designer"
)

// Desk serves the dialog. It is safe for concurrent use.
type Desk struct {
	App *app.App
	// List lists the scenarios of the window.
	List func(context.Context) ([]designer.Scenario, error)

	checking sync.Mutex // a person types faster than large designs are planned
}

var _ designer.Desk = (*Desk)(nil)

func (d *Desk) data() string { return d.App.Store().Dir() }

// Scenarios lists the scenarios that an experiment can be made for.
func (d *Desk) Scenarios(ctx context.Context) ([]designer.Scenario, error) { return d.List(ctx) }

// Suggest returns a new experiment with a scenario.
func (d *Desk) Suggest(_ context.Context, of string) (*designer.Form, error) {
	s, err := authoring.Open(d.data(), of, nil)
	if err != nil {
		return nil, err
	}
	f := &designer.Form{Scenario: of}
	f.Draft, f.Choices = experiment.Suggest(s, of)
	return f, nil
}

// Load reads the file of an experiment. A scenario that cannot be loaded leaves the form without choices; checking it reports why.
func (d *Desk) Load(_ context.Context, path string) (*designer.Form, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &designer.Form{Path: path, Text: text}
	if f.Draft, err = draft.Read(filepath.Base(path), text); err != nil {
		return nil, err
	}
	if s, err := experiments.Scenario(d.data(), path, f.Draft.Scenario, nil); err == nil {
		var suggested draft.Draft
		suggested, f.Choices = experiment.Suggest(s, f.Draft.Scenario)
		f.Draft.Offer(&suggested)
	}
	return f, nil
}

// text returns the file that a form becomes at a path.
func (d *Desk) text(path string, f *designer.Form) ([]byte, error) {
	if f.Text != nil {
		return f.Draft.Edit(filepath.Base(path), f.Text)
	}
	c := f.Draft.Clone()
	var err error
	if c.Scenario, err = experiments.Named(path, f.Scenario); err != nil {
		return nil, err
	}
	return c.YAML(), nil
}

// place returns the path of a form. A new one has a place next to its scenario.
func (d *Desk) place(f *designer.Form) string {
	switch info, err := os.Stat(f.Scenario); {
	case f.Path != "":
		return f.Path
	case err == nil && !info.IsDir():
		return filepath.Join(filepath.Dir(f.Scenario), "new"+experiment.Ending)
	default:
		return filepath.Join(d.data(), "new"+experiment.Ending)
	}
}

// Check plans a form and forecasts its runs.
func (d *Desk) Check(ctx context.Context, f designer.Form) (*designer.Checked, error) {
	d.checking.Lock()
	defer d.checking.Unlock()
	if err := ctx.Err(); err != nil { // something else was typed
		return nil, err
	}
	path := d.place(&f)
	text, err := d.text(path, &f)
	if err != nil {
		return nil, err
	}
	c := &designer.Checked{Unfit: map[string]string{}}
	for kind, why := range experiment.Unfit(&f.Draft) {
		c.Unfit[kind] = why.Error()
	}
	s, forecast, err := experiments.Preview(ctx, d.App, path, text, experiments.Options{Env: os.Getenv})
	if mistakes, ok := errors.AsType[*scenario.Mistakes](err); ok {
		c.Mistakes = draft.Locate(filepath.Base(path), text, mistakes.Problems())
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	x := s.Experiment
	c.Mistakes = draft.Locate(filepath.Base(path), text, x.Warnings())
	c.Points, c.Seeds = len(s.Plan.Points), len(s.Plan.Seeds)
	c.Done, c.Runs = s.Count(experiments.Done)
	for _, l := range view.WorkLines(forecast.Length, forecast.Requests, forecast.Tokens, forecast.Cost, forecast.Disk) {
		c.Figures = append(c.Figures, designer.Figure{Name: l.Name, Text: l.Text})
	}
	c.OverBudget = x.Budget.USD > 0 && forecast.Cost.Known() && forecast.Cost.Low > x.Budget.USD
	for _, w := range x.CRN() {
		c.Pairing = append(c.Pairing, w.String())
	}
	return c, nil
}

// Save writes the file of an experiment, if it has no mistakes.
func (d *Desk) Save(_ context.Context, path string, f designer.Form) error {
	text, err := d.text(path, &f)
	if err != nil {
		return err
	}
	if _, err := experiments.ReadAs(d.data(), path, text); err != nil {
		return err
	}
	if f.Text != nil {
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, f.Text) {
			return fmt.Errorf("%s changed in the meantime; nothing was written: open it again", path)
		}
	}
	return authoring.Replace(path, text)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/flags"
	"github.com/throng-sim/throng/cmd/throngctl/internal/lab"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage/sqlite"
)

// validateCmd checks a scenario or an experiment without starting a run.
type validateCmd struct {
	File string            `arg:"" help:"Scenario or experiment file, or the name of a built-in scenario."`
	Set  map[string]string `placeholder:"NAME=VALUE" help:"Scenario parameter; may be repeated."`
	CRN  bool              `name:"crn" help:"Also list what keeps runs with the same seed from sharing their luck (common random numbers)."`

	flags.Settings
	flags.Fixed
	flags.Services
	jsonFlag
}

// Run is called by kong.
func (c *validateCmd) Run(ctx context.Context, t *terminal, l *lab.Terminal) error {
	if strings.HasSuffix(c.File, experiment.Ending) {
		return l.Validate(c.File, c.CRN)
	}
	if text, err := os.ReadFile(c.File); err == nil && experiment.Misnamed(c.File, text) {
		return &engine.FieldError{Field: "file", Problem: "it is an experiment, but its name does not end in " + experiment.Ending, Hint: "rename it"}
	}
	return c.scenario(ctx, t)
}

// scenario checks a scenario.
func (c *validateCmd) scenario(ctx context.Context, t *terminal) error {
	s, err := loadScenario(t, c.File, scenario.Extras{Parameters: c.Set})
	if err != nil {
		return err
	}
	l := app.Launch{Services: app.Services{Scenario: s, Data: t.data}, Allow: c.Allow, Trusted: t.hooks.trusts}
	if l.Settings, err = c.settings(t, s); err != nil {
		return err
	}
	if err := errors.Join(l.CheckAddresses(), s.Program(1).Check()); err != nil {
		return err
	}
	if t.json {
		f, err := forecast(ctx, t, l)
		if err != nil {
			return err
		}
		a := answer.NewScenario(s, l.Permits().PlannedServices(), &f)
		if c.CRN {
			a.Pairing = answer.NewPairing(s)
		}
		return t.print(a)
	}
	if err := s.PrintWarnings(t.err); err != nil {
		return err
	}
	fmt.Fprintf(t.out, "%s\n", s.Title)
	if s.About != "" {
		fmt.Fprintf(t.out, "%s\n", s.About)
	}
	w := show.NewTable(t.out)
	by, err := c.writtenBy(t, l)
	if err != nil {
		return err
	}
	show.Scenario(w, s, by, l.Permits().PlannedServices())
	f, err := forecast(ctx, t, l)
	if err != nil {
		return err
	}
	show.Forecast(w, &f, &l.Settings)
	if len(s.Success) > 0 {
		fmt.Fprintln(w)
	}
	for _, criterion := range s.Success {
		show.Row(w, "criterion %s\t%s\n", criterion.Metric, criterion.Text)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if c.CRN {
		show.Pairing(t.out, experiment.CRN(s))
	}
	end := "no mistakes found"
	if n := len(s.Warnings()); n > 0 {
		end += ", " + engine.Counted(int64(n), "warning", "warnings")
	}
	fmt.Fprintln(t.out, "\n"+end)
	return nil
}

// settings returns the settings that a run would have.
func (c *validateCmd) settings(t *terminal, s *scenario.Scenario) (engine.Settings, error) {
	settings, _, err := config.Resolve(t.data, s, flags.Given(c.Settings.Plugins, c.Fixed.Plugins), os.Getenv)
	if err != nil {
		return settings, err
	}
	c.ApplyTo(&settings)
	config.Schedule(&settings, s)
	return settings, settings.Validate()
}

// writtenBy says which model writes the agents and how many are stored, or returns "".
func (c *validateCmd) writtenBy(t *terminal, l app.Launch) (string, error) {
	l.Data = t.data
	by, kept, err := l.Population().Unwritten()
	if err != nil || by == "" {
		return "", err
	}
	return fmt.Sprintf(", written by %s (%d kept, %d to be written)", by, kept, l.Scenario.Agents-kept), nil
}

// forecast returns the forecast of a launch. It does not create a missing store.
func forecast(ctx context.Context, t *terminal, l app.Launch) (f engine.Forecast, err error) {
	l.Data, l.Cores = t.data, t.hooks.cores
	var store *sqlite.Store
	if sqlite.Exists(t.data) {
		if store, err = sqlite.Open(t.data, sqlite.Options{OnGone: t.storeOptions().OnGone, Logger: slog.New(slog.DiscardHandler)}); err != nil {
			return f, err
		}
		defer func() { err = errors.Join(err, store.Close()) }()
	}
	if err := l.Population().TakeKept(); err != nil {
		return f, err
	}
	taking, err := l.Forecaster().Workload(ctx)
	if err != nil {
		return f, err
	}
	return l.Forecaster().Forecast(app.NewEarlierRuns(store).Find(ctx, l.Forecaster()), taking), nil
}

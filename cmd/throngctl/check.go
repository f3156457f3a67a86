package main

import (
	"context"
	"errors"
	"os"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/flags"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage/sqlite"
)

// checkCmd runs preflight checks without starting a run.
type checkCmd struct {
	File  string            `arg:"" optional:"" help:"Scenario file or built-in scenario (default: check machine and database only). With --after, the run ID (default: the newest run)."`
	After bool              `help:"Review a finished run: criteria, agents, errors, anomalies, unsent rows, checkpoints."`
	Set   map[string]string `placeholder:"NAME=VALUE" help:"Scenario parameter; may be repeated."`

	TestNotification bool `help:"Send a test notification."`
	notifyFlag
	flags.Settings
	flags.Fixed
	flags.Services
	databaseFlag
	jsonFlag
}

// Run is called by kong. Problems end it with exit code 1, warnings do not.
func (c *checkCmd) Run(ctx context.Context, t *terminal) error {
	if c.After {
		return t.with(ctx, c.File, func(store *sqlite.Store, r engine.RunRecord) error {
			return c.checked(t, app.CheckAfterRun(ctx, store, &r))
		})
	}
	db, err := c.find(t)
	if err != nil {
		return err
	}
	l := app.Launch{Services: app.Services{Data: t.data}, Allow: c.Allow, Trusted: t.hooks.trusts, Results: db.Target(), Cores: t.hooks.cores, Host: t.hooks.host}
	if c.File != "" {
		if l.Scenario, err = loadScenario(t, c.File, scenario.Extras{Parameters: c.Set}); err != nil {
			return err
		}
	}
	if l.Settings, err = c.settings(t, l.Scenario); err != nil {
		return err
	}
	l.Settings.Remote = db.URL != ""
	if l.Scenario != nil {
		if err := l.CheckAddresses(); err != nil {
			return err
		}
		if err := errors.Join(askDestinations(t, &l), l.Permits().KeepAllowed()); err != nil {
			return err
		}
	}
	told, err := c.target(t)
	if err != nil {
		return err
	}
	var list app.Preflight
	checks := list.Run(ctx, l, db, false, nil)
	if c.TestNotification {
		checks = append(checks, tryNotice(ctx, told))
	}
	return c.checked(t, checks)
}

// checked prints checks. A problem sets the exit code.
func (c *checkCmd) checked(t *terminal, checks []engine.Check) (err error) {
	if t.json {
		err = t.print(answer.NewChecks(checks))
	} else {
		err = show.Checks(t.out, checks)
	}
	if err != nil {
		return err
	}
	if engine.WorstGrade(checks) == engine.GradeProblem {
		return exitError(exitFailed)
	}
	return nil
}

// settings returns the settings that a run would have.
func (c *checkCmd) settings(t *terminal, s *scenario.Scenario) (engine.Settings, error) {
	settings, _, err := config.Resolve(t.data, s, flags.Given(c.Settings.Plugins, c.Fixed.Plugins), os.Getenv)
	if err != nil {
		return settings, err
	}
	c.ApplyTo(&settings)
	if s != nil {
		config.Schedule(&settings, s)
	}
	return settings, settings.Validate()
}

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/throngctl/internal/flags"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/view"
)

// tryCmd runs one session and shows its steps.
type tryCmd struct {
	File  string            `arg:"" help:"Scenario file, or the name of a built-in scenario."`
	Set   map[string]string `placeholder:"NAME=VALUE" help:"Scenario parameter; may be repeated."`
	Agent string            `placeholder:"ID" help:"Agent ID or index (default: the first agent)."`
	jsonFlag

	flags.Settings
	flags.Fixed
	flags.Services
}

// Run is called by kong.
func (c *tryCmd) Run(ctx context.Context, t *terminal) error {
	s, err := loadScenario(t, c.File, scenario.Extras{Parameters: c.Set})
	if err != nil {
		return err
	}
	if err := s.PrintWarnings(t.err); err != nil {
		return err
	}
	as := validateCmd{Settings: c.Settings, Fixed: c.Fixed, Services: c.Services}
	l := app.Launch{Services: app.Services{Scenario: s, Data: t.data}, Allow: c.Allow, Trusted: t.hooks.trusts}
	if l.Settings, err = as.settings(t, s); err != nil {
		return err
	}
	if err := errors.Join(askSecrets(t, l), askDestinations(t, &l)); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-t.signals:
			stop()
		case <-over:
		}
	}()
	trial, err := l.Try(ctx, c.Agent)
	if trial == nil {
		return err
	}
	if c.JSON {
		fmt.Fprint(t.out, view.TrialJSON(trial))
	} else {
		show.Trial(t.out, trial)
	}
	switch {
	case err != nil:
		fmt.Fprintln(t.err, "The session was canceled.")
		return exitError(exitInterrupted)
	case !trial.Outcome.Commits():
		return exitError(exitFailed)
	}
	return nil
}

package main

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage/sqlite"
)

// checkCmd looks whether a run could begin, and starts none.
type checkCmd struct {
	File  string            `arg:"" optional:"" help:"Scenario file or built-in scenario (default: check machine and database only). With --after, the run ID (default: the newest run)."`
	After bool              `help:"Review a finished run: criteria, agents, errors, anomalies, unsent rows, checkpoints."`
	Set   map[string]string `placeholder:"NAME=VALUE" help:"Scenario parameter; may be repeated."`

	TestNotice bool `help:"Send a test notification."`
	notifyFlag
	settingFlags
	newFlags
	outsideFlags
	databaseFlag
	jsonFlag
}

// Run is called by kong. Problems end it with exit code 1, warnings do not.
func (c *checkCmd) Run(ctx context.Context, t *terminal) error {
	if c.After {
		return t.with(ctx, c.File, func(store *sqlite.Store, r engine.RunRecord) error {
			return t.checked(app.CheckAfterRun(ctx, store, &r))
		})
	}
	db, err := c.find(t)
	if err != nil {
		return err
	}
	l := app.Launch{Services: app.Services{Data: t.data}, Allow: c.Allow, Trusted: t.hooks.trusts, Results: db.Target(), Cores: t.hooks.cores, Host: t.hooks.host}
	if c.File != "" {
		if l.Scenario, err = t.load(c.File, scenario.Extras{Parameters: c.Set}); err != nil {
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
		if err := errors.Join(t.askDestinations(&l), l.Permits().KeepAllowed()); err != nil {
			return err
		}
	}
	told, err := c.target(t)
	if err != nil {
		return err
	}
	var list app.Preflight
	checks := list.Run(ctx, l, db, false, nil)
	if c.TestNotice {
		checks = append(checks, tryNotice(ctx, told))
	}
	return t.checked(checks)
}

// checked shows checks. A problem among them is an exit code.
func (t *terminal) checked(checks []engine.Check) (err error) {
	if t.json {
		err = t.print(newChecks(checks))
	} else {
		err = printChecks(t.out, checks)
	}
	if err != nil {
		return err
	}
	if engine.WorstGrade(checks) == engine.GradeProblem {
		return exitError(exitFailed)
	}
	return nil
}

// settings are those that a run would have.
func (c *checkCmd) settings(t *terminal, s *scenario.Scenario) (engine.Settings, error) {
	settings, _, err := config.Resolve(t.data, s, texts(c.settingFlags.Plugins, c.newFlags.Plugins), os.Getenv)
	if err != nil {
		return settings, err
	}
	c.apply(&settings)
	if s != nil {
		config.Schedule(&settings, s)
	}
	return settings, settings.Validate()
}

// printChecks writes a line for each, with its details and what can be done below it.
func printChecks(out io.Writer, all []engine.Check) error {
	w := tabwriter.NewWriter(out, 2, 4, 2, ' ', 0)
	for _, c := range all {
		first, more, _ := strings.Cut(c.Text, "\n")
		rowf(w, "%s\t%s\t%s\n", c.Grade, c.Name, first)
		for line := range strings.SplitSeq(more, "\n") {
			if line != "" {
				rowf(w, "\t\t%s\n", line)
			}
		}
		if hint := inTerminal(&c); hint != "" {
			rowf(w, "\t\t> %s\n", hint)
		}
	}
	return w.Flush()
}

// inTerminal says what a person can do here, where there are no buttons.
func inTerminal(c *engine.Check) string {
	way, to := c.Way()
	switch way {
	case engine.MendAllow:
		return "to allow it: --allow " + to
	case engine.MendSecret:
		return "throngctl secret set " + to + ", or set an environment variable of that name"
	case engine.MendConnections:
		return c.Hint + "; to limit them: throngctl settings database-connections=" + to
	case engine.MendFree:
		return strings.TrimPrefix(c.Hint+"; see throngctl prune --help", "; ")
	}
	return c.Hint
}

package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/throngctl/internal/flags"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage/sqlite"
)

// forkCmd starts a new run from a checkpoint of another run.
type forkCmd struct {
	RunID      string            `arg:"" optional:"" name:"run" help:"Run ID or its beginning, or a name (default: the newest run)."`
	Other      string            `arg:"" optional:"" name:"file" help:"Scenario file to use (default: the one stored with the run)."`
	File       string            `placeholder:"FILE" help:"Same as the file argument."`
	Checkpoint int               `placeholder:"N" help:"Checkpoint to fork from (default: the newest)."`
	Set        map[string]string `placeholder:"NAME=VALUE" help:"Scenario parameter (default: as in the run)."`
	Agents     []string          `placeholder:"ID" sep:"," help:"Run only these agents."`
	Filter     *string           `placeholder:"EXPR" help:"Run only agents that match this expression; empty: all agents."`
	output
	flags.Settings
	flags.Adaptive
	flags.Fixed
	flags.Services
	databaseFlag
}

// Run is called by kong.
func (c *forkCmd) Run(ctx context.Context, t *terminal) error {
	if err := c.sortOut(); err != nil {
		return err
	}
	var parent *app.Parent
	err := t.with(ctx, c.RunID, func(store *sqlite.Store, r engine.RunRecord) (err error) {
		parent, err = app.FindParent(ctx, store, t.data, r.ID, c.Checkpoint)
		return err
	})
	if err != nil {
		return err
	}
	l, err := parent.Launch(app.Order{
		File: c.File, Parameters: c.Set, Settings: c.Into(flags.Given(c.Settings.Plugins, c.Fixed.Plugins)), Env: os.Getenv,
		Trusted: t.hooks.trusts, Allow: c.Allow,
	})
	if err != nil {
		return err
	}
	if len(c.Agents) > 0 {
		l.Settings.Agents = c.Agents
	}
	if c.Filter != nil {
		l.Settings.Filter = *c.Filter
	}
	if c.Service != nil { // keep the addresses of the other services
		all := maps.Clone(c.Service)
		maps.Copy(all, l.Settings.Services)
		maps.Copy(all, c.Service)
		c.Service = all
	}
	c.ApplyTo(&l.Settings)
	if t.json {
		c.announce(t.quiet(), &l)
	} else {
		c.announce(t, &l)
	}
	return carryOut(ctx, t, l, c.output, c.databaseFlag)
}

// sortOut finds the scenario file among the arguments: a single argument with the extension of a scenario is a file.
func (c *forkCmd) sortOut() error {
	if c.Other == "" && slices.Contains(scenario.Endings, filepath.Ext(c.RunID)) {
		c.RunID, c.Other = "", c.RunID
	}
	if c.Other != "" && c.File != "" {
		return &engine.FieldError{Field: c.Other, Problem: "more than one scenario file", Hint: "leave out --file " + c.File}
	}
	if c.File == "" {
		c.File = c.Other
	}
	return nil
}

// announce prints where a fork starts, how it differs from its parent, and what it cannot restore.
func (c *forkCmd) announce(t *terminal, l *app.Launch) {
	fmt.Fprintln(t.out, l.Fork)
	differences := l.Differences()
	for _, d := range differences {
		fmt.Fprintf(t.out, "  %s\n", d)
	}
	if len(differences) == 0 {
		fmt.Fprintln(t.out, "  no changes")
	}
	for _, w := range l.Warnings() {
		fmt.Fprintf(t.err, "note: %s\n", w)
	}
}

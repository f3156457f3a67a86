package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage/sqlite"
)

// forkCmd starts a new run where a checkpoint of another stands.
type forkCmd struct {
	RunID      string            `arg:"" optional:"" name:"run" help:"Run ID or its beginning (default: the newest run)."`
	Other      string            `arg:"" optional:"" name:"file" help:"Scenario file to use (default: the one stored with the run)."`
	File       string            `placeholder:"FILE" help:"Same as the file argument."`
	Checkpoint int               `placeholder:"N" help:"Checkpoint to fork from (default: the newest)."`
	Set        map[string]string `placeholder:"NAME=VALUE" help:"Scenario parameter (default: as in the run)."`
	Agents     []string          `placeholder:"ID" sep:"," help:"Run only these agents."`
	Filter     *string           `placeholder:"EXPR" help:"Run only agents that match this expression; empty: all agents."`
	output
	settingFlags
	adaptiveFlag
	newFlags
	outsideFlags
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
		File: c.File, Parameters: c.Set, Settings: c.into(texts(c.settingFlags.Plugins, c.newFlags.Plugins)), Env: os.Getenv,
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
	if c.Service != nil { // the others stay where they are
		all := maps.Clone(c.Service)
		maps.Copy(all, l.Settings.Services)
		maps.Copy(all, c.Service)
		c.Service = all
	}
	c.apply(&l.Settings)
	if t.json {
		t.quiet().announce(&l)
	} else {
		t.announce(&l)
	}
	return t.carryOut(ctx, l, c.output, c.databaseFlag)
}

// sortOut finds out which of the names is that of a file: one that stands alone and ends like a scenario's is.
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

// announce says where a fork begins, what it has otherwise than its parent, and what cannot be brought back.
func (t *terminal) announce(l *app.Launch) {
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

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/internal/app/cleanup"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
)

// cleanupCmd removes what the agents of a run created at services.
type cleanupCmd struct {
	Of            string   `arg:"" name:"run" help:"Run ID or its beginning, a name, or a scenario file to use its newest run."`
	Yes           bool     `short:"y" help:"Skip the confirmation."`
	DryRun        bool     `help:"Show what would be removed without sending anything."`
	MaxConcurrent string   `placeholder:"N" help:"Concurrency limit of the cleanup (default: as in the run)."`
	Allow         []string `placeholder:"HOST" help:"Host of the run that may be called; may be repeated."`
	output
}

// Run is called by kong.
func (c *cleanupCmd) Run(ctx context.Context, t *terminal) error {
	plan, err := c.plan(ctx, t)
	if err != nil {
		return err
	}
	_, person := t.person()
	send := c.Yes && !c.DryRun
	people := t
	if t.json {
		people = t.quiet()
		if err := t.line(answer.NewCleanup(plan, send)); err != nil {
			return err
		}
	}
	show.Cleanup(people.out, plan)
	switch {
	case plan.Agents == 0 && plan.Resume == "":
		return nil
	case send:
	case c.DryRun || t.json || !person:
		fmt.Fprintln(people.out, "Dry run: nothing was sent. Run it with --yes.")
		return nil
	case t.answer(fmt.Sprintf("Send %s and remove all of it? Type yes: ", plan.Requests)) != "yes":
		return kept(t, "Nothing was sent.")
	}
	if c.MaxConcurrent != "" {
		layers := config.Layers{Flags: map[string]string{engine.LimitSetting: c.MaxConcurrent}, Run: &plan.Settings}
		if plan.Settings, _, err = layers.Resolve(); err != nil {
			return err
		}
	}
	l := app.Launch{Services: app.Services{Scenario: plan.Scenario, Settings: plan.Settings, Data: t.data}, Allow: c.Allow, Trusted: t.hooks.trusts, Resume: plan.Resume}
	return carryOut(ctx, t, l, c.output, databaseFlag{})
}

// plan finds the run and what to remove.
func (c *cleanupCmd) plan(ctx context.Context, t *terminal) (plan *cleanup.Plan, err error) {
	name, file := c.Of, ""
	if _, err := os.Stat(c.Of); err == nil {
		if file, err = filepath.Abs(c.Of); err != nil {
			return nil, err
		}
	}
	store, err := t.open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if file != "" {
		if name, err = newestOf(ctx, store, file); err != nil {
			return nil, err
		}
	}
	picked, err := pick(ctx, store, name)
	if err != nil {
		return nil, err
	}
	record, err := store.Run(ctx, picked.ID) // with its files
	if err == nil {
		err = review.CheckHere(&record)
	}
	if err != nil {
		return nil, err
	}
	src := record.Source
	if file != "" {
		s, err := authoring.Load(file, nil)
		if err != nil {
			return nil, err
		}
		if s.Cleanup != nil { // cleanup may have been added to the file after the run
			own := maps.Clone(src.Files)
			maps.Copy(own, s.Source.Files)
			src.Files, src.Name = own, s.Source.Name
		}
	}
	return cleanup.New(ctx, store, &record, src)
}

// newestOf returns the newest run of a scenario file, without cleanups.
func newestOf(ctx context.Context, store *sqlite.Store, file string) (string, error) {
	runs, err := store.Runs(ctx)
	if err != nil {
		return "", err
	}
	for i := range runs {
		if runs[i].Source.Path == file && runs[i].Settings.Cleanup == "" {
			return string(runs[i].ID), nil
		}
	}
	return "", &engine.FieldError{Field: "run", Problem: "no run of " + file, Hint: "throngctl runs lists them"}
}

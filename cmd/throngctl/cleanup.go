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
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
)

// cleanupCmd removes at services what the agents of a run made there.
type cleanupCmd struct {
	Of            string   `arg:"" name:"run" help:"Run ID or its beginning, or a scenario file to use its newest run."`
	Yes           bool     `short:"y" help:"Skip the confirmation."`
	DryRun        bool     `help:"Show what would be removed without sending anything."`
	MaxConcurrent string   `placeholder:"N" help:"Concurrency limit of the cleanup (default: as in the run)."`
	Allow         []string `placeholder:"HOST" help:"Host of the run that may be called; may be repeated."`
	output
}

// cleanupJSON is what a cleanup would remove.
type cleanupJSON struct {
	Run      engine.RunID     `json:"run"`
	Agents   int              `json:"agents"`
	Sessions int64            `json:"sessions"`
	Events   map[string]int64 `json:"events"`
	Requests cleanup.Requests `json:"requests"`
	Hosts    []string         `json:"hosts"`
	Resume   engine.RunID     `json:"resume,omitempty"`
	Done     []engine.RunID   `json:"done"`
	Cleaned  []engine.Cleaned `json:"cleaned"`
	Sent     bool             `json:"sent"`
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
		if err := t.line(newCleanupJSON(plan, send)); err != nil {
			return err
		}
	}
	c.show(people, plan)
	switch {
	case plan.Agents == 0 && plan.Resume == "":
		return nil
	case send:
	case c.DryRun || t.json || !person:
		fmt.Fprintln(people.out, "Dry run: nothing was sent. Run it with --yes.")
		return nil
	case t.answer(fmt.Sprintf("Send %s and remove all of it? Type yes: ", plan.Requests)) != "yes":
		return t.kept("Nothing was sent.")
	}
	if c.MaxConcurrent != "" {
		layers := config.Layers{Flags: map[string]string{engine.LimitSetting: c.MaxConcurrent}, Run: &plan.Settings}
		if plan.Settings, _, err = layers.Resolve(); err != nil {
			return err
		}
	}
	l := app.Launch{Services: app.Services{Scenario: plan.Scenario, Settings: plan.Settings, Data: t.data}, Allow: c.Allow, Trusted: t.hooks.trusts, Resume: plan.Resume}
	return t.carryOut(ctx, l, c.output, databaseFlag{})
}

// plan finds the run and what must be removed.
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
		if s.Cleanup != nil { // the file may have got it after the run
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

// show says what would be removed, and where.
func (c *cleanupCmd) show(t *terminal, plan *cleanup.Plan) {
	fmt.Fprintf(t.out, "run %s: %s\n", plan.Run.ID, plan.Run.Title)
	for i := range plan.Run.Cleaned {
		fmt.Fprintf(t.out, "  %s\n", plan.Run.Cleaned[i].Says(plan.Run.ID, stamp))
	}
	if plan.Agents == 0 && plan.Resume == "" {
		fmt.Fprintln(t.out, "  nothing left to remove")
		return
	}
	if plan.Resume != "" {
		fmt.Fprintf(t.out, "  resume cleanup run %s\n", plan.Resume)
	}
	fmt.Fprintf(t.out, "  to remove: what %s made in %s\n", engine.Counted(int64(plan.Agents), "agent", "agents"), engine.Counted(plan.Sessions, "session", "sessions"))
	if counted := plan.Counted(); counted != "" {
		fmt.Fprintf(t.out, "  events: %s\n", counted)
	}
	fmt.Fprintf(t.out, "  sends: %s\n", plan.Requests)
	for _, h := range plan.Hosts {
		fmt.Fprintf(t.out, "  requests go to %s at %s\n", h.Service, h.Address)
	}
}

func newCleanupJSON(plan *cleanup.Plan, send bool) cleanupJSON {
	j := cleanupJSON{
		Run: plan.Run.ID, Agents: plan.Agents, Sessions: plan.Sessions, Events: plan.Events, Requests: plan.Requests, Hosts: []string{}, Resume: plan.Resume,
		Done: []engine.RunID{}, Cleaned: append([]engine.Cleaned{}, plan.Run.Cleaned...), Sent: send && (plan.Agents > 0 || plan.Resume != ""),
	}
	for _, h := range plan.Hosts {
		j.Hosts = append(j.Hosts, h.Address)
	}
	j.Done = append(j.Done, plan.Done...)
	return j
}

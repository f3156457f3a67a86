package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/cmd/throngctl/internal/file"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite"
)

type exportCmd struct {
	RunID  string         `arg:"" optional:"" name:"run" help:"Run ID or its beginning, or a name (default: the newest run)."`
	What   string         `enum:"metrics,cycles,sessions,events,agents,timings,steps,requests,messages,decisions,memory,changes,population,run,all" default:"all" help:"What to export: metrics, cycles, sessions, events, agents (with their attributes), timings, steps, requests, messages (between agents), decisions (by models and rules), memory (of agents, with inboxes), changes (made mid-run), population (written by a model), run, or all, with a README that describes the files."`
	Format storage.Format `enum:"csv,jsonl,parquet" default:"csv" help:"Format of the tables: csv, jsonl or parquet."`
	Follow bool           `short:"f" help:"With --what metrics: keep writing a row a second until the run ends."`
	Out    string         `short:"o" placeholder:"FILE" help:"Output file, or folder for --what all (default: a folder throng-RUN for all, otherwise standard output; - means standard output)."`
}

// Run is called by kong.
func (c *exportCmd) Run(ctx context.Context, t *terminal) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.Out == standard {
		c.Out = ""
	}
	return t.with(ctx, c.RunID, func(store *sqlite.Store, r engine.RunRecord) error {
		if err := review.CheckHere(&r); err != nil {
			return err
		}
		switch {
		case c.Follow:
			return c.follow(ctx, t, store, &r)
		case c.What == "all":
			return c.all(ctx, t, store, &r)
		case c.Out == "" && c.Format == storage.Parquet:
			if _, shown := show.IsTerminal(show.Raw(t.out)); shown {
				return &engine.FieldError{Field: "format", Problem: "Parquet cannot be written to a terminal", Hint: "name a file with -o FILE"}
			}
			return c.one(ctx, show.Raw(t.out), store, r)
		case c.Out == "":
			return c.one(ctx, t.out, store, r)
		default:
			return file.Write(c.Out, func(w io.Writer) error { return c.one(ctx, w, store, r) })
		}
	})
}

func (c *exportCmd) check() error {
	switch c.What {
	case "memory", "population", "run":
		if c.Format != storage.CSV {
			return &engine.FieldError{Field: "format", Problem: c.What + " has only one format", Hint: "leave out --format"}
		}
	}
	switch {
	case c.What == "all" && c.Out == standard:
		return &engine.FieldError{Field: "out", Problem: "--what all writes several files", Hint: "name a folder with -o DIR, or choose one with --what"}
	case c.Follow && c.What != "metrics":
		return &engine.FieldError{Field: "follow", Problem: "only metrics can be followed", Hint: "--what metrics --follow"}
	case c.Follow && c.Format == storage.Parquet:
		return &engine.FieldError{Field: "format", Problem: "a Parquet file cannot be read before it is complete", Hint: "csv and jsonl can be followed"}
	}
	return nil
}

func (c *exportCmd) all(ctx context.Context, t *terminal, store *sqlite.Store, r *engine.RunRecord) error {
	dir := c.Out
	if dir == "" {
		dir = "throng-" + string(r.ID)
	}
	if err := review.Export(ctx, store, r.ID, dir, c.Format); err != nil {
		return err
	}
	fmt.Fprintf(t.out, "exported to %s\n", dir)
	return nil
}

// one writes one kind of results.
func (c *exportCmd) one(ctx context.Context, w io.Writer, store *sqlite.Store, r engine.RunRecord) error {
	if c.What == "run" {
		return storage.RunJSON(ctx, w, store, r.ID, about.Version())
	}
	names, err := review.Names(ctx, store, r.ID)
	if err != nil {
		return err
	}
	switch c.What {
	case "memory":
		return storage.ExportMemory(ctx, w, store, r.ID, names)
	case "population":
		if names.Personas == nil {
			return &engine.FieldError{Field: "what", Problem: "run " + string(r.ID) + " has no generated population", Hint: "its agents are in its scenario"}
		}
		return names.Personas(w)
	default:
		return storage.Export(ctx, w, c.Format, c.What, store, r.ID, names)
	}
}

// follow writes the metrics of a run as they arrive. The file can be read while it grows; it replaces an older one.
func (c *exportCmd) follow(ctx context.Context, t *terminal, store *sqlite.Store, r *engine.RunRecord) (err error) {
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	go func() {
		select {
		case <-t.signals:
			giveUp(exitError(exitInterrupted))
		case <-ctx.Done():
		}
	}()
	w := t.out
	if c.Out != "" {
		file, failed := os.Create(c.Out)
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		w = file
	}
	names, err := review.Names(ctx, store, r.ID)
	if err != nil {
		return err
	}
	if err := storage.Follow(ctx, w, c.Format, store, r.ID, names); err != nil {
		return err
	}
	record, err := store.Run(ctx, r.ID)
	if err == nil {
		fmt.Fprintf(t.err, "Run %s is no longer in progress: %s.\n", record.ID, record.State())
	}
	return err
}

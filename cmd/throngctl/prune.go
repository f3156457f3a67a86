package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/retention"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
)

// pruneCmd deletes what is old.
type pruneCmd struct {
	RunID     string  `arg:"" optional:"" name:"run" help:"Prune only this run (default: all runs)."`
	Keep      int     `placeholder:"N" help:"Keep the newest N checkpoints of each run."`
	OlderThan float64 `placeholder:"DAYS" help:"Prune runs that ended more than this many days ago."`
	KeepRuns  int     `placeholder:"N" help:"Keep the newest N runs."`
	DryRun    bool    `help:"Show what would be deleted without deleting it."`
	jsonFlag
	removalFlags
	databaseFlag
}

// Run is called by kong.
func (c *pruneCmd) Run(ctx context.Context, t *terminal) (err error) {
	if c.Keep < 0 || c.OlderThan < 0 || c.KeepRuns < 0 || c.Keep == 0 && c.OlderThan == 0 && c.KeepRuns == 0 {
		return &engine.FieldError{Field: "prune", Problem: "no limit given", Hint: "for example --keep 3, --older-than 30 or --keep-runs 20"}
	}
	store, err := t.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	p := retention.Pruning{Checkpoints: c.Keep, OlderThan: time.Duration(c.OlderThan * 24 * float64(time.Hour)), Runs: c.KeepRuns}
	if c.RunID != "" {
		record, err := store.Run(ctx, engine.RunID(c.RunID))
		if err != nil {
			return err
		}
		p.Run = record.ID
	}
	all, err := p.Find(ctx, store, t.data, time.Now())
	if err != nil {
		return err
	}
	if t.json {
		return c.asJSON(ctx, t, store, all)
	}
	if len(all) == 0 {
		fmt.Fprintln(t.out, "Nothing to prune.")
		return nil
	}
	if err := showGoing(t, all); err != nil || c.DryRun {
		return err
	}
	if !c.Now {
		fmt.Fprintf(t.out, "It stays in the trash for %s and uses disk space until then; --now frees it immediately.\n", trashDays)
	}
	return c.take(ctx, t, store, all)
}

// showGoing lists what will go.
func showGoing(t *terminal, all []retention.Removal) error {
	w := tabwriter.NewWriter(t.out, 2, 4, 2, ' ', 0)
	fmt.Fprintln(w, "RUN\tSTARTED\tTITLE\tGOES\tSIZE")
	var bytes int64
	for _, g := range all {
		what := "all: " + engine.FormatCount(g.Doomed.Sessions) + " sessions, " +
			engine.FormatCount(int64(g.Doomed.Checkpoints)) + plural(g.Doomed.Checkpoints, " checkpoint", " checkpoints")
		if n := g.Unsent(); n > 0 {
			what += ", " + engine.FormatCount(n) + " unsent rows"
		}
		if !g.Whole {
			what = plural(len(g.Checkpoints), "checkpoint ", "checkpoints ") + strings.Trim(strings.ReplaceAll(fmt.Sprint(g.Checkpoints), " ", ", "), "[]")
		}
		rowf(w, "%s\t%s\t%s\t%s\t%s\n", g.Run.ID, stamp(g.Run.Created), g.Run.Title, what, engine.FormatBytes(g.Bytes))
		bytes += g.Bytes
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(t.out, "About %s in total; rows in Postgres stay.\n", engine.FormatBytes(bytes))
	return nil
}

// take asks and deletes. A run that cannot be deleted does not hold up the others.
func (c *pruneCmd) take(ctx context.Context, t *terminal, store *sqlite.Store, all []retention.Removal) error {
	if err := c.agreed(t); err != nil {
		return err
	}
	gone, err := c.takeAll(ctx, t, store, all)
	fmt.Fprintf(t.out, "deleted %d of %d\n", gone, len(all))
	return err
}

// asJSON deletes with JSON output, which cannot ask for confirmation.
func (c *pruneCmd) asJSON(ctx context.Context, t *terminal, store *sqlite.Store, all []retention.Removal) (err error) {
	j := newPruned(all, c.Now)
	if !c.DryRun && len(all) > 0 {
		if !c.Yes {
			return errUnasked
		}
		j.Deleted, err = c.takeAll(ctx, t.quiet(), store, all)
	}
	return errors.Join(err, t.print(j))
}

// takeAll deletes, and counts what went.
func (c *pruneCmd) takeAll(ctx context.Context, t *terminal, store *sqlite.Store, all []retention.Removal) (gone int, err error) {
	x := &removing{t: t, store: store, flags: c.removalFlags, database: c.databaseFlag}
	var errs []error
	for _, g := range all {
		err := x.settle(ctx, g.Run.ID, g.Doomed.Sendings)
		if err == nil {
			err = g.Do(ctx, store, t.data, c.Now)
		}
		if err == nil {
			gone++
		}
		errs = append(errs, err)
	}
	return gone, errors.Join(append(errs, x.close())...)
}

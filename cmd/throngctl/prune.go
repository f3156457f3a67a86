package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/retention"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
)

// pruneCmd deletes old runs and checkpoints.
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
	if err := show.Pruned(t.out, all); err != nil || c.DryRun {
		return err
	}
	if !c.Now {
		fmt.Fprintf(t.out, "It stays in the trash for %s and uses disk space until then; --now frees it immediately.\n", show.TrashDays)
	}
	return c.take(ctx, t, store, all)
}

// take asks and deletes. A run that cannot be deleted does not stop the others.
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
	j := answer.NewPruned(all, c.Now)
	if !c.DryRun && len(all) > 0 {
		if !c.Yes {
			return errUnasked
		}
		j.Deleted, err = c.takeAll(ctx, t.quiet(), store, all)
	}
	return errors.Join(err, t.print(j))
}

// takeAll deletes, and returns how many were deleted.
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

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/retention"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite"
)

// trashHint says how long the trash keeps a run or checkpoints, and how to restore them.
func trashHint(run engine.RunID, checkpoints []int) string {
	command := "throngctl restore " + string(run)
	if len(checkpoints) > 0 {
		command += " --checkpoint " + strings.ReplaceAll(show.Numbers(checkpoints), " ", ",")
	}
	return fmt.Sprintf("kept in the trash for %s; restore it with: %s", show.TrashDays, command)
}

// withAny calls f with a run that may be in the trash or damaged.
func (t *terminal) withAny(ctx context.Context, name string, f func(store *sqlite.Store, r engine.RunRecord, trashed bool) error) (err error) {
	store, err := t.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	record, err := pick(ctx, store, name)
	if errors.Is(err, sqlite.ErrTrashed) {
		if r, look := store.TrashedRun(ctx, engine.RunID(name)); look == nil {
			return f(store, r, true)
		}
	}
	if errors.Is(err, sqlite.ErrDamaged) && name != "" {
		runs, look := store.Runs(ctx)
		for _, r := range runs {
			if strings.HasPrefix(string(r.ID), name) {
				return f(store, r, false)
			}
		}
		err = errors.Join(err, look)
	}
	if err != nil {
		return err
	}
	return f(store, record, false)
}

// trashed deletes a run in the trash for good.
func (c *deleteCmd) trashed(ctx context.Context, t *terminal, store *sqlite.Store, r *engine.RunRecord) error {
	if !c.Now || len(c.Checkpoint) > 0 || c.InPostgres || c.OnlyPostgres {
		return &engine.FieldError{
			Field: "run", Problem: fmt.Sprintf("%s is in the trash", r.ID), Hint: fmt.Sprintf("throngctl restore %s, or throngctl delete %s --now", r.ID, r.ID),
		}
	}
	fmt.Fprintf(t.out, "Run %s (%s, %s) will be deleted from the trash for good.\n", r.ID, r.Title, show.Time(r.Created))
	if err := c.agreed(t); err != nil {
		return err
	}
	if err := retention.DeleteTrashed(ctx, store, t.data, r.ID, 0); err != nil {
		return err
	}
	fmt.Fprintln(t.out, "deleted")
	return nil
}

// restoreCmd restores a run or checkpoints from the trash.
type restoreCmd struct {
	jsonFlag
	RunID      string `arg:"" name:"run" help:"Run ID or its beginning, or a name."`
	Checkpoint []int  `placeholder:"N" sep:"," help:"Restore these checkpoints of a run that is not in the trash itself."`
}

// Run is called by kong.
func (c *restoreCmd) Run(ctx context.Context, t *terminal) (err error) {
	if len(c.Checkpoint) > 0 {
		return t.withAny(ctx, c.RunID, func(store *sqlite.Store, r engine.RunRecord, trashed bool) error {
			return c.checkpoints(ctx, t, store, &r, trashed)
		})
	}
	store, err := t.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	r, err := store.TrashedRun(ctx, engine.RunID(c.RunID))
	if errors.Is(err, engine.ErrNotFound) {
		if there, look := store.Run(ctx, engine.RunID(c.RunID)); look == nil {
			return t.done(there.ID, "run %s is not in the trash", there.ID)
		}
		if !errors.As(err, new(*storage.AmbiguousError)) {
			err = &engine.FieldError{Problem: "no such run in the trash: " + c.RunID, Hint: "throngctl trash lists them"}
		}
	}
	if err != nil {
		return err
	}
	if err := store.Restore(ctx, r.ID, 0); err != nil {
		return err
	}
	return t.done(r.ID, "run %s (%s, %s) is restored", r.ID, r.Title, show.Time(r.Created))
}

func (c *restoreCmd) checkpoints(ctx context.Context, t *terminal, store *sqlite.Store, r *engine.RunRecord, trashed bool) error {
	if trashed {
		return &engine.FieldError{Field: "checkpoint", Problem: "the whole run is in the trash", Hint: "throngctl restore " + string(r.ID)}
	}
	for _, n := range c.Checkpoint {
		if err := store.Restore(ctx, r.ID, n); err != nil {
			return err
		}
	}
	what := show.Plural(len(c.Checkpoint), "checkpoint %s of run %s is restored", "checkpoints %s of run %s are restored")
	return t.done(r.ID, what, strings.ReplaceAll(show.Numbers(c.Checkpoint), " ", ", "), r.ID)
}

// trashCmd lists or empties the trash.
type trashCmd struct {
	jsonFlag
	Empty bool `help:"Delete everything in the trash for good."`
	Yes   bool `short:"y" help:"Skip the confirmation."`
}

// Run is called by kong.
func (c *trashCmd) Run(ctx context.Context, t *terminal) (err error) {
	store, err := t.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	all, err := retention.Trashed(ctx, store, t.data)
	if err != nil {
		return err
	}
	if t.json {
		return c.asJSON(ctx, t, store, all)
	}
	if len(all) == 0 {
		fmt.Fprintln(t.out, "The trash is empty. Deleted runs stay in it for "+show.TrashDays+".")
		return nil
	}
	if err := show.Trash(t.out, all); err != nil || !c.Empty {
		return err
	}
	if !c.Yes && t.answer("Delete all of it for good? Type yes: ") != "yes" {
		return kept(t, "Nothing was deleted.")
	}
	gone, err := retention.EmptyTrash(ctx, store, t.data, all[0].At)
	fmt.Fprintf(t.out, "deleted %d of %d\n", len(gone), len(all))
	return err
}

// asJSON deletes with JSON output, which cannot ask for confirmation.
func (c *trashCmd) asJSON(ctx context.Context, t *terminal, store *sqlite.Store, all []storage.Trashed) error {
	j := answer.NewTrash(all)
	if !c.Empty || len(all) == 0 {
		return t.print(j)
	}
	if !c.Yes {
		return errUnasked
	}
	gone, err := retention.EmptyTrash(ctx, store, t.data, all[0].At)
	j.Deleted = len(gone)
	return errors.Join(err, t.print(j))
}

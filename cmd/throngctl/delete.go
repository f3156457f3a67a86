package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/remote"
	"github.com/throng-sim/throng/cmd/internal/app/retention"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/storage/sqlite"
)

// Choices for rows that the database has not confirmed when their run is deleted.
const (
	sendUnsent = "send"
	dropUnsent = "drop"
)

// removalFlags are the flags shared by delete and prune.
type removalFlags struct {
	Unsent string `enum:",send,drop" default:"" placeholder:"WHAT" help:"What to do with rows not yet in Postgres: send them first, or drop them (default: ask)."`
	Now    bool   `help:"Delete immediately instead of moving to the trash. Frees disk space; cannot be undone."`
	Yes    bool   `short:"y" help:"Skip the confirmation."`
}

// deleteCmd deletes a run or a part of it.
type deleteCmd struct {
	RunID      string `arg:"" name:"run" help:"Run ID or its beginning, or a name."`
	Checkpoint []int  `placeholder:"N" sep:"," xor:"what" help:"Delete only these checkpoints."`
	InPostgres bool   `xor:"what" help:"Also delete its rows in Postgres, immediately; they cannot be restored."`
	jsonFlag
	OnlyPostgres bool `xor:"what" help:"Delete only its rows in Postgres, immediately; the local run stays."`
	removalFlags
	databaseFlag
}

// Run is called by kong.
func (c *deleteCmd) Run(ctx context.Context, t *terminal) error {
	if !t.json {
		return c.remove(ctx, t)
	}
	if !c.Yes { // cannot ask
		return errUnasked
	}
	if err := c.remove(ctx, t.quiet()); err != nil {
		return err
	}
	return t.print(answer.Deleted{Run: c.RunID, Checkpoints: c.Checkpoint, Postgres: c.InPostgres || c.OnlyPostgres, Trash: !c.Now && !c.OnlyPostgres})
}

// errUnasked refuses to delete without confirmation when the output is JSON.
var errUnasked = &engine.FieldError{Field: "json", Problem: "cannot ask for confirmation; nothing was deleted", Hint: "add --yes"}

// remove shows what will be deleted, asks, and deletes.
func (c *deleteCmd) remove(ctx context.Context, t *terminal) error {
	return t.withAny(ctx, c.RunID, func(store *sqlite.Store, r engine.RunRecord, trashed bool) error {
		if trashed {
			return c.trashed(ctx, t, store, &r)
		}
		if len(c.Checkpoint) > 0 {
			return c.checkpoints(ctx, t, store, r.ID)
		}
		x := &removing{t: t, store: store, flags: c.removalFlags, database: c.databaseFlag}
		return errors.Join(c.run(ctx, x, &r), x.close())
	})
}

// removing deletes runs. It connects to the database when needed.
type removing struct {
	t        *terminal
	store    *sqlite.Store
	flags    removalFlags
	database databaseFlag
	remote   *remote.Sender // nil until connected
}

// connect returns a connection to the current database.
func (x *removing) connect() (*remote.Sender, error) {
	if x.remote != nil {
		return x.remote, nil
	}
	db, err := x.database.find(x.t)
	if err != nil {
		return nil, err
	}
	remote := remote.New(x.store, slog.New(slog.DiscardHandler))
	if err := remote.Use(db); err != nil {
		return nil, err
	}
	x.remote = remote
	return remote, nil
}

func (x *removing) close() error {
	if x.remote == nil {
		return nil
	}
	return x.remote.Close()
}

func (c *deleteCmd) run(ctx context.Context, x *removing, r *engine.RunRecord) error {
	t := x.t
	if !c.OnlyPostgres {
		d, err := retention.Weigh(ctx, x.store, t.data, r.ID)
		if err != nil {
			return err
		}
		fmt.Fprintf(t.out, "run %s (%s, %s) will be deleted: %s sessions, %s events, %s %s, about %s\n", r.ID, r.Title, show.Time(r.Created),
			engine.FormatCount(d.Sessions), engine.FormatCount(d.Events), engine.FormatCount(int64(d.Checkpoints)), show.Plural(d.Checkpoints, "checkpoint", "checkpoints"),
			engine.FormatBytes(d.Bytes))
		if err := x.settle(ctx, r.ID, d.Sendings); err != nil {
			return err
		}
	}
	remote, err := (*remote.Sender)(nil), error(nil)
	if c.InPostgres || c.OnlyPostgres {
		if remote, err = x.connect(); err != nil {
			return err
		}
		w, err := remote.Weigh(ctx, r.ID)
		if err != nil {
			return err
		}
		fmt.Fprintf(t.out, "from %s will be deleted: %s sessions, %s events, %s rows in all\n", remote.Target(),
			engine.FormatCount(w.Sessions), engine.FormatCount(w.Events), engine.FormatCount(w.Rows))
	}
	if err := c.agreed(t); err != nil {
		return err
	}
	if remote != nil {
		rows, err := remote.Remove(ctx, r.ID)
		if err != nil {
			return fmt.Errorf("%w; everything here was kept, and %s rows there were deleted", err, engine.FormatCount(rows))
		}
		fmt.Fprintf(t.out, "deleted %s rows from %s\n", engine.FormatCount(rows), remote.Target())
	}
	if c.OnlyPostgres {
		return nil
	}
	if !c.Now {
		if err := x.store.Trash(ctx, r.ID); err != nil {
			return err
		}
		fmt.Fprintf(t.out, "deleted; %s\n", trashHint(r.ID, nil))
		return nil
	}
	if err := retention.Delete(ctx, x.store, t.data, r.ID); err != nil {
		return err
	}
	fmt.Fprintln(t.out, "deleted")
	return nil
}

// settle decides what happens to rows that the database has not confirmed, and sends them if requested.
func (x *removing) settle(ctx context.Context, run engine.RunID, all []view.Sending) error {
	what := x.flags.Unsent
	for _, to := range all {
		if to.Unsent == 0 {
			continue
		}
		fmt.Fprintf(x.t.out, "%s rows of run %s have not reached %s\n", engine.FormatCount(to.Unsent), run, to.Target)
		if what == "" && x.flags.Yes {
			return &engine.FieldError{Field: "unsent", Problem: "the run was kept: choose what to do with these rows", Hint: "--unsent send, or --unsent drop"}
		}
		if what == "" {
			what = x.t.answer("Type send to send them first, drop to discard them, or press Enter to keep the run: ")
		}
		switch what {
		case dropUnsent:
		case sendUnsent:
			if err := x.send(ctx, run, to.Target); err != nil {
				return fmt.Errorf("run %s was kept: %w", run, err)
			}
			fmt.Fprintf(x.t.out, "They are in %s now.\n", to.Target)
		default:
			return kept(x.t, "Run "+string(run)+" was kept.")
		}
	}
	return nil
}

// send waits until all rows of a run are in their database.
func (x *removing) send(ctx context.Context, run engine.RunID, target string) error {
	remote, err := x.connect()
	if err != nil {
		return err
	}
	if remote.Target() != target {
		return &engine.FieldError{
			Field: "unsent", Problem: "the rows belong in " + target + ", which is not the current database", Hint: "name it with --database-url, or use --unsent drop",
		}
	}
	if err := remote.Drain(ctx, run); err != nil {
		return err
	}
	if refused := remote.Refused(); refused != "" {
		return errors.New(refused)
	}
	return nil
}

func (c *deleteCmd) checkpoints(ctx context.Context, t *terminal, store *sqlite.Store, run engine.RunID) error {
	bytes, err := store.WeighCheckpoints(ctx, run, c.Checkpoint)
	if err != nil {
		return err
	}
	all, err := store.Checkpoints(ctx, run)
	if err != nil {
		return err
	}
	fmt.Fprintf(t.out, "of run %s, to be deleted, about %s:\n", run, engine.FormatBytes(bytes))
	w := show.NewTable(t.out)
	for _, cp := range all {
		for _, n := range c.Checkpoint {
			if n == cp.Number {
				show.Row(w, "  checkpoint %d\t%s\tcycle %d\t%s\n", n, show.Time(cp.At), cp.Cycle, cp.Reason)
			}
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := c.agreed(t); err != nil {
		return err
	}
	if !c.Now {
		if err := store.TrashCheckpoints(ctx, run, c.Checkpoint); err != nil {
			return err
		}
		fmt.Fprintf(t.out, "deleted; %s\n", trashHint(run, c.Checkpoint))
		return nil
	}
	if err := store.DeleteCheckpoints(ctx, run, c.Checkpoint); err != nil {
		return err
	}
	fmt.Fprintln(t.out, "deleted")
	return nil
}

// agreed asks for confirmation.
func (f *removalFlags) agreed(t *terminal) error {
	if f.Yes || t.answer("Delete? Type yes: ") == "yes" {
		return nil
	}
	return kept(t, "Nothing was deleted.")
}

// kept prints what was not deleted, and returns the exit code.
func kept(t *terminal, what string) error {
	fmt.Fprintln(t.out, what)
	return exitError(exitFailed)
}

// answer asks a question and returns the input in lower case.
func (t *terminal) answer(question string) string {
	fmt.Fprint(t.out, question)
	if t.lines == nil {
		t.lines = bufio.NewReader(t.in)
	}
	line, err := t.lines.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return ""
	}
	return strings.ToLower(strings.TrimSpace(line))
}

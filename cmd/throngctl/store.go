package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite"
)

var errNoRun = errors.New("no runs yet; try: throngctl run shopping")

// pick returns a run by the beginning of its ID or by its name; the newest without one.
func pick(ctx context.Context, store *sqlite.Store, name string) (engine.RunRecord, error) {
	if name != "" {
		record, err := store.Run(ctx, engine.RunID(name))
		if errors.Is(err, engine.ErrNotFound) && !errors.As(err, new(*storage.AmbiguousError)) && !errors.Is(err, sqlite.ErrTrashed) {
			err = &noSuchRun{name}
		}
		return record, err
	}
	record, err := store.Newest(ctx)
	if errors.Is(err, engine.ErrNotFound) {
		return record, errNoRun
	}
	return record, err
}

// pickAll returns the IDs of runs that are separated by commas.
func pickAll(ctx context.Context, store *sqlite.Store, names string) (ids []engine.RunID, err error) {
	for name := range strings.SplitSeq(names, ",") {
		record, err := pick(ctx, store, strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		ids = append(ids, record.ID)
	}
	return ids, nil
}

// noSuchRun is the error for a name that is not one of a run.
type noSuchRun struct{ name string }

func (e *noSuchRun) Error() string {
	return "no such run: " + e.name + "; throngctl runs lists them, and the beginning of an ID is enough"
}
func (e *noSuchRun) Unwrap() error { return engine.ErrNotFound }

// with opens the store, finds a run and hands both to f. Without a name it is the newest run or, if that is a survey, the run that it was
// among: a survey has to be named.
func (t *terminal) with(ctx context.Context, name string, f func(*sqlite.Store, engine.RunRecord) error) error {
	return t.withNewest(ctx, name, func(store *sqlite.Store, r engine.RunRecord) error {
		if name == "" {
			r = surveyed(ctx, store, r)
		}
		return f(store, r)
	})
}

// surveyed returns the run that a survey was among; another run is returned as it is.
func surveyed(ctx context.Context, store *sqlite.Store, r engine.RunRecord) engine.RunRecord {
	if view.IsSurvey(&r) {
		if of, err := store.Run(ctx, r.Parent); err == nil {
			return of
		}
	}
	return r
}

// orNewest returns names of runs or, without any, the run that a command takes then.
func orNewest(ctx context.Context, store *sqlite.Store, names []string) ([]string, error) {
	if len(names) > 0 {
		return names, nil
	}
	newest, err := pick(ctx, store, "")
	return []string{string(surveyed(ctx, store, newest).ID)}, err
}

// withNewest is with, but the newest run may be a survey.
func (t *terminal) withNewest(ctx context.Context, name string, f func(*sqlite.Store, engine.RunRecord) error) error {
	return t.look(ctx, func(store *sqlite.Store) error {
		record, err := pick(ctx, store, name)
		if err != nil {
			return err
		}
		return f(store, record)
	})
}

type runsCmd struct {
	Text []string `arg:"" optional:"" help:"List only runs that contain these words in their name, title, ID, tags, note, state, changes or outcome."`
	Tag  []string `placeholder:"TAG" help:"List only runs with this tag; repeat it for several."`
	Star bool     `help:"List only runs with a star."`
	elsewhereFlag
	jsonFlag
}

// Run is called by kong.
func (c *runsCmd) Run(ctx context.Context, t *terminal) (err error) {
	if db, ok, err := c.find(t); ok || err != nil {
		if err != nil {
			return err
		}
		return c.remoteRuns(ctx, t, db)
	}
	store, err := t.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	runs, err := store.Runs(ctx)
	if err != nil {
		return err
	}
	sizes, err := store.Sizes(ctx)
	if err != nil {
		return err
	}
	empty := len(runs) == 0
	runs = slices.DeleteFunc(runs, func(r engine.RunRecord) bool { return !c.wants(&r) })
	switch {
	case t.json:
		all := []answer.Run{}
		for i := range runs {
			r := answer.NewRun(&runs[i])
			r.Bytes = sizes[runs[i].ID]
			all = append(all, r)
		}
		return t.print(all)
	case empty:
		fmt.Fprintln(t.out, errNoRun)
		return nil
	case len(runs) == 0:
		fmt.Fprintln(t.out, "No runs match. List all runs with: throngctl runs")
		return nil
	}
	return show.Runs(t.out, runs, sizes)
}

// wants reports whether a run is listed.
func (c *runsCmd) wants(r *engine.RunRecord) bool {
	lacks := func(tag string) bool { return !slices.Contains(r.Tags, strings.ToLower(tag)) }
	return (r.Star || !c.Star) && !slices.ContainsFunc(c.Tag, lacks) && view.Matches(r, strings.Join(c.Text, " "))
}

type checkpointsCmd struct {
	RunID string `arg:"" optional:"" name:"run" help:"Run ID or its beginning, or a name (default: the newest run)."`
	Show  int    `placeholder:"N" help:"Show one checkpoint with its memory."`
	elsewhereFlag
	jsonFlag
}

// Run is called by kong.
func (c *checkpointsCmd) Run(ctx context.Context, t *terminal) error {
	if db, ok, err := c.find(t); ok || err != nil {
		if err != nil {
			return err
		}
		return c.remoteCheckpoints(ctx, t, db, c.RunID)
	}
	return t.with(ctx, c.RunID, func(store *sqlite.Store, r engine.RunRecord) error {
		if c.Show != 0 {
			return c.showCheckpoint(ctx, t, store, r.ID, c.Show)
		}
		all, err := store.Checkpoints(ctx, r.ID)
		if err != nil {
			return err
		}
		if t.json {
			return t.print(answer.NewCheckpoints(r.ID, all))
		}
		switch {
		case len(all) > 0:
			return show.Checkpoints(t.out, all)
		case r.Ending == engine.EndFinished:
			fmt.Fprintf(t.out, "Run %s has no checkpoint.\n", r.ID)
		default:
			fmt.Fprintf(t.out, "Run %s has no checkpoint. It can still be resumed from its journal.\n", r.ID)
		}
		return nil
	})
}

// showCheckpoint prints what a checkpoint restores.
func (c *checkpointsCmd) showCheckpoint(ctx context.Context, t *terminal, store *sqlite.Store, run engine.RunID, number int) error {
	cp, s, memory, err := store.Checkpoint(ctx, run, number)
	if err != nil {
		return err
	}
	if t.json {
		j, n := answer.NewCheckpoint(&cp), len(memory)
		j.Limit, j.Memory = s.Limit, &n
		return t.print(answer.Checkpoints{Run: run, Checkpoints: []answer.Checkpoint{j}})
	}
	fmt.Fprintf(t.out, "checkpoint %d of run %s, taken %s: %s\n", cp.Number, run, show.Time(cp.At), cp.Reason)
	fmt.Fprintf(t.out, "  restores the start of cycle %d: %s sessions had ended, limit %d, %d agents with memory\n",
		cp.Cycle, engine.FormatCount(s.Totals.Ended()), s.Limit, len(memory))
	fmt.Fprintf(t.out, "  when it was taken: %s sessions\n", show.Done(cp.Done, cp.Total))
	return nil
}

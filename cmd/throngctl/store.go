package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite"
)

var errNoRun = errors.New("no runs yet; try: throngctl run shopping")

// pick returns a run by the beginning of its name; the newest without one.
func pick(ctx context.Context, store *sqlite.Store, name string) (engine.RunRecord, error) {
	if name != "" {
		return store.Run(ctx, engine.RunID(name))
	}
	record, err := store.Newest(ctx)
	if errors.Is(err, engine.ErrNotFound) {
		return record, errNoRun
	}
	return record, err
}

// with opens the store, finds a run and hands both to f.
func (t *terminal) with(ctx context.Context, name string, f func(*sqlite.Store, engine.RunRecord) error) (err error) {
	store, err := t.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	record, err := pick(ctx, store, name)
	if err != nil {
		return err
	}
	return f(store, record)
}

type runsCmd struct {
	elsewhereFlag
	jsonFlag
}

// Run is called by kong.
func (c *runsCmd) Run(ctx context.Context, t *terminal) (err error) {
	if db, ok, err := c.find(t); ok || err != nil {
		if err != nil {
			return err
		}
		return t.remoteRuns(ctx, db)
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
	if t.json {
		all := []runJSON{}
		for i := range runs {
			all = append(all, newRunJSON(&runs[i]))
		}
		return t.print(all)
	}
	if len(runs) == 0 {
		fmt.Fprintln(t.out, errNoRun)
		return nil
	}
	return show.Runs(t.out, runs)
}

type checkpointsCmd struct {
	RunID string `arg:"" optional:"" name:"run" help:"Run ID or its beginning (default: the newest run)."`
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
		return t.remoteCheckpoints(ctx, db, c.RunID)
	}
	return t.with(ctx, c.RunID, func(store *sqlite.Store, r engine.RunRecord) error {
		if c.Show != 0 {
			return t.showCheckpoint(ctx, store, r.ID, c.Show)
		}
		all, err := store.Checkpoints(ctx, r.ID)
		if err != nil {
			return err
		}
		if t.json {
			return t.print(newCheckpoints(r.ID, all))
		}
		switch {
		case len(all) > 0:
			return show.Checkpoints(t.out, all)
		case r.Ending == engine.EndFinished:
			fmt.Fprintf(t.out, "Run %s has no checkpoint: it finished before the first was due (--checkpoint-interval).\n", r.ID)
		default:
			fmt.Fprintf(t.out, "Run %s has no checkpoint. It can still be resumed from its journal.\n", r.ID)
		}
		return nil
	})
}

// showCheckpoint prints what a checkpoint restores.
func (t *terminal) showCheckpoint(ctx context.Context, store *sqlite.Store, run engine.RunID, number int) error {
	cp, s, memory, err := store.Checkpoint(ctx, run, number)
	if err != nil {
		return err
	}
	if t.json {
		j, n := newCheckpoint(&cp), len(memory)
		j.Limit, j.Memory = s.Limit, &n
		return t.print(checkpointsJSON{run, []checkpointJSON{j}})
	}
	fmt.Fprintf(t.out, "checkpoint %d of run %s, taken %s: %s\n", cp.Number, run, show.Time(cp.At), cp.Reason)
	fmt.Fprintf(t.out, "  restores the start of cycle %d: %s sessions had ended, limit %d, %d agents with memory\n",
		cp.Cycle, engine.FormatCount(s.Totals.Ended()), s.Limit, len(memory))
	fmt.Fprintf(t.out, "  when it was taken: %s sessions\n", show.Done(cp.Done, cp.Total))
	return nil
}

// writeFile writes a file that appears when it is complete.
func writeFile(path string, write func(io.Writer) error) error {
	if there, err := os.Stat(path); err == nil && there.IsDir() {
		return &engine.FieldError{Field: path, Problem: "is a folder", Hint: "name a file in it"}
	} else if err == nil && !there.Mode().IsRegular() {
		return writeInto(path, write)
	}
	f, err := storage.CreateTemp(filepath.Dir(path), filepath.Base(path)+".")
	if err != nil {
		return plainly(path, err)
	}
	w := bufio.NewWriter(f)
	err = errors.Join(write(w), w.Flush(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

// writeInto writes to a device or a pipe, which stays what it is.
func writeInto(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	return errors.Join(write(w), w.Flush(), f.Close())
}

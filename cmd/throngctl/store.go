package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

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
	w := tabwriter.NewWriter(t.out, 2, 4, 2, ' ', 0)
	fmt.Fprintln(w, "RUN\tSTARTED\tSTATE\tCYCLE\tDONE\tRESULT\tTITLE\tNOTE")
	for _, r := range runs {
		cycles := ""
		if r.Cycles > 0 {
			cycles = fmt.Sprintf("/%d", r.Cycles)
		}
		done := engine.FormatCount(r.Done)
		if r.Total > 0 {
			done = fmt.Sprintf("%s (%.0f%%)", done, 100*float64(r.Done)/float64(r.Total))
		}
		result := "exact"
		if r.Inexact != nil {
			result = "inexact"
		}
		title := r.Title
		if r.Parent != "" {
			title += fmt.Sprintf(" (fork of %s, cycle %d)", r.Parent, r.ForkCycle)
		}
		if state := r.CleanedState(); state != "" {
			title += " (" + state + ")"
		}
		rowf(w, "%s\t%s\t%s\t%d%s\t%s\t%s\t%s\t%s\n", r.ID, stamp(r.Created), r.State(), r.Cycle, cycles, done, result, title, noteLine(r.Note))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i := range runs {
		for j := range runs[i].Cleaned {
			fmt.Fprintf(t.out, "%s: %s\n", runs[i].ID, runs[i].Cleaned[j].Says(runs[i].ID, stamp))
		}
	}
	return nil
}

func stamp(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

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
			return t.listCheckpoints(all)
		case r.Ending == engine.EndFinished:
			fmt.Fprintf(t.out, "Run %s has no checkpoint: it finished before the first was due (--checkpoint-interval).\n", r.ID)
		default:
			fmt.Fprintf(t.out, "Run %s has no checkpoint. It can still be resumed from its journal.\n", r.ID)
		}
		return nil
	})
}

func (t *terminal) listCheckpoints(all []engine.CheckpointRecord) error {
	w := tabwriter.NewWriter(t.out, 2, 4, 2, ' ', 0)
	fmt.Fprintln(w, "NUMBER\tTIME\tCYCLE\tDONE\tKIND\tREASON\tSIZE\tTOOK")
	for _, cp := range all {
		rowf(w, "%d\t%s\t%d\t%s\t%s\t%s\t%s\t%s\n", cp.Number, stamp(cp.At), cp.Cycle, doneOf(cp.Done, cp.Total),
			cp.Kind(), cp.Reason, engine.FormatBytes(cp.SizeBytes), tookOf(&cp))
	}
	return w.Flush()
}

// tookOf returns how long a checkpoint took.
func tookOf(cp *engine.CheckpointRecord) string {
	if cp.Took == 0 {
		return "not known"
	}
	return engine.FormatDuration(cp.Took)
}

func doneOf(done, total int64) string {
	if total == 0 {
		return engine.FormatCount(done)
	}
	return fmt.Sprintf("%s (%.1f%%)", engine.FormatCount(done), 100*float64(done)/float64(total))
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
	fmt.Fprintf(t.out, "checkpoint %d of run %s, taken %s: %s\n", cp.Number, run, stamp(cp.At), cp.Reason)
	fmt.Fprintf(t.out, "  restores the start of cycle %d: %s sessions had ended, limit %d, %d agents with memory\n",
		cp.Cycle, engine.FormatCount(s.Totals.Ended()), s.Limit, len(memory))
	fmt.Fprintf(t.out, "  when it was taken: %s sessions\n", doneOf(cp.Done, cp.Total))
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

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/throng-sim/throng/cmd/internal/control"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
)

var errNoneInProgress = errors.New("no run is in progress; start one with: throngctl run, or resume one with: throngctl resume")

// steer finds the run in progress and calls f with a client of its process. A signal cancels f.
func (t *terminal) steer(ctx context.Context, name string, f func(ctx context.Context, c *control.Client, run engine.RunID) error) error {
	record, err := t.current(ctx, name)
	switch {
	case err != nil:
		return err
	case record == nil:
		return errNoneInProgress
	case record.Queued != "":
		return stillQueued(record)
	case !record.InProgress && record.Ending == engine.EndFinished:
		return fmt.Errorf("run %s is not in progress: it has finished", record.ID)
	case !record.InProgress:
		return fmt.Errorf("run %s is not in progress; resume it with: throngctl resume %s", record.ID, record.ID)
	}
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	go func() {
		select {
		case <-t.signals:
			giveUp(exitError(exitInterrupted))
		case <-ctx.Done():
		}
	}()
	c, err := control.Dial(ctx, t.data, record.ID)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	return f(ctx, c, record.ID)
}

// stillQueued is the error for a run that has to be in progress or at its end, and waits to start.
func stillQueued(r *engine.RunRecord) error {
	return fmt.Errorf("run %s waits in the queue as %s; cancel it with: throngctl queue cancel %s", r.ID, r.Queued, r.Queued)
}

// look opens the store for f.
func (t *terminal) look(_ context.Context, f func(*sqlite.Store) error) (err error) {
	store, err := t.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return f(store)
}

// current returns a run by the start of its ID, or its name, or, without one, the run in progress; nil if there is none.
func (t *terminal) current(ctx context.Context, name string) (record *engine.RunRecord, err error) {
	err = t.look(ctx, func(store *sqlite.Store) (err error) {
		record, err = inProgress(ctx, store, name)
		return err
	})
	return record, err
}

func inProgress(ctx context.Context, store *sqlite.Store, name string) (*engine.RunRecord, error) {
	if name != "" {
		record, err := pick(ctx, store, name)
		return &record, err
	}
	runs, err := store.Runs(ctx)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(runs, func(r engine.RunRecord) bool { return r.InProgress }); i >= 0 {
		return &runs[i], nil
	}
	return nil, nil //nolint:nilnil // no run is in progress
}

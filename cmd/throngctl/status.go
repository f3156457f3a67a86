package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/control"
	"github.com/throng-sim/throng/cmd/internal/dash"
	"github.com/throng-sim/throng/cmd/throngctl/internal/orders"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/storage/sqlite"
)

type statusCmd struct {
	orders.Which
	Follow      bool   `short:"f" help:"Keep showing it until the run ends: as a dashboard in a terminal, else every few seconds."`
	At          string `placeholder:"TIME" help:"Show an earlier moment: 10m after the start, 15:04:05 or 2006-01-02T15:04:05."`
	NoDashboard bool   `help:"With --follow: print lines instead of the dashboard."`
	jsonFlag
}

// attach shows the dashboard of a run in another process.
func (c *statusCmd) attach(ctx context.Context, t *terminal, run engine.RunID, in, out *os.File) error {
	return t.steer(ctx, string(run), func(ctx context.Context, watch *control.Client, id engine.RunID) (err error) {
		order, err := control.Dial(ctx, t.data, id)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, order.Close()) }()
		d, err := dash.Open(dash.Config{In: in, Out: out, Look: dash.LookOf(os.Getenv), Watch: watch, Order: order})
		if err != nil {
			return err
		}
		return d.Run(ctx)
	})
}

// followEvery is the interval of --follow.
const followEvery = 2 * time.Second

// Run is called by kong.
func (c *statusCmd) Run(ctx context.Context, t *terminal) error {
	if c.At != "" {
		return c.then(ctx, t)
	}
	var record *engine.RunRecord
	var ended *view.Status
	err := t.look(ctx, func(store *sqlite.Store) (err error) {
		if record, err = inProgress(ctx, store, c.RunID); err != nil {
			return err
		}
		if record == nil {
			newest, err := pick(ctx, store, "")
			if err != nil {
				return err
			}
			record = &newest
		}
		if !record.InProgress {
			if ended, err = endedStatus(ctx, store, record); err == nil {
				ended.Sink, err = c.unsent(ctx, t, store, record.ID)
			}
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case ended != nil && c.JSON:
		return c.showStatus(t, ended, true)
	case ended != nil:
		show.Ended(t.out, record)
		if ended.Origin != "" {
			fmt.Fprintf(t.out, "  origin: %s\n", ended.Origin)
		}
		if record.Inexact != nil {
			fmt.Fprintf(t.out, "  result: %s\n", record.Inexact)
		}
		if says := show.Unconfirmed(ended); says != "" {
			fmt.Fprintf(t.out, "  unconfirmed: %s\n", says)
		}
		if o := ended.Overhead; o != nil {
			show.Overhead(func(name string, parts ...string) { fmt.Fprintf(t.out, "  %s: %s\n", name, show.Join("; ", parts...)) }, o)
		}
		if ended.Sink != nil {
			fmt.Fprintf(t.out, "  %s\n", ended.Sink.Words)
		}
		return nil
	}
	if in, out, ok := t.files(); ok && c.Follow && !c.NoDashboard && !t.json {
		return c.attach(ctx, t, record.ID, in, out)
	}
	return t.steer(ctx, string(record.ID), func(ctx context.Context, client *control.Client, _ engine.RunID) error {
		for first := true; ; first = false {
			s, err := client.Status(ctx)
			switch {
			case errors.Is(err, engine.ErrEnded) && !first:
				return nil
			case err != nil:
				return err
			}
			if err := c.showStatus(t, s, c.JSON); err != nil {
				return err
			}
			if !c.Follow || s.Phase == engine.Ended.String() {
				return nil
			}
			select {
			case <-time.After(followEvery):
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	})
}

// endedStatus returns the status of a run that is not in progress, from the store.
func endedStatus(ctx context.Context, store *sqlite.Store, r *engine.RunRecord) (*view.Status, error) {
	totals, err := store.Totals(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	checkpoints, err := store.Checkpoints(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	s := view.OfRecord(r, &totals, time.Now())
	s.Origin, s.Checkpoints = app.Origin(ctx, store, r), len(checkpoints)
	doubts, err := store.Unconfirmed(ctx, r.ID, 0) // including sessions that have not ended
	if err != nil {
		return nil, err
	}
	s.Unconfirmed = doubts.All
	notes, err := store.ErrorNotes(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	s.Errors = append(s.Errors, notes...)
	for _, c := range checkpoints {
		if c.At.After(s.LastCheckpoint) {
			s.LastCheckpoint = c.At.UTC()
		}
	}
	return s, nil
}

// unsent returns how much of a run waits for the configured database; nil if the run is not sent there.
func (c *statusCmd) unsent(ctx context.Context, t *terminal, store *sqlite.Store, run engine.RunID) (*view.Sink, error) {
	db, err := databaseFlag{}.find(t)
	if err != nil || db.URL == "" {
		return nil, err
	}
	s := &view.Sink{Target: db.Target()}
	switch s.Unsent, err = store.Unsent(ctx, run, s.Target); {
	case errors.Is(err, engine.ErrNotFound):
		return nil, nil //nolint:nilnil // the run is not sent there
	case err != nil:
		return nil, err
	case s.Unsent > 0:
		s.Words = fmt.Sprintf("%s rows are not in %s yet; send them with: throngctl push %s", engine.FormatCount(s.Unsent), s.Target, run)
	default:
		s.Words = "all rows are in " + s.Target
	}
	return s, nil
}

func (c *statusCmd) showStatus(t *terminal, s *view.Status, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(t.out).Encode(s)
	}
	return show.Status(t.out, s)
}

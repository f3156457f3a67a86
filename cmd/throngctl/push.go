package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"text/tabwriter"
	"time"

	"github.com/throng-sim/throng/cmd/internal/wire"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
)

// databaseFlag says where results go beside the local store.
type databaseFlag struct {
	DatabaseURL string `name:"database-url" placeholder:"URL" help:"Postgres that results are sent to as well, such as postgres://user@host/db; none sends nothing. Else ${env_database_url}, or the saved one." group:"Results"`
}

// find returns the database in force.
func (f databaseFlag) find(t *terminal) (wire.Database, error) {
	return wire.FindDatabase(f.DatabaseURL, os.Getenv, t.data)
}

var errInterrupted = errors.New("interrupted")

// pushCmd sends results, or asks the server.
type pushCmd struct {
	RunID string `arg:"" optional:"" name:"run" help:"The run, or the beginning of its name; the newest without."`
	Check bool   `help:"Send nothing; ask the server for its version, round trip, connections, rights and TLS."`
	databaseFlag
}

// Run is called by kong.
func (c *pushCmd) Run(ctx context.Context, t *terminal) error {
	db, err := c.find(t)
	if err != nil {
		return err
	}
	if db.URL == "" {
		return wire.ErrNoDatabase
	}
	if c.Check {
		return t.check(ctx, db)
	}
	return t.with(ctx, c.RunID, func(store *sqlite.Store, r engine.RunRecord) (err error) {
		ctx, giveUp := context.WithCancelCause(ctx)
		defer giveUp(nil)
		go func() { // a signal ends the waiting, nothing else
			select {
			case <-t.signals:
				giveUp(errInterrupted)
			case <-ctx.Done():
			}
		}()
		remote := wire.NewRemote(store, slog.New(slog.DiscardHandler))
		if err := remote.Use(db); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, remote.Close()) }()
		if err := remote.Send(ctx, r.ID); err != nil {
			return err
		}
		if err := remote.Drain(ctx, r.ID); err != nil {
			return fmt.Errorf("run %s is not all sent: %w", r.ID, err)
		}
		if refused := remote.Refused(); refused != "" {
			return errors.New(refused)
		}
		fmt.Fprintf(t.out, "run %s is in %s: %s sessions\n", r.ID, db.Target(), engine.FormatCount(r.Done))
		return nil
	})
}

// check prints what the server says of itself.
func (t *terminal) check(ctx context.Context, db wire.Database) error {
	lines, err := wire.CheckDatabase(ctx, db)
	w := tabwriter.NewWriter(t.out, 2, 4, 2, ' ', 0)
	for _, l := range lines {
		fmt.Fprintf(w, "%s\t%s\t%s\n", l.Grade, l.Name, l.Value)
	}
	return errors.Join(err, w.Flush())
}

// deliverTime is how long the end of a run waits for a database that answers.
const deliverTime = 30 * time.Second

// deliver waits until what the run gave is in the remote database, if it goes to one.
func (t *terminal) deliver(ctx context.Context, remote *wire.Remote, job *wire.Job) {
	if job.Target == "" {
		return
	}
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	ctx, cancel := context.WithTimeoutCause(ctx, deliverTime, fmt.Errorf("they take longer than %s", engine.FormatDuration(deliverTime)))
	defer cancel()
	go func() {
		select {
		case <-t.signals:
			giveUp(errInterrupted)
		case <-ctx.Done():
		}
	}()
	if err := remote.Drain(ctx, job.Record.ID); err != nil {
		fmt.Fprintf(t.err, "not all results are in %s yet: %v\nsend them later with: throngctl push %s\n", job.Target, err, job.Record.ID)
		return
	}
	if refused := remote.Refused(); refused != "" {
		fmt.Fprintf(t.err, "not all results are in %s: %s\n", job.Target, refused)
		return
	}
	fmt.Fprintf(t.out, "all results are in %s\n", job.Target)
}

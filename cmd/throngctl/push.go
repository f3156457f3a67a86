package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/remote"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/flags"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
)

// databaseFlag selects the database that also receives results.
type databaseFlag struct {
	DatabaseURL string `name:"database-url" placeholder:"URL" help:"Postgres database for results, such as postgres://user@host/db; none for no database (default: the saved one; variable ${env_database_url})." group:"Results"`
	flags.Database
}

// find returns the current database, with its password if the user can be asked.
func (f databaseFlag) find(t *terminal) (config.Database, error) {
	db, err := config.FindDatabase(f.flags(), os.Getenv, t.data)
	if err != nil {
		return db, err
	}
	if db.URL == "" && f.DatabaseURL == "" {
		f.offerDatabase(t)
	}
	return f.askPassword(t, db)
}

// offerDatabase mentions once that an environment variable names a database of another program, and how to use it.
func (f databaseFlag) offerDatabase(t *terminal) {
	offer, ok := config.FindDatabaseOffer(os.Getenv, t.data)
	if !ok {
		return
	}
	fmt.Fprintf(t.err, "%s points to %s. Throng does not use it. To send results there: --database-url \"$%s\", or save it in Settings. This is shown once.\n",
		config.OfferEnv, offer.Target, config.OfferEnv)
	if err := offer.Decline(t.data); err != nil {
		slog.Warn("the answer to the offer of a database cannot be saved", "error", err)
	}
}

// flags returns the given flags, by the names of their settings.
func (f databaseFlag) flags() map[string]string {
	given := flags.Given(f.Plugins)
	given[config.DatabaseKey] = f.DatabaseURL
	return given
}

// named returns the database of the flag; saved settings are ignored.
func (f databaseFlag) named(t *terminal) (config.Database, error) {
	if f.DatabaseURL == "" {
		return config.Database{}, nil
	}
	return f.find(t)
}

var errInterrupted = errors.New("interrupted")

// pushCmd sends results, or checks the server.
type pushCmd struct {
	RunID string `arg:"" optional:"" name:"run" help:"Run ID or its beginning, or a name (default: the newest run)."`
	jsonFlag
	Check bool `help:"Check version, round trip, connections, privileges and TLS of the server without sending anything."`
	databaseFlag
}

// Run is called by kong.
func (c *pushCmd) Run(ctx context.Context, t *terminal) error {
	db, err := c.find(t)
	if err != nil {
		return err
	}
	if db.URL == "" {
		return config.ErrNoDatabase
	}
	if c.Check {
		return c.check(ctx, t, db)
	}
	return t.with(ctx, c.RunID, func(store *sqlite.Store, r engine.RunRecord) (err error) {
		ctx, giveUp := context.WithCancelCause(ctx)
		defer giveUp(nil)
		go func() { // a signal only ends the wait
			select {
			case <-t.signals:
				giveUp(errInterrupted)
			case <-ctx.Done():
			}
		}()
		remote := remote.New(store, slog.New(slog.DiscardHandler))
		if err := remote.Use(db); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, remote.Close()) }()
		if err := remote.Send(ctx, r.ID); err != nil {
			return err
		}
		if err := drain(ctx, t, remote, r.ID); err != nil {
			return fmt.Errorf("run %s is not all sent: %w", r.ID, err)
		}
		if refused := remote.Refused(); refused != "" {
			return errors.New(refused)
		}
		if t.json {
			return t.print(answer.Pushed{Run: r.ID, Database: db.Target(), Sessions: r.Done})
		}
		fmt.Fprintf(t.out, "run %s is in %s: %s sessions\n", r.ID, db.Target(), engine.FormatCount(r.Done))
		return nil
	})
}

// drain waits until a run is sent, and shows progress.
func drain(ctx context.Context, t *terminal, remote *remote.Sender, run engine.RunID) error {
	done := make(chan error, 1)
	go func() { done <- remote.Drain(ctx, run) }()
	shown := show.NewProgress(t.err, false)
	defer shown.End()
	tick := time.NewTicker(shown.Every)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return err
		case now := <-tick.C:
			if text := remote.Progress(ctx, run); text != "" {
				shown.Say(now, text, false)
			}
		}
	}
}

// check prints the result of checking the server.
func (c *pushCmd) check(ctx context.Context, t *terminal, db config.Database) error {
	lines, err := app.CheckDatabase(ctx, db)
	if t.json {
		j := []answer.Check{}
		for _, l := range lines {
			j = append(j, answer.Check{Name: l.Name, Grade: l.Grade.String(), Text: l.Value})
		}
		return errors.Join(err, t.print(j))
	}
	w := show.NewTable(t.out)
	for _, l := range lines {
		show.Row(w, "%s\t%s\t%s\n", l.Grade, l.Name, l.Value)
	}
	return errors.Join(err, w.Flush())
}

// deliverTime limits how long the end of a run waits for the database.
const deliverTime = 30 * time.Second

// deliver waits until the results of a run are in its database, if it has one.
func deliver(ctx context.Context, t *terminal, remote *remote.Sender, job *app.Job) {
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
	if err := drain(ctx, t, remote, job.Record.ID); err != nil {
		fmt.Fprintf(t.err, "Not all results are in %s yet: %v\nSend the rest later with: throngctl push %s\n", job.Target, err, job.Record.ID)
		return
	}
	if refused := remote.Refused(); refused != "" {
		fmt.Fprintf(t.err, "Not all results are in %s: %s\n", job.Target, refused)
		return
	}
	fmt.Fprintf(t.out, "All results are in %s.\n", job.Target)
}

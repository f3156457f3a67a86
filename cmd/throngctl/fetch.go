package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/remote"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
)

// elsewhereFlag selects a database instead of the local store.
type elsewhereFlag struct {
	DatabaseURL string `name:"database-url" placeholder:"URL" help:"Read from this Postgres database instead of the local store; \"saved\" uses the saved one."`
}

// find returns the database to read from, if one was given.
func (f elsewhereFlag) find(t *terminal) (db config.Database, ok bool, err error) {
	if f.DatabaseURL == "" {
		return db, false, nil
	}
	flag := f.DatabaseURL
	if flag == "saved" {
		flag = ""
	}
	db, err = databaseFlag{DatabaseURL: flag}.find(t)
	if err == nil && db.URL == "" {
		err = config.ErrNoDatabase
	}
	return db, true, err
}

// remoteRuns lists the runs of a database.
func (c *runsCmd) remoteRuns(ctx context.Context, t *terminal, db config.Database) error {
	runs, err := remote.Runs(ctx, db)
	if err != nil {
		return err
	}
	runs = slices.DeleteFunc(runs, func(r storage.RemoteRun) bool { return !c.wants(&r.RunRecord) })
	if t.json {
		all := []answer.Run{}
		for i := range runs {
			all = append(all, answer.NewRemoteRun(&runs[i]))
		}
		return t.print(all)
	}
	if len(runs) == 0 {
		fmt.Fprintf(t.out, "There are no runs in %s yet.\n", db.Target())
		return nil
	}
	return show.RemoteRuns(t.out, runs)
}

// remoteCheckpoints lists the checkpoints of a run in a database.
func (c *checkpointsCmd) remoteCheckpoints(ctx context.Context, t *terminal, db config.Database, run string) error {
	if run == "" {
		return &engine.FieldError{Field: "run", Problem: "no run given", Hint: "list runs with: throngctl runs --database-url URL"}
	}
	r, all, err := remote.Checkpoints(ctx, db, engine.RunID(run))
	if err != nil {
		return err
	}
	if t.json {
		return t.print(answer.NewCheckpoints(r.ID, all))
	}
	if len(all) == 0 {
		fmt.Fprintf(t.out, "Run %s has no checkpoint in %s that can be fetched.\n", r.ID, db.Target())
		return nil
	}
	return show.Checkpoints(t.out, all)
}

// fetchCmd fetches a checkpoint from a database.
type fetchCmd struct {
	RunID      string `arg:"" name:"run" help:"Run ID or its beginning, or a name."`
	Checkpoint int    `placeholder:"N" help:"Checkpoint number (default: the newest)."`
	databaseFlag
	jsonFlag
}

// Run is called by kong.
func (c *fetchCmd) Run(ctx context.Context, t *terminal) (err error) {
	db, err := c.find(t)
	if err != nil {
		return err
	}
	if db.URL == "" {
		return config.ErrNoDatabase
	}
	if c.Checkpoint < 0 {
		return &engine.FieldError{Field: "checkpoint", Problem: fmt.Sprintf("no such checkpoint: %d", c.Checkpoint), Hint: "numbers start at 1"}
	}
	store, err := t.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	go func() {
		select {
		case <-t.signals:
			giveUp(errInterrupted)
		case <-ctx.Done():
		}
	}()
	run, checkpoint, err := remote.Fetch{Store: store, Data: t.data, Database: db, Run: engine.RunID(c.RunID), Number: c.Checkpoint}.Do(ctx)
	if err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, errInterrupted) {
			return fmt.Errorf("nothing was fetched: %w", cause)
		}
		return err
	}
	if t.json {
		return t.print(answer.NewCheckpoints(run.ID, []engine.CheckpointRecord{checkpoint}))
	}
	fmt.Fprintf(t.out, "Fetched checkpoint %d of run %s, at the start of cycle %d; its results stay in %s.\nFork it with: throngctl fork %s --checkpoint %d\n",
		checkpoint.Number, run.ID, checkpoint.Cycle, db.Target(), run.ID, checkpoint.Number)
	return nil
}

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/storage/sqlite"
)

// storeRows measure the local store and what is sent to Postgres.
func storeRows() []row {
	return []row{journalRow(), checkpointRow(), pushRow(), growthRow()}
}

const (
	// bareRows is how many rows of bareBytes the baselines write, bareCommit of them in a transaction: as many as the
	// journal writes at once.
	bareRows, bareBytes, bareCommit = 1_000_000, 28, 10_000
)

func journalRow() row {
	const agents = 1_000_000
	return row{
		name: "2",
		what: "A million empty sessions at gate 50, journaled to SQLite",
		sides: []side{
			{name: "Throng", run: func(ctx context.Context, e env) (figures, error) { return journaled(ctx, e.dir, agents) }},
			{name: "bare SQLite, prepared single rows", run: func(ctx context.Context, e env) (figures, error) { return bareSQLite(ctx, e.dir, 1) }},
			{name: "bare SQLite, 100 rows a statement", run: func(ctx context.Context, e env) (figures, error) { return bareSQLite(ctx, e.dir, 100) }},
		},
		shown: []string{"sessions/s", "bytes/session", "peak MB"},
		ratios: []ratio{
			{name: "sessions/s", must: 50_000, aim: 150_000, of: plain("sessions/s")},
			{name: "times prepared single rows", of: over(0, "sessions/s", 1, "sessions/s")},
			{name: "times statements of 100 rows", of: over(0, "sessions/s", 2, "sessions/s")},
		},
		note: fmt.Sprintf("Up to the last session being durable. The baselines write a row of %d bytes for a session, %d in a transaction, with the "+
			"same settings of the file (WAL, synchronous full); they run no session.", bareBytes, bareCommit),
	}
}

// journaled runs empty sessions, everything journaled, up to the journal being closed.
func journaled(ctx context.Context, dir string, agents int) (figures, error) {
	store, journal, err := newRun(ctx, dir, engine.DefaultSettings())
	if err != nil {
		return nil, err
	}
	settings := engine.DefaultSettings()
	settings.Limit = 50
	began := time.Now()
	r, err := run.Start(ctx, run.Config{
		ID: benchRun, Program: emptyProgram, Agents: agents, Clock: engine.Clock{Cycle: time.Hour}, Settings: settings, Journal: journal,
	})
	if err != nil {
		return nil, err
	}
	result := r.Wait()
	if err := journal.Close(ctx); err != nil {
		return nil, err
	}
	took := time.Since(began)
	if ended := result.Totals.Ended(); ended != int64(agents) {
		return nil, fmt.Errorf("%d of %d sessions ended", ended, agents)
	}
	if err := store.Close(); err != nil {
		return nil, err
	}
	return rates(filepath.Join(dir, "throng.db"), agents, took)
}

// rates are the figures of so many sessions in a file.
func rates(path string, sessions int, took time.Duration) (figures, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	return figures{
		"sessions/s":    float64(sessions) / took.Seconds(),
		"bytes/session": float64(info.Size()) / float64(sessions),
		"peak MB":       ownPeak(),
	}, nil
}

const benchRun engine.RunID = "20260101-000000-bench"

// newRun makes a store with a run in it.
func newRun(ctx context.Context, dir string, settings engine.Settings) (*sqlite.Store, *sqlite.Journal, error) {
	store, err := openStore(dir)
	if err != nil {
		return nil, nil, err
	}
	if err := store.Create(ctx, engine.RunRecord{ID: benchRun, Settings: settings, Cycles: settings.Cycles, Created: time.Now()}); err != nil {
		return nil, nil, err
	}
	journal, err := store.Journal(benchRun)
	return store, journal, err
}

// bareSQLite inserts rows through the driver, so many with a statement.
//
//nolint:sqlclosecheck // a transaction's statement ends with it
func bareSQLite(ctx context.Context, dir string, each int) (f figures, err error) {
	path := filepath.Join(dir, "bare.db")
	db, err := sql.Open("sqlite3", "file:"+filepath.ToSlash(path)+"?_journal_mode=WAL&_synchronous=FULL&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, `PRAGMA wal_autocheckpoint = 4000; CREATE TABLE sessions (agent INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT`); err != nil {
		return nil, err
	}
	insert, err := db.PrepareContext(ctx, `INSERT INTO sessions VALUES (?, ?)`+strings.Repeat(`, (?, ?)`, each-1))
	if err != nil {
		return nil, err
	}
	args := make([]any, 0, 2*each)
	data := make([]byte, bareBytes)
	began := time.Now()
	for n := 0; n < bareRows; n += bareCommit {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return nil, err
		}
		stmt := tx.StmtContext(ctx, insert)
		for row := n; row < n+bareCommit; row += each {
			args = args[:0]
			for i := range each {
				args = append(args, row+i, data)
			}
			if _, err := stmt.ExecContext(ctx, args...); err != nil {
				return nil, err
			}
		}
		if err := tx.Commit(); err != nil {
			return nil, err
		}
	}
	took := time.Since(began)
	if _, err := db.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		return nil, err
	}
	return rates(path, bareRows, took)
}

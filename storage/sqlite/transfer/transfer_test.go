package transfer

import (
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
	"github.com/throng-sim/throng/storage/sqlite/internal/lock"
)

var quiet = slog.New(slog.DiscardHandler)

// TestReadsAreShort writes to the store from which a run is copied, and restarts its write-ahead log then: a read that lasted as long as
// the copy would let the log grow.
func TestReadsAreShort(t *testing.T) {
	dir := t.TempDir()
	store, err := sqlite.Open(dir, sqlite.Options{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Create(t.Context(), engine.RunRecord{ID: "r", Created: time.Now(), Settings: engine.DefaultSettings()}); err != nil {
		t.Fatal(err)
	}
	j, err := store.Journal("r")
	if err != nil {
		t.Fatal(err)
	}
	const cycles = 3
	for cycle := range cycles {
		j.Append(engine.SessionRows{{Place: engine.Place{Cycle: cycle}, Outcome: engine.OK}})
	}
	if err := j.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	source, err := open(dir, quiet)
	if err != nil {
		t.Fatal(err)
	}
	c := &copying{ctx: t.Context(), source: source, from: 1, page: 1}
	seen, pages := 0, 0
	if err := c.pages("sessions", "pos", func(_ []string, rows [][]any) error {
		seen, pages = seen+len(rows), pages+1
		if _, err := source.Writer.ExecContext(t.Context(), `PRAGMA busy_timeout = 0; UPDATE runs SET note = note || '.'`); err != nil {
			return err
		}
		var busy, pages, moved int
		if err := source.Writer.QueryRowContext(t.Context(), `PRAGMA wal_checkpoint(RESTART)`).Scan(&busy, &pages, &moved); err != nil {
			return err
		}
		if busy != 0 {
			t.Errorf("row %d: the copy keeps the log from being restarted", seen)
		}
		return nil
	}); err != nil || seen != cycles || pages != cycles {
		t.Errorf("%d rows in %d pages, want %d: %v", seen, pages, cycles, err)
	}
	if err := source.Close(); err != nil {
		t.Error(err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}

// TestCopyWaitsForTheTidying copies a run to a store which another process has just opened: that one removes the remains of interrupted
// copies for a moment.
func TestCopyWaitsForTheTidying(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	store, err := sqlite.Open(from, sqlite.Options{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Create(t.Context(), engine.RunRecord{ID: "r", Created: time.Now(), Settings: engine.DefaultSettings()}); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		tidying, err := lock.Take(filepath.Join(to, lock.Imports))
		if err != nil || tidying == nil {
			t.Fatal(tidying, err)
		}
		copied := make(chan error, 1)
		go func() { copied <- Copy(t.Context(), "r", from, to, quiet, nil) }()
		synctest.Wait()
		if err := tidying.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-copied; err != nil {
			t.Error(err)
		}
	})
}

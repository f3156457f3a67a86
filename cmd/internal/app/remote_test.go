package app_test

import (
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/remote"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest/proxy"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
	"github.com/throng-sim/throng/storage/sqlite"
)

// TestRemoteOfAnotherDatabase changes the database while results are sent. The count of rows never falls, and an old
// database that no longer answers does not affect the new one.
func TestRemoteOfAnotherDatabase(t *testing.T) {
	logger := slog.New(slog.NewTextHandler(io.Discard, nil))
	store, err := sqlite.Open(t.TempDir(), sqlite.Options{Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	s, err := authoring.Load("shopping", nil)
	if err != nil {
		t.Fatal(err)
	}
	const run = engine.RunID("20260301-120000-abcd")
	record := engine.RunRecord{ID: run, Title: "Shoppers", Created: time.Now(), Settings: engine.DefaultSettings(), Source: s.Source}
	if err := store.Create(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	journal, err := store.Journal(run)
	if err != nil {
		t.Fatal(err)
	}
	server := pgtest.Shared(t)
	line := proxy.NewLine(t, server.Address())
	r := remote.New(store, logger)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	use := func(url string) {
		t.Helper()
		began := time.Now()
		if err := r.Use(config.Database{URL: url}); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 30*time.Second { // the machine may be busy; a statement has a minute
			t.Errorf("took %v", took)
		}
	}
	send := func(want int64) {
		t.Helper()
		if err := journal.Commit(t.Context(), engine.MetricsRow{At: time.Now()}); err != nil {
			t.Fatal(err)
		}
		if err := r.Send(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		if err := r.Drain(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		if got := r.Sent(); got < want {
			t.Errorf("%d rows were sent, want %d at least", got, want)
		}
	}
	use(strings.Replace(server.Database(t), server.Address(), line.Addr().String(), 1))
	send(2) // with the run's own row
	before := r.Sent()
	line.Silence()
	if err := journal.Commit(t.Context(), engine.MetricsRow{At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if err := r.Send(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	use(server.Database(t))
	if got := r.Sent(); got < before {
		t.Errorf("%d rows were sent, after %d", got, before)
	}
	send(before + 4)
	before = r.Sent()
	use("")
	if _, ok := r.Status(); ok || r.Sent() != before || r.Target() != "" {
		t.Errorf("without a database: status %v, %d rows sent, want %d, target %q", ok, r.Sent(), before, r.Target())
	}
	if text, _ := r.Words(); text != "" {
		t.Errorf("got %q", text)
	}
}

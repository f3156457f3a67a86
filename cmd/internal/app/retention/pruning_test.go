package retention

import (
	"log/slog"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
	"github.com/throng-sim/throng/storage/sqlite/queue"
)

// TestPruningSkipsWaitingRuns prunes while one run is in progress and another waits in the queue: neither can be deleted, and neither
// makes pruning fail.
func TestPruningSkipsWaitingRuns(t *testing.T) {
	data, logger := t.TempDir(), slog.New(slog.DiscardHandler)
	store, err := sqlite.Open(data, sqlite.Options{Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []engine.RunID{"old", "waits", "runs"} {
		if err := store.Create(t.Context(), engine.RunRecord{ID: id, Created: time.Now().Add(-time.Hour), Settings: engine.DefaultSettings()}); err != nil {
			t.Fatal(err)
		}
	}
	release, err := store.Claim(t.Context(), "runs")
	if err != nil {
		t.Fatal(err)
	}
	place, err := queue.Of(data, logger).Enter(queue.Entry{Work: "run waits", Run: "waits"})
	if err != nil {
		t.Fatal(err)
	}
	all, err := Pruning{OlderThan: time.Minute}.Find(t.Context(), store, data, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if err := all[i].Do(t.Context(), store, data, false); err != nil || all[i].Run.ID != "old" {
			t.Errorf("%s: %v", all[i].Run.ID, err)
		}
	}
	if _, err := store.TrashedRun(t.Context(), "old"); err != nil {
		t.Error(err)
	}
	place.Leave()
	release()
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}

package sqlite_test

import (
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/storage/sqlite"
)

type emptyProgram struct{}

func (emptyProgram) Session(s *engine.Session) { s.Row.Outcome = engine.OK }

// BenchmarkJournaledRun is a whole run of empty sessions with everything journaled: NUMBERS 2.
func BenchmarkJournaledRun(b *testing.B) {
	store, err := sqlite.Open(b.TempDir(), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	settings := engine.DefaultSettings()
	record := engine.RunRecord{ID: "bench", Settings: settings, Cycles: 1, Created: time.Now()}
	if err := store.Create(b.Context(), record); err != nil {
		b.Fatal(err)
	}
	journal, err := store.Journal("bench")
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	run, err := run.Start(b.Context(), run.Config{
		ID: "bench", Program: emptyProgram{}, Agents: b.N, Clock: engine.Clock{Cycle: time.Hour}, Settings: settings, Journal: journal,
	})
	if err != nil {
		b.Fatal(err)
	}
	if r := run.Wait(); r.Totals.Ended() != int64(b.N) {
		b.Fatalf("%d of %d sessions ended", r.Totals.Ended(), b.N)
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "sessions/s")
	if err := journal.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
	if err := store.Close(); err != nil {
		b.Fatal(err)
	}
}

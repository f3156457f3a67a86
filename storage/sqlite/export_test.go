package sqlite

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
)

// TestResultsAreTheSameBytes journals the same sessions in different orders, batches and takes, with different timing,
// checkpoints and restarts: sessions.csv and events.csv do not change.
func TestResultsAreTheSameBytes(t *testing.T) {
	const agents, cycles = 500, 3
	names := storage.Names{
		Agent:   func(index int) (string, error) { return fmt.Sprint("agent ", index), nil },
		Session: func(cycle, agent int) string { return fmt.Sprintf("%d-%d", cycle, agent) },
	}
	results := func(variant uint64) (sessions, events, timings string) {
		s := openStore(t, t.TempDir(), Options{Logger: quiet()})
		defer func() { closeStore(t, s) }()
		j := newRun(t, s, "r")
		order := rand.New(rand.NewPCG(variant, 1))
		for cycle := range cycles {
			var rows engine.SessionRows
			for _, a := range order.Perm(agents) {
				row := shopping(rand.New(rand.NewPCG(uint64(a), uint64(cycle))))
				row.Place = engine.Place{Cycle: cycle, Agent: a}
				if variant > 0 {
					row.Steps[2].Label, row.Steps[2].Attempts = engine.Replayed, 3
					if a%50 == 0 {
						first := row
						first.Outcome, first.Class, first.Events = engine.Failed, engine.Network, nil
						row.Take = 1
						rows = append(rows, first)
					}
				}
				rows = append(rows, row)
				if len(rows) > order.IntN(40) {
					j.Append(rows)
					rows = nil
				}
			}
			if err := j.Commit(t.Context(), rows, engine.BarrierRow{Cycle: cycle}, engine.CheckpointRow{Cycle: cycle + 1}); err != nil {
				t.Fatal(err)
			}
			if variant > 1 {
				closeStore(t, s)
				s = openStore(t, s.file.Dir(), Options{Logger: quiet()})
				var err error
				if j, err = s.Journal("r"); err != nil {
					t.Fatal(err)
				}
			}
		}
		var out [3]bytes.Buffer
		for i, err := range []error{
			storage.ExportSessions(t.Context(), &out[0], s, "r", names),
			storage.ExportEmitted(t.Context(), &out[1], s, "r", names),
			storage.Export(t.Context(), &out[2], storage.CSV, "timings", s, "r", names),
		} {
			if err != nil {
				t.Fatal(i, err)
			}
		}
		return out[0].String(), out[1].String(), out[2].String()
	}
	sessions, events, timings := results(0)
	if n := bytes.Count([]byte(sessions), []byte("\n")); n != agents*cycles+1 {
		t.Errorf("got %d lines of sessions, want %d", n, agents*cycles+1)
	}
	for variant := range uint64(2) {
		otherSessions, otherEvents, otherTimings := results(variant + 1)
		if otherSessions != sessions {
			t.Errorf("variant %d: sessions differ", variant+1)
		}
		if otherEvents != events {
			t.Errorf("variant %d: events differ", variant+1)
		}
		if otherTimings == timings {
			t.Errorf("variant %d: the timings are equal: nothing varies", variant+1)
		}
	}
}

package audit_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
)

// TestCheckpointBehindItsBarrier checks that a checkpoint taken while its cycle's barrier was being committed follows
// the barrier in the journal, and still belongs to that cycle.
func TestCheckpointBehindItsBarrier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{Latency: time.Second}
		cfg := enginetest.Config(5, &enginetest.Crowd{Work: time.Second}, j)
		cfg.Settings.Cycles = 10
		run, err := run.Start(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		for run.Snapshot().Phase != engine.Ended {
			time.Sleep(170 * time.Millisecond)
			go func() { _ = run.Checkpoint(t.Context(), "by hand") }()
		}
		run.Wait()
		j.Close()
		end := enginetest.Of[engine.EndRow](j)[0]
		r := &recording{
			record: engine.RunRecord{ID: "test", Settings: cfg.Settings, Cycle: 10, Cycles: 10, Done: 50, Total: end.Total, Ended: end.At, Ending: end.Ending},
			totals: end.Totals, rows: j.Rows(), sessions: 50,
		}
		behind, open := 0, 0
		for _, row := range r.rows {
			switch row := row.(type) {
			case engine.BarrierRow:
				open = row.Cycle + 1
			case engine.CheckpointRow:
				if row.Cycle < open {
					behind++
				}
			}
		}
		if behind == 0 {
			t.Fatal("no checkpoint followed its barrier: nothing was tested")
		}
		if names, _ := differing(t, r); len(names) > 0 {
			t.Errorf("with %d checkpoints behind their barriers differ:\n%s", behind, strings.Join(names, "\n"))
		}
	})
}

package sqlite

import (
	"errors"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/retrieval"
	"github.com/throng-sim/throng/storage/sqlite/internal/blob"
)

// FuzzRecords checks that decoding checkpoints, memory and metrics returns errors and does not panic.
func FuzzRecords(f *testing.F) {
	var totals engine.Totals
	totals.Add(&engine.SessionRow{Outcome: engine.Failed, Total: time.Second})
	encoder := blob.NewEncoder()
	for _, v := range []any{&engine.State{Limit: 3, Totals: totals}, &engine.Memory{Notes: [][]byte{[]byte("n")}, Kept: []retrieval.Kept{{Note: 1, Cycle: 2, Used: 3, Vector: []byte("v")}}}, &engine.MetricsRow{Ended: 3}, map[string][]byte{"a": []byte("b")}} {
		f.Add(blob.MustMarshal(v, encoder))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if blob.RawSize(data) != len(data) { // compressed: fuzzing would only test the compressor
			return
		}
		for _, v := range []any{&engine.State{}, &engine.Memory{}, &engine.MetricsRow{}, &map[string][]byte{}, &[]engine.Judgment{}} {
			if err := blob.Unmarshal(data, v); err != nil && !errors.Is(err, ErrDamaged) {
				t.Errorf("got %v, want ErrDamaged", err)
			}
		}
	})
}

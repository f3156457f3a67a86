package sqlite

import (
	"errors"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

// FuzzRecords holds the decoders of checkpoints, memory and metrics to errors.
func FuzzRecords(f *testing.F) {
	var totals engine.Totals
	totals.Add(&engine.SessionRow{Outcome: engine.Failed, Total: time.Second})
	folder := newFolder()
	for _, v := range []any{&engine.State{Limit: 3, Totals: totals}, &engine.Memory{Notes: [][]byte{[]byte("n")}}, &engine.MetricsRow{Ended: 3}, map[string][]byte{"a": []byte("b")}} {
		f.Add(must(encode(v, folder)))
	}
	f.Fuzz(func(t *testing.T, blob []byte) {
		if len(blob) > 0 && blob[0] == compressed {
			return
		}
		for _, v := range []any{&engine.State{}, &engine.Memory{}, &engine.MetricsRow{}, &map[string][]byte{}, &[]engine.Judgement{}} {
			if err := decode(blob, v); err != nil && !errors.Is(err, ErrDamaged) {
				t.Errorf("got %v, want ErrDamaged", err)
			}
		}
	})
}

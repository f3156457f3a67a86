package engine

import (
	"testing"
	"time"
)

// programFunc is a program of one function.
type programFunc func(*Session)

func (f programFunc) Session(s *Session) { f(s) }

// BenchmarkEmptySessions is what the engine itself costs per session: an empty chain, nothing journaled, gate 50.
func BenchmarkEmptySessions(b *testing.B) {
	settings := DefaultSettings()
	settings.Metrics = false
	r, err := Start(b.Context(), Config{
		ID:       "bench",
		Agents:   b.N,
		Settings: settings,
		Clock:    Clock{Cycle: time.Hour},
		Program:  programFunc(func(s *Session) { s.Row.Outcome = OK }),
	})
	if err != nil {
		b.Fatal(err)
	}
	if got := r.Wait(); got.Totals.Outcomes[OK] != int64(b.N) {
		b.Fatalf("%d of %d sessions ended", got.Totals.Outcomes[OK], b.N)
	}
}

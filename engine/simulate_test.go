package engine

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// TestSimulation lives through the lives of a thousand seeds. SEEDS=n takes so many, SEED=n replays one with a trace.
func TestSimulation(t *testing.T) {
	if text := os.Getenv("SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		s := newSimulation(seed)
		s.trace = t.Logf
		if err := s.run(); err != nil {
			t.Error(err)
		}
		return
	}
	seeds := 1000
	if text := os.Getenv("SEEDS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		seeds = n
	}
	lives, failed, began := 0, 0, time.Now()
	for seed := range uint64(seeds) {
		s := newSimulation(seed)
		if err := s.run(); err != nil {
			t.Errorf("%v\nreplay it: make simulate SEED=%d", err, seed)
			if failed++; failed == 10 {
				break
			}
		}
		lives += s.lives
	}
	took := time.Since(began)
	t.Logf("%d seeds, %d lives, %.0f lives a second", seeds, lives, float64(lives)/took.Seconds())
}

package breaker

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestWindowForgets compares a window with a list of all outcomes and their times.
func TestWindowForgets(t *testing.T) {
	const bucket = breakWindow / windowBuckets
	rapid.Check(t, func(t *rapid.T) {
		now := time.Now()
		w := window{began: now}
		type entry struct {
			bucket int64
			outcome
		}
		var all []entry
		elapsed := time.Duration(0)
		for range rapid.IntRange(1, 80).Draw(t, "outcomes") {
			elapsed += time.Duration(rapid.Int64Range(0, int64(breakWindow)*3/2).Draw(t, "gap")) / time.Duration(rapid.IntRange(1, 50).Draw(t, "divisor"))
			o := rapid.SampledFrom([]outcome{good, bad}).Draw(t, "outcome")
			w.add(now.Add(elapsed), o)
			all = append(all, entry{int64(elapsed / bucket), o})
			var answered, failed int
			for _, e := range all {
				switch recent := int64(elapsed/bucket)-e.bucket < windowBuckets; {
				case recent && e.outcome == bad:
					failed++
				case recent:
					answered++
				}
			}
			if a, f := w.totals(now.Add(elapsed)); a != answered || f != failed {
				t.Fatalf("after %s: %d answered and %d failed, want %d and %d", elapsed, a, f, answered, failed)
			}
		}
	})
}

package audit

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestQuantilesOfBins checks that without room for individual values, the sorted quantile lies within the reported bin,
// which is narrow.
func TestQuantilesOfBins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ds := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) time.Duration {
			return time.Duration(rapid.Int64Range(-5, 1<<rapid.IntRange(0, 50).Draw(r, "exponent")).Draw(r, "ns"))
		}), 1, 300).Draw(t, "durations")
		shared := &room{rapid.IntRange(0, 400).Draw(t, "room")}
		had := shared.left
		v := values{room: shared}
		var sum time.Duration
		for i, d := range ds {
			v.add(d)
			ds[i] = max(d, 0)
			sum += ds[i]
		}
		slices.Sort(ds)
		if v.count != int64(len(ds)) || v.sum != sum || v.longest != ds[len(ds)-1] {
			t.Fatalf("count, sum, longest = %d, %v, %v; want %d, %v, %v", v.count, v.sum, v.longest, len(ds), sum, ds[len(ds)-1])
		}
		for _, q := range []int64{1, 50, 95, 99, 100} {
			low, high := v.quantile(q, 100)
			want := ds[max((int64(len(ds))*q+99)/100, 1)-1]
			if want < low || want > high || high-low > want/split || v.bins == nil && low != high {
				t.Errorf("quantile %d/100 of %d is in %v to %v, want %v", q, len(ds), low, high, want)
			}
		}
		v.reset()
		if shared.left != had || v.count != 0 {
			t.Errorf("room for %d of %d is left after all values went", shared.left, had)
		}
	})
}

// TestBinsTouch checks that each bin starts at the end of the previous one.
func TestBinsTouch(t *testing.T) {
	next := time.Duration(0)
	for bin := range int32(40 * split) {
		low, high := binRange(bin)
		if low != next || high < low || binOf(low) != bin || binOf(high) != bin {
			t.Fatalf("bin %d is %d to %d, which are in %d and %d; the one before ends at %d", bin, low, high, binOf(low), binOf(high), next)
		}
		next = high + 1
	}
}

// BenchmarkValues measures a value that is not stored individually.
func BenchmarkValues(b *testing.B) {
	v := values{room: &room{}}
	d := time.Millisecond
	for b.Loop() {
		v.add(d)
		d += 997
	}
}

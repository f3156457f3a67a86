package stats

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// adversarial draws durations that are difficult for buckets: at their edges and a microsecond off, all the same, two far apart, each
// twice the previous one, a long tail, and everything below the width of the finest bucket.
func adversarial(r *rapid.T) []time.Duration {
	edge := rapid.Custom(func(r *rapid.T) time.Duration {
		shift := rapid.IntRange(0, 29).Draw(r, "power of two")
		part := rapid.Int64Range(fine, 2*fine).Draw(r, "bucket")
		return time.Duration(max(part<<shift+rapid.Int64Range(-1, 1).Draw(r, "offset"), 0)) * time.Microsecond
	})
	n := rapid.IntRange(1, 400).Draw(r, "n")
	ds := make([]time.Duration, n)
	kind := rapid.SampledFrom([]string{"edges", "equal", "two", "doubling", "tail", "fine", "clamped"}).Draw(r, "kind")
	a, b := edge.Draw(r, "a"), edge.Draw(r, "b")
	for i := range ds {
		switch kind {
		case "edges":
			ds[i] = edge.Draw(r, "edge")
		case "equal":
			ds[i] = a
		case "two":
			if ds[i] = a; rapid.Bool().Draw(r, "other") {
				ds[i] = b
			}
		case "doubling":
			ds[i] = time.Microsecond << (i % 36)
		case "tail":
			ds[i] = time.Duration(float64(time.Millisecond) / math.Pow(rapid.Float64Range(1e-6, 1).Draw(r, "u"), 1.1))
		case "fine":
			ds[i] = time.Duration(rapid.Int64Range(0, 300_000).Draw(r, "ns"))
		case "clamped":
			ds[i] = time.Duration(rapid.Int64Range(-1e15, 1e15).Draw(r, "ns"))
		}
	}
	return ds
}

// TestAdversarialQuantiles compares both histograms with a sort: each quantile lies in the bucket of the value of its rank, which is at
// most 1/128 of it wide, also after a merge and after encoding.
func TestAdversarialQuantiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ds := adversarial(t)
		cut := rapid.IntRange(0, len(ds)).Draw(t, "cut")
		h, first := of(ds[cut:]), of(ds[:cut])
		h.Merge(first)
		n := narrowOf(ds)
		var h2 Histogram
		var n2 Narrow
		for _, c := range []struct {
			from interface{ MarshalBinary() ([]byte, error) }
			to   interface{ UnmarshalBinary([]byte) error }
		}{{h, &h2}, {n, &n2}} {
			data, err := c.from.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.to.UnmarshalBinary(data); err != nil {
				t.Fatal(err)
			}
		}
		sorted := make([]time.Duration, len(ds))
		for i, d := range ds {
			sorted[i] = min(max(d, 0), time.Duration(highest)*time.Microsecond)
		}
		slices.Sort(sorted)
		for _, q := range []float64{0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1} {
			want := sorted[max(int(math.Ceil(q*float64(len(sorted))-1e-9)), 1)-1]
			for name, got := range map[string]time.Duration{"Histogram": h2.Quantile(q), "Narrow": n2.Quantile(q)} {
				if off := max(got-want, want-got); off > want/fine+time.Microsecond {
					t.Errorf("%s: quantile %v of %d = %v, want %v: off by %v", name, q, len(sorted), got, want, off)
				}
			}
		}
	})
}

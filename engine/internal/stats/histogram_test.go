package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// durations draws from the whole range that a run meets: zero, microseconds, days.
func durations(r *rapid.T) []time.Duration {
	return rapid.SliceOfN(rapid.Custom(func(r *rapid.T) time.Duration {
		exponent := rapid.IntRange(0, 45).Draw(r, "exponent")
		return time.Duration(rapid.Int64Range(0, 1<<exponent).Draw(r, "ns"))
	}), 1, 300).Draw(r, "durations")
}

func of(ds []time.Duration) *Histogram {
	var h Histogram
	for _, d := range ds {
		h.Record(d)
	}
	return &h
}

// near reports whether got is within 1% of want, or within the one microsecond that is the resolution of histograms.
func near(got, want time.Duration) bool {
	off := math.Abs(float64(got - want))
	return off <= 0.01*float64(want) || off <= float64(time.Microsecond)
}

func TestQuantilesAreThoseOfASort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ds := durations(t)
		h := of(ds)
		slices.Sort(ds)
		var sum time.Duration
		for _, d := range ds {
			sum += d
		}
		if got, want := h.Count(), int64(len(ds)); got != want {
			t.Fatalf("count = %d, want %d", got, want)
		}
		if got := h.Sum(); got != sum {
			t.Errorf("sum = %v, want %v", got, sum)
		}
		if got, want := h.Max(), ds[len(ds)-1]; !near(got, want) {
			t.Errorf("max = %v, want %v", got, want)
		}
		for _, q := range []float64{0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 1} {
			rank := max(int(math.Ceil(q*float64(len(ds))-1e-9)), 1)
			if got, want := h.Quantile(q), ds[rank-1]; !near(got, want) {
				t.Errorf("quantile %v of %d = %v, want %v", q, len(ds), got, want)
			}
		}
		got, want := [4]time.Duration{}, [4]time.Duration{h.Quantile(0.5), h.Quantile(0.95), h.Quantile(0.99), h.Max()}
		if got[0], got[1], got[2], got[3] = h.Quantiles(); got != want {
			t.Errorf("of %d, the quantiles are %v in one pass, want %v", len(ds), got, want)
		}
	})
}

func TestCodecRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := of(durations(t))
		data, err := h.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var got Histogram
		if err := got.UnmarshalBinary(data); err != nil {
			t.Fatalf("%d bytes of its own were refused: %v", len(data), err)
		}
		same(t, &got, h)
		for cut := range data {
			var half Histogram
			if err := half.UnmarshalBinary(data[:cut]); err == nil && cut > 0 && half.Count() > h.Count() {
				t.Errorf("the first %d of %d bytes hold %d records, the whole %d", cut, len(data), half.Count(), h.Count())
			}
		}
	})
}

func same(t rapid.TB, got, want *Histogram) {
	t.Helper()
	if got.Count() != want.Count() || got.Sum() != want.Sum() || got.Max() != want.Max() {
		t.Errorf("count, sum, max = %d, %v, %v; want %d, %v, %v", got.Count(), got.Sum(), got.Max(), want.Count(), want.Sum(), want.Max())
	}
	for q := 0.0; q <= 1; q += 0.05 {
		if g, w := got.Quantile(q), want.Quantile(q); g != w {
			t.Errorf("quantile %v = %v, want %v", q, g, w)
		}
	}
}

func TestMergeIsBothTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := durations(t), durations(t)
		got := of(a)
		got.Merge(of(b))
		same(t, got, of(append(slices.Clone(a), b...)))
	})
}

func TestCloneSharesNothing(t *testing.T) {
	h := of([]time.Duration{time.Second})
	c := h.Clone()
	c.Record(time.Hour)
	if h.Count() != 1 || c.Count() != 2 {
		t.Errorf("after recording into the copy: %d and %d records, want 1 and 2", h.Count(), c.Count())
	}
	h.Reset()
	if h.Count() != 0 || h.Sum() != 0 || c.Count() != 2 {
		t.Errorf("after a reset: %d records, sum %v, and %d in the copy; want 0, 0, 2", h.Count(), h.Sum(), c.Count())
	}
}

func TestEmptyHistogram(t *testing.T) {
	var h, got Histogram
	if h.Count() != 0 || h.Sum() != 0 || h.Max() != 0 || h.Quantile(0.5) != 0 {
		t.Error("an empty histogram holds something")
	}
	c := h.Clone()
	h.Merge(&c)
	data, err := h.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if err := got.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	if err := got.UnmarshalBinary(nil); err != nil {
		t.Errorf("empty input: %v", err)
	}
	if got.Count() != 0 {
		t.Errorf("%d records from empty input", got.Count())
	}
}

func TestOutOfRangeIsClamped(t *testing.T) {
	h := of([]time.Duration{-time.Second, 0, 1000 * time.Hour})
	if got := h.Count(); got != 3 {
		t.Errorf("%d of 3 recorded", got)
	}
	if got := h.Quantile(0.01); got != 0 {
		t.Errorf("a negative duration counts as %v, want 0", got)
	}
	if got := h.Max(); !near(got, 24*time.Hour) {
		t.Errorf("1000 h count as %v, want a day", got)
	}
	if got, want := h.Sum(), 1000*time.Hour; got != want {
		t.Errorf("sum = %v, want %v", got, want)
	}
}

func FuzzUnmarshal(f *testing.F) {
	seeds := [][]time.Duration{nil, {0}, {time.Microsecond, time.Second, time.Hour}}
	for _, ds := range seeds {
		data, err := of(ds).MarshalBinary()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte{2})
	f.Add([]byte{1, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		var h, again Histogram
		if h.UnmarshalBinary(data) != nil {
			return
		}
		if h.Count() < 0 || h.Sum() < 0 || h.Quantile(0.5) > h.Max() {
			t.Fatalf("accepted %x: count %d, sum %v", data, h.Count(), h.Sum())
		}
		if a, b, c, d := h.Quantiles(); a != h.Quantile(0.5) || b != h.Quantile(0.95) || c != h.Quantile(0.99) || d != h.Max() {
			t.Fatalf("accepted %x: the quantiles are %v, %v, %v and %v in one pass", data, a, b, c, d)
		}
		out, err := h.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if err := again.UnmarshalBinary(out); err != nil {
			t.Fatalf("%x came back as %x, which is refused: %v", data, out, err)
		}
		same(t, &again, &h)
	})
}

func BenchmarkRecord(b *testing.B) {
	var h Histogram
	rnd := rand.New(rand.NewPCG(1, 2))
	ds := make([]time.Duration, 1024)
	for i := range ds {
		ds[i] = time.Duration(rnd.Int64N(int64(time.Minute)))
	}
	i := 0
	for b.Loop() {
		h.Record(ds[i&1023])
		i++
	}
}

func BenchmarkClone(b *testing.B) {
	h := of([]time.Duration{time.Millisecond, time.Second, time.Minute})
	for b.Loop() {
		_ = h.Clone()
	}
}

// TestEachCoversAllRecords checks that the ranges follow each other and contain every record.
func TestEachCoversAllRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ds := durations(t)
		h := of(ds)
		var counted, last int64
		h.Each(func(from, to time.Duration, n int64) {
			if int64(from) < last || to <= from || n <= 0 {
				t.Fatalf("%d from %v to %v after %v", n, from, to, time.Duration(last))
			}
			last = int64(to)
			want := int64(0)
			for _, d := range ds {
				if us := d.Truncate(time.Microsecond); us >= from && us < to {
					want++
				}
			}
			if n != want {
				t.Errorf("%d from %v to %v, want %d", n, from, to, want)
			}
			counted += n
		})
		if counted != int64(len(ds)) {
			t.Errorf("%d records of %d", counted, len(ds))
		}
	})
	new(Histogram).Each(func(time.Duration, time.Duration, int64) { t.Error("an empty one has a range") })
}

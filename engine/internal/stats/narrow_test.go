package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func narrowOf(ds []time.Duration) *Narrow {
	var n Narrow
	for _, d := range ds {
		n.Record(d)
	}
	return &n
}

func TestNarrowQuantilesAreThoseOfASort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ds := durations(t)
		n := narrowOf(ds)
		slices.Sort(ds)
		var sum time.Duration
		for _, d := range ds {
			sum += d
		}
		if n.Count() != int64(len(ds)) || n.Sum() != sum {
			t.Fatalf("count, sum = %d, %v; want %d, %v", n.Count(), n.Sum(), len(ds), sum)
		}
		if got, want := n.Max(), ds[len(ds)-1].Truncate(time.Microsecond); got != want {
			t.Errorf("max = %v, want %v", got, want)
		}
		for _, q := range []float64{0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 1} {
			rank := max(int(math.Ceil(q*float64(len(ds))-1e-9)), 1)
			if got, want := n.Quantile(q), ds[rank-1]; !near(got, want) {
				t.Errorf("quantile %v of %d = %v, want %v", q, len(ds), got, want)
			}
		}
	})
}

// TestNarrowBuckets checks that every value is close to its bucket's value, and that buckets ascend.
func TestNarrowBuckets(t *testing.T) {
	last := -1
	for us := int64(0); us <= highest; us += 1 + us/1000 {
		b := bucket(us)
		if b < last || b > numBuckets {
			t.Fatalf("%d µs is in bucket %d after %d, of %d", us, b, last, numBuckets)
		}
		last = b
		if got, want := time.Duration(middle(b))*time.Microsecond, time.Duration(us)*time.Microsecond; !near(got, want) {
			t.Fatalf("%v counts as %v", want, got)
		}
	}
}

func TestNarrowCodecRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := narrowOf(durations(t))
		data, err := n.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var got Narrow
		if err := got.UnmarshalBinary(data); err != nil {
			t.Fatalf("%d bytes of its own were refused: %v", len(data), err)
		}
		sameNarrow(t, &got, n)
	})
}

func sameNarrow(t rapid.TB, got, want *Narrow) {
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

func TestNarrowCloneSharesNothing(t *testing.T) {
	n := narrowOf([]time.Duration{time.Second})
	c := n.Clone()
	c.Record(time.Second)
	c.Record(time.Hour)
	if n.Count() != 1 || n.Max() != time.Second || c.Count() != 3 {
		t.Errorf("after recording into the copy: %d and %d records, want 1 and 3", n.Count(), c.Count())
	}
}

func TestEmptyNarrow(t *testing.T) {
	var n, got Narrow
	if n.Count() != 0 || n.Sum() != 0 || n.Max() != 0 || n.Quantile(0.5) != 0 {
		t.Error("an empty histogram holds something")
	}
	data, err := n.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range [][]byte{data, nil} {
		if err := got.UnmarshalBinary(data); err != nil || got.Count() != 0 {
			t.Errorf("%x: %v, and %d records", data, err, got.Count())
		}
	}
}

func TestNarrowClampsWhatIsOutOfRange(t *testing.T) {
	n := narrowOf([]time.Duration{-time.Second, 0, 1000 * time.Hour})
	if n.Count() != 3 || n.Quantile(0.01) != 0 || n.Max() != 24*time.Hour || n.Sum() != 1000*time.Hour {
		t.Errorf("%d records, the shortest %v, the longest %v, the sum %v", n.Count(), n.Quantile(0.01), n.Max(), n.Sum())
	}
}

// TestNarrowIsNarrow checks that the histogram of a step with a constant duration is small.
func TestNarrowIsNarrow(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var n Narrow
	for range 100_000 {
		n.Record(20*time.Millisecond + time.Duration(rnd.Int64N(int64(100*time.Millisecond))))
	}
	if got := len(n.counts); got > 600 {
		t.Errorf("%d buckets for 20 to 120 ms", got)
	}
}

func FuzzNarrow(f *testing.F) {
	for _, ds := range [][]time.Duration{nil, {0}, {time.Microsecond, time.Second, time.Hour}} {
		data, err := narrowOf(ds).MarshalBinary()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte{2})
	f.Add([]byte{1, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		var n, again Narrow
		if n.UnmarshalBinary(data) != nil {
			return
		}
		if n.Count() < 0 || n.Sum() < 0 || n.Quantile(0.5) > n.Max() {
			t.Fatalf("accepted %x: count %d, sum %v", data, n.Count(), n.Sum())
		}
		out, err := n.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if err := again.UnmarshalBinary(out); err != nil {
			t.Fatalf("%x came back as %x, which is refused: %v", data, out, err)
		}
		sameNarrow(t, &again, &n)
	})
}

func BenchmarkNarrowRecord(b *testing.B) {
	var n Narrow
	rnd := rand.New(rand.NewPCG(1, 2))
	ds := make([]time.Duration, 1024)
	for i := range ds {
		ds[i] = time.Duration(rnd.Int64N(int64(time.Minute)))
	}
	i := 0
	for b.Loop() {
		n.Record(ds[i&1023])
		i++
	}
}

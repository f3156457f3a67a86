package stats

import (
	"math"
	"math/bits"
	"slices"
	"time"
)

// highest is a day in microseconds; longer durations count as a day.
const highest = int64(24 * 3600 * 1e6)

// A bucket is one microsecond wide up to 256, and then 1/128 of the power of two in which it starts.
const (
	fine       = 128
	exact      = 2 * fine
	numBuckets = 30*fine + exact // up to highest
	spare      = 16              // buckets that stay free at least when growing
)

// buckets count durations. They are stored from the shortest duration to the longest.
type buckets struct {
	from   int // the number of the first stored bucket
	counts []int64
	count  int64
	sum    time.Duration
}

// bucket returns the bucket of a number of microseconds.
func bucket(us int64) int {
	if us < exact {
		return int(us)
	}
	shift := bits.Len64(uint64(us)) - 8
	return shift*fine + int(us>>shift)
}

// bounds returns the smallest value of a bucket and its width, in microseconds.
func bounds(bucket int) (least, width int64) {
	if bucket < exact {
		return int64(bucket), 1
	}
	shift := bucket/fine - 1
	return int64(bucket-shift*fine) << shift, 1 << shift
}

// record counts one duration and returns its counted value, in microseconds; a negative one counts as 0.
func (b *buckets) record(d time.Duration) int64 {
	d = max(d, 0)
	us := min(d.Microseconds(), highest)
	b.sum += d
	b.add(bucket(us), 1)
	return us
}

func (b *buckets) add(bucket int, times int64) {
	b.count += times
	i := bucket - b.from
	if uint(i) < uint(len(b.counts)) {
		b.counts[i] += times
		return
	}
	b.widen(bucket)
	b.counts[bucket-b.from] += times
}

// widen makes room for a bucket that is not stored yet.
func (b *buckets) widen(bucket int) {
	room := max(spare, len(b.counts)/2)
	from, to := max(bucket-room, 0), min(bucket+room, numBuckets)
	if len(b.counts) > 0 {
		from, to = min(b.from, from), max(b.from+len(b.counts)-1, to)
	}
	counts := make([]int64, to-from+1)
	copy(counts[max(b.from-from, 0):], b.counts)
	b.from, b.counts = from, counts
}

// Count returns the number of recorded durations.
func (b *buckets) Count() int64 { return b.count }

// Sum returns the exact sum of the recorded durations.
func (b *buckets) Sum() time.Duration { return b.sum }

// quantile returns the bucket of a quantile: the first one that is not exceeded by at least the fraction q (0 to 1) of the records
// (nearest rank). It returns false without records.
func (b *buckets) quantile(q float64) (bucket int, found bool) {
	rank := b.rank(q)
	var below int64
	for i, c := range b.counts {
		if below += c; below >= rank {
			return b.from + i, true
		}
	}
	return 0, false
}

// rank returns how many records do not exceed a quantile, at least 1.
func (b *buckets) rank(q float64) int64 {
	return int64(max(math.Ceil(q*float64(b.count)-1e-9), 1))
}

func (b *buckets) clone() buckets {
	c := *b
	c.counts = slices.Clone(b.counts)
	return c
}

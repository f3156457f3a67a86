package stats

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"slices"
	"time"
)

// Narrow counts durations like a Histogram, within 1 %, and keeps only the buckets between the shortest and the longest
// of them: it is for figures of which there are many. The zero value is empty and ready. It is not safe for concurrent
// use.
type Narrow struct {
	from    int // the bucket that counts begins with
	counts  []int64
	count   int64
	longest int64 // microseconds
	sum     time.Duration
}

// A bucket is one microsecond wide up to 256, and then 1/128 of the power of two that it begins in.
const (
	fine       = 128
	exact      = 2 * fine
	numBuckets = 30*fine + exact // up to highest
	spare      = 16              // buckets that growing leaves free
)

func bucket(us int64) int {
	if us < exact {
		return int(us)
	}
	shift := bits.Len64(uint64(us)) - 8
	return shift*fine + int(us>>shift)
}

// middle is the value that stands for a bucket, in microseconds.
func middle(bucket int) int64 {
	if bucket < exact {
		return int64(bucket)
	}
	shift := bucket/fine - 1
	return int64(bucket-shift*fine)<<shift + 1<<shift/2
}

// Record counts one duration; a negative one is 0, and one longer than a day is a day.
func (n *Narrow) Record(d time.Duration) {
	d = max(d, 0)
	us := min(d.Microseconds(), highest)
	n.sum += d
	n.longest = max(n.longest, us)
	n.add(bucket(us), 1)
}

func (n *Narrow) add(bucket int, times int64) {
	n.count += times
	i := bucket - n.from
	if uint(i) < uint(len(n.counts)) {
		n.counts[i] += times
		return
	}
	n.widen(bucket)
	n.counts[bucket-n.from] += times
}

// widen makes room for a bucket that is not kept yet.
func (n *Narrow) widen(bucket int) {
	from, to := max(bucket-spare, 0), min(bucket+spare, numBuckets)
	if len(n.counts) > 0 {
		from, to = min(n.from, from), max(n.from+len(n.counts), to)
	}
	counts := make([]int64, to-from+1)
	copy(counts[max(n.from-from, 0):], n.counts)
	n.from, n.counts = from, counts
}

// Count is how many durations were recorded.
func (n *Narrow) Count() int64 { return n.count }

// Sum is the exact sum of the recorded durations.
func (n *Narrow) Sum() time.Duration { return n.sum }

// Max returns the longest duration, to the microsecond.
func (n *Narrow) Max() time.Duration { return time.Duration(n.longest) * time.Microsecond }

// Quantile returns the smallest duration that at least the share q (0 to 1) of the records does not exceed (nearest
// rank); 0 when there are none.
func (n *Narrow) Quantile(q float64) time.Duration {
	rank := int64(max(math.Ceil(q*float64(n.count)-1e-9), 1))
	var below int64
	for i, c := range n.counts {
		if below += c; below >= rank {
			return time.Duration(min(middle(n.from+i), n.longest)) * time.Microsecond
		}
	}
	return 0
}

// Clone returns a copy that shares nothing with n.
func (n *Narrow) Clone() Narrow {
	c := *n
	c.counts = slices.Clone(n.counts)
	return c
}

// MarshalBinary encodes n sparsely: a version byte, the sum, the longest, and pairs of (gap to the next bucket in use,
// count).
func (n Narrow) MarshalBinary() ([]byte, error) {
	out := binary.AppendUvarint(binary.AppendUvarint([]byte{1}, uint64(n.sum)), uint64(n.longest))
	last := 0
	for i, c := range n.counts {
		if c > 0 {
			out = binary.AppendUvarint(binary.AppendUvarint(out, uint64(n.from+i-last)), uint64(c))
			last = n.from + i
		}
	}
	return out, nil
}

// UnmarshalBinary is the inverse of MarshalBinary.
func (n *Narrow) UnmarshalBinary(data []byte) error {
	*n = Narrow{}
	if len(data) == 0 {
		return nil
	}
	if data[0] != 1 {
		return errors.New("histogram: unknown version")
	}
	r := varints{data: data[1:]}
	sum, longest := r.next(), r.next()
	if r.bad || sum > math.MaxInt64 || longest > uint64(highest) {
		return errShort
	}
	for at, first := uint64(0), true; len(r.data) > 0; first = false {
		gap, count := r.next(), r.next()
		at += gap
		switch {
		case r.bad:
			return errShort
		case gap > numBuckets || at > numBuckets || gap == 0 && !first:
			return errors.New("histogram: bucket out of range")
		case count == 0 || count > maxCount:
			return errors.New("histogram: count out of range")
		}
		n.add(int(at), int64(count))
	}
	n.sum, n.longest = time.Duration(sum), int64(longest)
	return nil
}

// varints reads unsigned numbers of a variable length.
type varints struct {
	data []byte
	bad  bool
}

func (r *varints) next() uint64 {
	v, n := binary.Uvarint(r.data)
	if n <= 0 {
		r.bad, r.data = true, nil
		return 0
	}
	r.data = r.data[n:]
	return v
}

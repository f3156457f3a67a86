package stats

import (
	"encoding/binary"
	"errors"
	"math"
	"time"
)

// Narrow counts durations like a Histogram, with an error of less than 1%; the longest is exact to the microsecond. The zero value is
// empty and ready to use. It is not safe for concurrent use.
type Narrow struct {
	buckets
	longest int64 // microseconds
}

// Record counts one duration. A negative one counts as 0, one longer than a day as a day.
func (n *Narrow) Record(d time.Duration) { n.longest = max(n.longest, n.record(d)) }

// Max returns the longest duration, to the microsecond.
func (n *Narrow) Max() time.Duration { return time.Duration(n.longest) * time.Microsecond }

// Quantile returns the value of the quantile q (0 to 1, nearest rank); 0 without records.
func (n *Narrow) Quantile(q float64) time.Duration {
	b, found := n.quantile(q)
	if !found {
		return 0
	}
	return time.Duration(min(middle(b), n.longest)) * time.Microsecond
}

// middle returns the value that represents a bucket, in microseconds.
func middle(bucket int) int64 {
	least, width := bounds(bucket)
	return least + width/2
}

// Clone returns a copy that shares no memory with n.
func (n *Narrow) Clone() Narrow { return Narrow{n.clone(), n.longest} }

// Merge adds the records of o.
func (n *Narrow) Merge(o *Narrow) {
	for i, c := range o.counts {
		if c > 0 {
			n.add(o.from+i, c)
		}
	}
	n.sum += o.sum
	n.longest = max(n.longest, o.longest)
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

// varints reads unsigned varints.
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

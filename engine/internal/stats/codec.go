package stats

import (
	"encoding/binary"
	"errors"
	"time"
)

// maxCount keeps the sum of all buckets within 63 bits.
const maxCount = 1 << 48

var errShort = errors.New("histogram: encoding cut short")

// MarshalBinary encodes h sparsely: a version byte, the sum, and pairs of (gap to the next bucket in use, count).
func (h Histogram) MarshalBinary() ([]byte, error) {
	out := []byte{1}
	out = binary.AppendVarint(out, int64(h.sum))
	last := 0
	for i, n := range h.counts {
		if n > 0 {
			out = binary.AppendUvarint(out, uint64(h.from+i-last))
			out = binary.AppendUvarint(out, uint64(n))
			last = h.from + i
		}
	}
	return out, nil
}

// UnmarshalBinary is the inverse of MarshalBinary.
func (h *Histogram) UnmarshalBinary(data []byte) error {
	*h = Histogram{}
	if len(data) == 0 {
		return nil
	}
	if data[0] != 1 {
		return errors.New("histogram: unknown version")
	}
	data = data[1:]
	sum, n := binary.Varint(data)
	if n <= 0 {
		return errShort
	}
	data = data[n:]
	if sum < 0 {
		return errors.New("histogram: negative sum")
	}
	at := uint64(0)
	for first := true; len(data) > 0; first = false {
		gap, n := binary.Uvarint(data)
		if n <= 0 {
			return errShort
		}
		count, m := binary.Uvarint(data[n:])
		if m <= 0 {
			return errShort
		}
		data = data[n+m:]
		at += gap
		if gap > numBuckets || at > numBuckets {
			return errors.New("histogram: bucket out of range")
		}
		if count == 0 || count > maxCount || gap == 0 && !first {
			return errors.New("histogram: count out of range")
		}
		h.add(int(at), int64(count))
	}
	h.sum = time.Duration(sum)
	return nil
}

package stats

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// maxCount keeps the sum of all buckets within 63 bits.
const maxCount = 1 << 48

var errShort = errors.New("histogram: encoding cut short")

// MarshalBinary encodes h sparsely: a version byte, the sum, and pairs of (gap to the next bucket in use, count).
func (h Histogram) MarshalBinary() ([]byte, error) {
	out := []byte{1}
	out = binary.AppendVarint(out, int64(h.sum))
	if h.h == nil {
		return out, nil
	}
	last := 0
	for i, n := range h.h.Export().Counts {
		if n > 0 {
			out = binary.AppendUvarint(out, uint64(i-last))
			out = binary.AppendUvarint(out, uint64(n))
			last = i
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
	if len(data) > 0 {
		snapshot := hdrhistogram.New(lowest, highest, digits).Export()
		at := uint64(0)
		for len(data) > 0 {
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
			if gap >= uint64(len(snapshot.Counts)) || at >= uint64(len(snapshot.Counts)) {
				return errors.New("histogram: bucket out of range")
			}
			if count == 0 || count > maxCount || snapshot.Counts[at] > 0 {
				return errors.New("histogram: count out of range")
			}
			snapshot.Counts[at] = int64(count)
		}
		h.h = hdrhistogram.Import(snapshot)
	}
	h.sum = time.Duration(sum)
	return nil
}

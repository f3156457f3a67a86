// Package stats holds the figures of a run: histograms of durations and windows of them.
package stats

import (
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	lowest  = 1                      // microsecond
	highest = int64(24 * 3600 * 1e6) // a day in microseconds; longer is counted as this
	digits  = 2                      // a bucket is at most 1/128 of its values wide
)

// Histogram counts durations with a relative error under 1 %, or 1 µs. The zero value is empty and ready. It is not
// safe for concurrent use.
type Histogram struct {
	h   *hdrhistogram.Histogram
	sum time.Duration
}

// Record counts one duration; a negative one is 0.
func (h *Histogram) Record(d time.Duration) {
	d = max(d, 0)
	if h.h == nil {
		h.h = hdrhistogram.New(lowest, highest, digits)
	}
	h.sum += d
	_ = h.h.RecordValue(min(d.Microseconds(), highest)) // clamped: it cannot refuse
}

// Count is how many durations were recorded.
func (h *Histogram) Count() int64 {
	if h.h == nil {
		return 0
	}
	return h.h.TotalCount()
}

// Sum is the exact sum of the recorded durations.
func (h *Histogram) Sum() time.Duration { return h.sum }

// Quantile returns the smallest duration that at least the share q (0 to 1) of the records does not exceed (nearest
// rank); 0 when there are none.
func (h *Histogram) Quantile(q float64) time.Duration {
	n := float64(h.Count())
	if n == 0 {
		return 0
	}
	rank := max(math.Ceil(q*n-1e-9), 1) // the library would round to the nearest rank, which is a lower one for few records
	return time.Duration(h.h.ValueAtPercentile(100*rank/n)) * time.Microsecond
}

// Max returns the longest duration, within the histogram's precision.
func (h *Histogram) Max() time.Duration {
	return h.Quantile(1)
}

// Reset empties h and keeps its memory.
func (h *Histogram) Reset() {
	h.sum = 0
	if h.h != nil {
		h.h.Reset()
	}
}

// Merge adds the records of o.
func (h *Histogram) Merge(o *Histogram) {
	if o.h == nil {
		return
	}
	if h.h == nil {
		h.h = hdrhistogram.New(lowest, highest, digits)
	}
	h.h.Merge(o.h)
	h.sum += o.sum
}

// Clone returns a copy that shares nothing with h.
func (h *Histogram) Clone() Histogram {
	c := *h
	if c.h != nil {
		c.h = c.h.Clone()
	}
	return c
}

// Each calls f for the ranges that hold records, ascending, with how many there are. A record of a range is at least from
// and less than to.
func (h *Histogram) Each(f func(from, to time.Duration, n int64)) {
	if h.h == nil {
		return
	}
	for _, b := range h.h.Distribution() {
		if b.Count > 0 {
			f(time.Duration(b.From)*time.Microsecond, time.Duration(b.To+1)*time.Microsecond, b.Count)
		}
	}
}

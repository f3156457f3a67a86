// Package stats contains histograms of durations.
package stats

import "time"

// Histogram counts durations with a relative error of less than 1%, or 1 µs. The zero value is empty and ready to use. It is not safe for
// concurrent use.
type Histogram struct{ buckets }

// Record counts one duration. A negative one counts as 0, one longer than a day as a day.
func (h *Histogram) Record(d time.Duration) { h.record(d) }

// Quantile returns the longest duration in the bucket of the quantile q (0 to 1, nearest rank); 0 without records.
func (h *Histogram) Quantile(q float64) time.Duration {
	b, found := h.quantile(q)
	if !found {
		return 0
	}
	return longest(b)
}

// longest returns the longest duration in a bucket.
func longest(bucket int) time.Duration {
	least, width := bounds(bucket)
	return time.Duration(least+width-1) * time.Microsecond
}

// Quantiles returns what Quantile returns for 0.5, 0.95, 0.99 and 1. It reads the histogram once: a run shows them ten times a second.
func (h *Histogram) Quantiles() (p50, p95, p99, most time.Duration) {
	ranks := [...]int64{h.rank(0.50), h.rank(0.95), h.rank(0.99), h.rank(1)}
	var found [len(ranks)]time.Duration
	var below int64
	next := 0
	for i, c := range h.counts {
		below += c
		for next < len(ranks) && below >= ranks[next] {
			found[next] = longest(h.from + i)
			next++
		}
		if next == len(ranks) {
			break
		}
	}
	return found[0], found[1], found[2], found[3]
}

// Max returns the longest duration, within the histogram's precision.
func (h *Histogram) Max() time.Duration { return h.Quantile(1) }

// Reset empties h and keeps its memory.
func (h *Histogram) Reset() {
	clear(h.counts)
	h.count, h.sum = 0, 0
}

// Merge adds the records of o.
func (h *Histogram) Merge(o *Histogram) {
	for i, c := range o.counts {
		if c > 0 {
			h.add(o.from+i, c)
		}
	}
	h.sum += o.sum
}

// Clone returns a copy that shares no memory with h.
func (h *Histogram) Clone() Histogram { return Histogram{h.clone()} }

// Each calls f for the ranges with records, in ascending order, with the number of records. A range includes its start and excludes its
// end.
func (h *Histogram) Each(f func(from, to time.Duration, n int64)) {
	for i, c := range h.counts {
		if c > 0 {
			least, width := bounds(h.from + i)
			f(time.Duration(least)*time.Microsecond, time.Duration(least+width)*time.Microsecond, c)
		}
	}
}

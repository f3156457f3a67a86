package audit

import (
	"math/bits"
	"slices"
	"time"
)

const (
	// mostValues is the number of durations, over all figures, that are stored individually for sorting: 8 bytes each.
	mostValues = 1 << 20
	// split is the number of bins per power of two beyond that: values are resolved to 1/4096.
	split     = 1 << splitBits
	splitBits = 12
	// pageBins is the number of bins of a page. Only pages with values are allocated.
	pageBins = 64
)

// room is the number of values that may still be stored individually. All values of an audit share one.
type room struct{ left int }

// values are the durations of a figure. Up to a number, they are stored individually, and quantiles come from a sort. Beyond that, they
// are counted in bins of 1/4096 of their size, far finer than the histograms that they check. So an audit uses at most 8 MB for sorted
// values and, for each figure, 8 bytes per bin near those in use, for a run of any length. The CPU time per session is constant too.
type values struct {
	room    *room
	count   int64
	sum     time.Duration
	longest time.Duration
	each    []time.Duration
	sorted  bool
	bins    bins // nil while values are stored individually
}

// bins count the durations in each bin, by page.
type bins [][]int64

func (b *bins) add(d time.Duration) {
	bin := int(binOf(d))
	page := bin / pageBins
	for len(*b) <= page {
		*b = append(*b, nil)
	}
	if (*b)[page] == nil {
		(*b)[page] = make([]int64, pageBins)
	}
	(*b)[page][bin%pageBins]++
}

// of returns the rank-th duration's bin, from 1.
func (b bins) of(rank int64) int32 {
	for page, counts := range b {
		for i, n := range counts {
			if rank -= n; rank <= 0 {
				return int32(page*pageBins + i)
			}
		}
	}
	panic("audit: the rank exceeds the number of values")
}

func (v *values) add(d time.Duration) {
	d = max(d, 0) // as the histograms do
	v.count++
	v.sum += d
	v.longest = max(v.longest, d)
	switch {
	case v.bins != nil:
		v.bins.add(d)
		return
	case v.room.left > 0:
		v.room.left--
		v.each, v.sorted = append(v.each, d), false
		return
	}
	for _, d := range v.each {
		v.bins.add(d)
	}
	v.room.left += len(v.each)
	v.each = nil
	v.bins.add(d)
}

// reset empties v.
func (v *values) reset() {
	v.room.left += len(v.each)
	*v = values{room: v.room, each: v.each[:0]}
}

// quantile returns bounds of a quantile (nearest rank): the smallest duration that is at least num/den of all durations. The bounds are
// equal if values were sorted, and 0 without values.
func (v *values) quantile(num, den int64) (low, high time.Duration) {
	if v.count == 0 {
		return 0, 0
	}
	rank := max((v.count*num+den-1)/den, 1)
	if v.bins == nil {
		if !v.sorted {
			slices.Sort(v.each)
			v.sorted = true
		}
		return v.each[rank-1], v.each[rank-1]
	}
	low, high = binRange(v.bins.of(rank))
	return low, min(high, v.longest)
}

// binOf returns the number of a duration's bin: exact below 4096 ns, then 4096 per power of two.
func binOf(d time.Duration) int32 {
	n := uint64(d)
	shift := max(bits.Len64(n)-splitBits-1, 0)
	return int32(shift*split) + int32(n>>shift)
}

// binRange returns the bounds of a numbered bin.
func binRange(bin int32) (low, high time.Duration) {
	if bin < 2*split {
		return time.Duration(bin), time.Duration(bin)
	}
	shift := int(bin)/split - 1
	base := uint64(int(bin)-shift*split) << shift
	return time.Duration(base), time.Duration(base + 1<<shift - 1)
}

package audit

import (
	"math/bits"
	"slices"
	"time"
)

const (
	// mostValues is how many durations are kept one by one over all figures, to be sorted: 8 bytes each.
	mostValues = 1 << 20
	// split is into how many parts each power of two is divided once they are not: values are told apart to 1/4096.
	split     = 1 << splitBits
	splitBits = 12
	// pageBins is how many bins a page has. Only pages that hold a value are allocated.
	pageBins = 64
)

// room is how many more values may be kept one by one. All values of an audit share one.
type room struct{ left int }

// values are the durations of a figure. Up to a number they are kept as they are, and their quantiles are those of a
// sort; beyond, they are counted in bins of 1/4096 of their size, far finer than the histograms that they judge. So an
// audit takes at most 8 MB for those that it sorts and, for each figure, 8 bytes a bin near those in use, however long
// the run is, and a session of a long one takes no more of the processor's time than one of a short one.
type values struct {
	room    *room
	count   int64
	sum     time.Duration
	longest time.Duration
	each    []time.Duration
	sorted  bool
	bins    bins // nil while each holds them
}

// bins are how many durations each bin has, by page.
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

// of is the bin of the rank-th duration, from 1.
func (b bins) of(rank int64) int32 {
	for page, counts := range b {
		for i, n := range counts {
			if rank -= n; rank <= 0 {
				return int32(page*pageBins + i)
			}
		}
	}
	panic("audit: there are not so many values")
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

// quantile returns between which durations the smallest one lies that at least the share of num/den of them does not
// exceed (nearest rank): the same twice where they were sorted; 0 where there are none.
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

// binOf is the bin of a duration: exact below 4096 ns, then 4096 to each power of two.
func binOf(d time.Duration) int32 {
	n := uint64(d)
	shift := max(bits.Len64(n)-splitBits-1, 0)
	return int32(shift*split) + int32(n>>shift)
}

// binRange is what falls into a bin.
func binRange(bin int32) (low, high time.Duration) {
	if bin < 2*split {
		return time.Duration(bin), time.Duration(bin)
	}
	shift := int(bin)/split - 1
	base := uint64(int(bin)-shift*split) << shift
	return time.Duration(base), time.Duration(base + 1<<shift - 1)
}

package audit

import (
	"time"

	"github.com/throng-sim/throng/engine"
)

// bucket is the largest relative width of a bucket of the engine's histograms, as a denominator: they keep two decimal digits in 128
// parts of each power of two (engine/internal/stats), which makes their 1% accuracy.
const bucket = 128

const (
	day   = 24 * time.Hour // histograms count longer durations as one day
	grain = time.Microsecond
)

// histogram is the part of the engine's histogram that an audit uses.
type histogram interface {
	Count() int64
	Sum() time.Duration
	Quantile(q float64) time.Duration
	Max() time.Duration
}

// quantiles are the recorded quantiles.
var quantiles = [...]struct {
	name     string
	share    float64
	num, den int64
}{
	{"p50", 0.50, 50, 100}, {"p95", 0.95, 95, 100}, {"p99", 0.99, 99, 100},
}

// digest summarizes durations for comparison.
type digest struct {
	count        int64
	sum, longest time.Duration
	low, high    [len(quantiles)]time.Duration // bounds of each quantile
}

func (v *values) digest() digest {
	d := digest{count: v.count, sum: v.sum, longest: v.longest}
	for i, q := range quantiles {
		d.low[i], d.high[i] = v.quantile(q.num, q.den)
	}
	return d
}

// distribution compares a histogram with the durations that it should contain: their number and sum exactly, quantiles and the longest
// with those of a sort, within the width of a bucket.
func (r *Report) distribution(group, name, where string, h histogram, d *digest) {
	equal(r, group, name+" count", where, h.Count(), d.count)
	equal(r, group, name+" sum", where, h.Sum(), d.sum)
	for i, q := range quantiles {
		r.near(group, name+" "+q.name, where, h.Quantile(q.share), d.low[i], d.high[i])
	}
	r.near(group, name+" longest", where, h.Max(), d.longest, d.longest)
}

// described compares recorded quantiles, like distribution.
func (r *Report) described(group, name, where string, q *engine.Quantiles, d *digest) {
	mean := time.Duration(0)
	if d.count > 0 {
		mean = d.sum / time.Duration(d.count)
	}
	equal(r, group, name+" count", where, q.Count, d.count)
	equal(r, group, name+" mean", where, q.Mean, mean)
	for i, recorded := range []time.Duration{q.P50, q.P95, q.P99} {
		r.near(group, name+" "+quantiles[i].name, where, recorded, d.low[i], d.high[i])
	}
	r.near(group, name+" longest", where, q.Max, d.longest, d.longest)
}

// near compares a figure of a histogram with its bounds.
func (r *Report) near(group, name, where string, recorded, low, high time.Duration) {
	ok := within(recorded, low, high)
	r.Check(group, name, where, ok, recorded, high)
	r.figure(group, name).Bound = "1/128, the width of a bucket"
}

// within reports whether a recorded duration is in the bucket of a value between low and high, or off by the one microsecond that is the
// resolution of histograms.
func within(recorded, low, high time.Duration) bool {
	low, high = min(low, day), min(high, day)
	return recorded >= low-low/bucket-grain && recorded <= high+high/bucket+grain
}

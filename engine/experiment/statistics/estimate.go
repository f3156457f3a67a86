package statistics

import (
	"fmt"
	"math"
	"slices"
)

// Kind is the kind of a measure. It selects the methods of its intervals and tests.
type Kind int

// Kinds of measures. Each value is a figure of one run: a Share is the share within a run, a Percentile that of a run's sessions.
const (
	Number     Kind = iota // counts, sums, means
	Share                  // between 0 and 1
	Percentile             // a percentile of a run's sessions or requests
	Cost                   // money, tokens: not negative, skewed
	Timing                 // latencies and durations: not negative, skewed; they share no luck between points
)

// edge is the distance from 0 and 1 within which a share counts as near them.
const edge = 0.1

// Estimate is what the runs of one point say about one measure. Unknown figures are NaN.
type Estimate struct {
	N, Missing int // runs with a value, and without
	Mean       float64
	Median     float64
	SD         float64 // standard deviation between runs, with n - 1
	Min, Max   float64
	Interval   Interval // of the mean
}

// Summarize estimates the mean of a measure over runs, with an interval. The interval is Student's t for numbers and shares; the BCa
// bootstrap, drawn from the seed, for costs, percentiles, timings and for shares within 0.1 of 0 or 1, if at least MinBootstrap runs
// have a value. With fewer it is Student's t, and its note says so. It is cut at 0 and 1 for shares, and at 0 for costs and timings.
//
// Simulated over 2,000 experiments of 20 runs, the interval covers 93 to 97% for normal values, for shares of 2% among 100 agents, for
// exponential values and log-normal values with a deviation of 0.5. For log-normal values with a deviation of 1, whose mean hangs on
// few runs, it covers 90% (Student's t: 86%).
func Summarize(values []float64, kind Kind, seed uint64) Estimate {
	all := present(values)
	n := len(all)
	e := Estimate{N: n, Missing: len(values) - n, Median: math.NaN(), Min: math.NaN(), Max: math.NaN()}
	e.Mean, e.SD = moments(all)
	if n > 0 {
		sorted := slices.Sorted(slices.Values(all))
		e.Min, e.Median, e.Max = sorted[0], quantile(sorted, 0.5), sorted[n-1]
	}
	e.Interval = intervalOf(all, e.Mean, e.SD, kind, seed)
	return e
}

// intervalOf chooses the interval of a mean.
func intervalOf(all []float64, mean, sd float64, kind Kind, seed uint64) Interval {
	n := len(all)
	switch {
	case n < 2:
		return unknown(tooFew(n))
	case constant(all, scaleOf(all)):
		return unknown(allEqual(n))
	}
	skewed := kind == Cost || kind == Percentile || kind == Timing || kind == Share && (mean < edge || mean > 1-edge)
	note := ""
	if skewed {
		if n >= MinBootstrap {
			if i := Bootstrap(all, Mean, seed); i.Known() {
				return i
			}
		}
		note = fmt.Sprintf("the bootstrap needs %d runs; t covers less than %.0f%% if the values are skewed", MinBootstrap, 100*Level)
	}
	i := around(mean, sd/math.Sqrt(float64(n)), float64(n-1), alpha, StudentT)
	i.Note = note
	return within(i, all, kind)
}

// within cuts an interval at the bounds of its kind, where the values keep them.
func within(i Interval, all []float64, kind Kind) Interval {
	if (kind == Share || kind == Cost || kind == Timing) && slices.Min(all) >= 0 {
		i.Low = max(i.Low, 0)
	}
	if kind == Share && slices.Max(all) <= 1 {
		i.High = min(i.High, 1)
	}
	return i
}

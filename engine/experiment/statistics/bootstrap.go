package statistics

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Resamples is the number of resamples of a bootstrap.
const Resamples = 2000

// MinBootstrap is the number of values from which the rule of Summarize uses the bootstrap. With fewer, the resamples are too alike:
// in simulations the interval covers less than it claims.
const MinBootstrap = 20

// Mean is the mean of a sample, for Bootstrap.
func Mean(sorted []float64) float64 { return stat.Mean(sorted, nil) }

// Quantile returns the function that computes the q-quantile of a sorted sample, for Bootstrap.
func Quantile(q float64) func(sorted []float64) float64 {
	return func(sorted []float64) float64 { return quantile(sorted, q) }
}

// Bootstrap returns the bias-corrected and accelerated bootstrap interval (BCa) of a statistic of the values, such as Mean or
// Quantile(0.5). The statistic receives the values of a resample in ascending order and must not keep or change them. The same seed
// returns the same interval.
//
// The method is that of Efron (1987) "Better bootstrap confidence intervals" and DiCiccio and Efron (1996) "Bootstrap confidence
// intervals", with the acceleration from the jackknife. As the bootstrap of n values is too narrow by sqrt((n-1)/n) and ignores that the
// variance is estimated, the levels are taken from Student's t, scaled by sqrt(n/(n-1)) (the expanded interval of Hesterberg 2015,
// "What teachers should know about the bootstrap").
//
// The interval is unknown with fewer than 3 values, if all values are equal, and where the resamples leave no room for the correction;
// its note says so. It covers what it claims from about MinBootstrap values on.
func Bootstrap(values []float64, statistic func(sorted []float64) float64, seed uint64) Interval {
	sorted := slices.Clone(present(values))
	slices.Sort(sorted)
	n := len(sorted)
	switch {
	case n < 2:
		return unknown(tooFew(n))
	case constant(sorted, scaleOf(sorted)):
		return unknown(allEqual(n))
	case n < 3:
		return unknown("a bootstrap needs at least 3 values")
	}
	return BCa(statistic(sorted), resample(sorted, statistic, seed), jackknife(sorted, statistic))
}

// BCa returns the interval of Bootstrap from the statistic of the sample, those of its resamples and those of the sample without each of its
// values, for statistics of more than a slice of numbers. It sorts replicates.
func BCa(estimate float64, replicates, jackknife []float64) Interval {
	n := float64(len(jackknife))
	if n < 3 {
		return unknown("a bootstrap needs at least 3 values")
	}
	slices.Sort(replicates)
	return accelerated(estimate, replicates, jackknife, math.Sqrt(n/(n-1))*critical(alpha, n-1))
}

// resample returns the statistic of Resamples resamples. Each resample is built in order, by counting how often each value was drawn.
func resample(sorted []float64, statistic func([]float64) float64, seed uint64) []float64 {
	n := len(sorted)
	source := rand.NewPCG(seed, 0x9e3779b97f4a7c15)
	counts, drawn, all := make([]int32, n), make([]float64, 0, n), make([]float64, Resamples)
	for b := range all {
		for range n {
			i, _ := bits.Mul64(source.Uint64(), uint64(n))
			counts[i]++
		}
		drawn = drawn[:0]
		for i, c := range counts {
			for range c {
				drawn = append(drawn, sorted[i])
			}
			counts[i] = 0
		}
		all[b] = statistic(drawn)
	}
	return all
}

// jackknife returns the statistic without each value.
func jackknife(sorted []float64, statistic func([]float64) float64) []float64 {
	rest, all := slices.Clone(sorted[1:]), make([]float64, len(sorted))
	for i := range sorted {
		if i > 0 {
			rest[i-1] = sorted[i-1]
		}
		all[i] = statistic(rest)
	}
	return all
}

// accelerated returns the BCa interval from the statistic of the sample, the sorted statistics of the resamples and those of the
// jackknife. z is the normal quantile of the upper level.
func accelerated(estimate float64, replicates, jackknife []float64, z float64) Interval {
	below, _ := slices.BinarySearch(replicates, estimate)
	upTo := below
	for upTo < len(replicates) && replicates[upTo] == estimate {
		upTo++
	}
	bias := distuv.UnitNormal.Quantile(float64(below+upTo) / 2 / float64(len(replicates)))
	var squares, cubes float64
	center := stat.Mean(jackknife, nil)
	for _, x := range jackknife {
		d := center - x
		squares, cubes = squares+d*d, cubes+d*d*d
	}
	acceleration := 0.0
	if squares > 0 {
		acceleration = cubes / (6 * math.Pow(squares, 1.5))
	}
	level := func(z float64) float64 {
		w := bias + z
		if 1-acceleration*w <= 0 {
			return math.NaN()
		}
		return distuv.UnitNormal.CDF(bias + w/(1-acceleration*w))
	}
	if squares == 0 && replicates[0] == replicates[len(replicates)-1] {
		return unknown("the statistic is the same in all resamples")
	}
	low, high := level(-z), level(z)
	if math.IsInf(bias, 0) || math.IsNaN(low) || math.IsNaN(high) {
		return unknown(fmt.Sprintf("the bootstrap is too skewed to correct (bias %.2g, acceleration %.2g)", bias, acceleration))
	}
	return Interval{Low: quantile(replicates, low), High: quantile(replicates, high), Method: BootstrapBCa}
}

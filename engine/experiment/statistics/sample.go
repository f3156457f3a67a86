package statistics

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// rounding is the relative difference up to which two values count as equal.
const rounding = 1e-13

// present returns the finite values, in their order. The result may share values' memory.
func present(values []float64) []float64 {
	if !slices.ContainsFunc(values, missing) {
		return values
	}
	var all []float64
	for _, x := range values {
		if !missing(x) {
			all = append(all, x)
		}
	}
	return all
}

func missing(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }

// pairs returns the values of the replicates that are present in both samples. A longer sample's rest has no partner and is left out.
func pairs(baseline, point []float64) (x, y []float64) {
	n := min(len(baseline), len(point))
	x, y = make([]float64, 0, n), make([]float64, 0, n)
	for i := range n {
		if !missing(baseline[i]) && !missing(point[i]) {
			x, y = append(x, baseline[i]), append(y, point[i])
		}
	}
	return x, y
}

// differences returns y - x. A difference that rounding explains is zero.
func differences(x, y []float64) []float64 {
	all := make([]float64, len(x))
	for i := range x {
		if d := y[i] - x[i]; math.Abs(d) > rounding*math.Max(math.Abs(x[i]), math.Abs(y[i])) {
			all[i] = d
		}
	}
	return all
}

// constant reports whether all values are equal up to rounding at the given scale; nil is constant.
func constant(values []float64, scale float64) bool {
	if len(values) == 0 {
		return true
	}
	return slices.Max(values)-slices.Min(values) <= rounding*scale
}

// scaleOf returns the largest absolute value of some samples.
func scaleOf(samples ...[]float64) (scale float64) {
	for _, s := range samples {
		for _, x := range s {
			scale = math.Max(scale, math.Abs(x))
		}
	}
	return scale
}

// moments returns mean and standard deviation (of a sample: n - 1); the deviation of one value is NaN.
func moments(values []float64) (mean, sd float64) {
	switch len(values) {
	case 0:
		return math.NaN(), math.NaN()
	case 1:
		return values[0], math.NaN()
	}
	return stat.MeanStdDev(values, nil)
}

// quantile returns the q-quantile of sorted values, between two values by linear interpolation (type 7 of Hyndman and Fan 1996, the
// default of R and NumPy).
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := q * float64(len(sorted)-1)
	i := min(max(int(at), 0), len(sorted)-1)
	j := min(i+1, len(sorted)-1)
	return sorted[i] + (at-float64(i))*(sorted[j]-sorted[i])
}

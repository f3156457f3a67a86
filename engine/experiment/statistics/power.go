package statistics

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// maxReplicates bounds the search for a number of replicates.
const maxReplicates = 1 << 30

// Power returns the probability that a t-test finds a difference, with n runs at each point. effect is the difference divided by the
// standard deviation: of the differences of pairs if paired, else of one point's runs. It is computed from the noncentral t distribution and
// counts both tails. NaN with fewer than 2 runs.
func Power(n int, effect float64, paired bool) float64 {
	if n < 2 || math.IsNaN(effect) {
		return math.NaN()
	}
	freedom, shift := float64(n-1), math.Abs(effect)*math.Sqrt(float64(n))
	if !paired {
		freedom, shift = float64(2*n-2), math.Abs(effect)*math.Sqrt(float64(n)/2)
	}
	c := critical(alpha, freedom)
	if freedom > 10000 || shift > 30 {
		// The series of the noncentral t is slow here, and the normal distribution exact enough.
		return distuv.UnitNormal.CDF(shift-c) + distuv.UnitNormal.CDF(-shift-c)
	}
	t := distuv.NoncentralT{Nu: freedom, Mu: shift}
	return math.Min(1, math.Max(0, 1-t.CDF(c)+t.CDF(-c)))
}

// Replicates returns the smallest number of runs at each point for which a t-test finds a difference with the given power, such as 0.8. sd is
// the standard deviation of the differences if paired, else of one point's runs. Paired needs at least 6, because the exact test of fewer
// pairs finds nothing. 0 means that no number of runs is known to be enough: the difference is 0, or the deviation is unknown.
func Replicates(difference, sd, power float64, paired bool) int {
	effect := math.Abs(difference) / sd
	if !(effect > 0) || !(power > 0 && power < 1) {
		return 0
	}
	least := 2
	if paired {
		least = minSignFlip
	}
	return smallest(least, func(n int) bool { return Power(n, effect, paired) >= power })
}

// ReplicatesForWidth returns the smallest number of runs for which Student's interval has at most the given half width if the standard
// deviation is sd. 0 means that it is unknown.
func ReplicatesForWidth(halfWidth, sd float64) int {
	if !(halfWidth > 0) || !(sd >= 0) {
		return 0
	}
	return smallest(2, func(n int) bool { return critical(alpha, float64(n-1))*sd/math.Sqrt(float64(n)) <= halfWidth })
}

// smallest returns the smallest n from least on for which ok holds, if it holds for all larger ones; 0 if there is none up to maxReplicates.
func smallest(least int, ok func(n int) bool) int {
	high := least
	for !ok(high) {
		if high *= 2; high > maxReplicates {
			return 0
		}
	}
	low := max(least, high/2)
	for low < high {
		if middle := (low + high) / 2; ok(middle) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return high
}

// Suggestion is a number of replicates, from trial runs.
type Suggestion struct {
	SD       float64 // of the differences if paired, else pooled from both points
	Runs     int     // at each point, if SD is the true deviation; 0 if unknown
	Cautious int     // for the upper 80% confidence bound of the deviation, which few trial runs know poorly (Browne 1995)
	Note     string  // why the numbers are unknown
}

// Suggest returns how many replicates each point needs to find a difference with the given power, from trial runs of the baseline and a
// point. In paired trials equal indexes had the same seed.
func Suggest(baseline, point []float64, difference, power float64, paired bool) Suggestion {
	sd, freedom := math.NaN(), 0.0
	if paired {
		d := differences(pairs(baseline, point))
		_, sd = moments(d)
		freedom = float64(len(d) - 1)
	} else {
		x, y := present(baseline), present(point)
		if freedom = float64(len(x) + len(y) - 2); len(x) > 1 && len(y) > 1 {
			_, sx := moments(x)
			_, sy := moments(y)
			sd = math.Sqrt((sx*sx*float64(len(x)-1) + sy*sy*float64(len(y)-1)) / freedom)
		}
	}
	s := Suggestion{SD: sd}
	switch {
	case math.IsNaN(sd):
		s.Note = "too few trial runs have a value: a standard deviation needs at least two at each point"
	case !(sd > rounding*scaleOf(present(baseline), present(point))):
		s.Note = fmt.Sprintf("the trial runs do not vary: %s", allEqual(int(freedom)+1))
	default:
		upper := sd * math.Sqrt(freedom/distuv.ChiSquared{K: freedom}.Quantile(0.2))
		s.Runs, s.Cautious = Replicates(difference, sd, power, paired), Replicates(difference, upper, power, paired)
	}
	return s
}

package statistics

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Level is the confidence of all intervals; 1 - Level is the significance level of all tests.
const Level = 0.95

// alpha is the error that an interval or a test at Level may have.
const alpha = 1 - Level

// Method names the method of an interval or test in words, as screens and exports show it.
type Method string

// Methods of intervals and tests.
const (
	None         Method = "none"
	StudentT     Method = "t"
	BootstrapBCa Method = "bootstrap BCa"
	PairedT      Method = "paired t"
	SignFlip     Method = "exact sign-flip"
	WelchT       Method = "Welch's t"
	MannWhitney  Method = "Mann–Whitney"
	DunnettT     Method = "Dunnett"
	TwoStage     Method = "Stein's two-stage t"
	AnytimeT     Method = "anytime-valid t"
)

// Interval is a confidence interval. Low and High are NaN if it is unknown; Method is then None, and Note says why.
type Interval struct {
	Low, High float64
	Method    Method
	Note      string // why the interval is unknown, or what it assumes beyond its method; empty if there is nothing to say
}

// Known reports whether the interval has bounds.
func (i Interval) Known() bool { return !math.IsNaN(i.Low) && !math.IsNaN(i.High) }

// Contains reports whether x is in the interval. An unknown interval contains nothing.
func (i Interval) Contains(x float64) bool { return i.Low <= x && x <= i.High }

// HalfWidth returns half the distance of the bounds, in the unit of the values; NaN if the interval is unknown.
func (i Interval) HalfWidth() float64 { return (i.High - i.Low) / 2 }

// unknown returns an interval without bounds.
func unknown(note string) Interval {
	return Interval{Low: math.NaN(), High: math.NaN(), Method: None, Note: note}
}

// tooFew is the note of a figure that needs at least two values.
func tooFew(n int) string {
	switch n {
	case 0:
		return "no run has a value"
	case 1:
		return "one run has a value; an interval needs at least two"
	}
	return fmt.Sprintf("only %d runs have a value", n)
}

// allEqual is the note of n equal values. The bound on the share of other runs is exact for a binomial count of zero: the share whose
// chance of not appearing in n runs is 1 - Level (Clopper and Pearson 1934; 3/n is its rule of thumb).
func allEqual(n int) string {
	share := 1 - math.Pow(alpha, 1/float64(n))
	return fmt.Sprintf("equal in all %d runs; with %.0f%% confidence, at most %.0f%% of all runs differ", n, 100*Level, math.Ceil(100*share))
}

// student is Student's t distribution.
func student(freedom float64) distuv.StudentsT { return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom} }

// critical returns the two-sided critical value of Student's t at an error, or of the normal distribution if freedom is infinite. It uses
// the lower tail, which keeps its digits for small errors.
func critical(err, freedom float64) float64 {
	if math.IsInf(freedom, 1) {
		return -distuv.UnitNormal.Quantile(err / 2)
	}
	return -student(freedom).Quantile(err / 2)
}

// twoSided returns the two-sided p-value of a t statistic.
func twoSided(t, freedom float64) float64 {
	if math.IsInf(freedom, 1) {
		return math.Erfc(math.Abs(t) / math.Sqrt2)
	}
	return math.Min(1, 2*student(freedom).Survival(math.Abs(t)))
}

// around returns the interval of an estimate with a standard error.
func around(estimate, deviation, freedom, err float64, method Method) Interval {
	half := critical(err, freedom) * deviation
	return Interval{Low: estimate - half, High: estimate + half, Method: method}
}

package statistics

import (
	"errors"
	"fmt"
	"math"
)

// Until is a rule that ends an experiment when an interval is narrow enough, without inflating errors.
//
// It is the two-stage rule of Stein (1945), "A two-sample test for a linear hypothesis whose power is independent of the variance": the first
// runs alone determine the standard deviation, and from it the number of runs. The final interval uses that deviation and its degrees of
// freedom, so that it covers exactly what it claims for normal values, however many runs were added, and also if AtMost ends the
// experiment. A look in between changes nothing, because no later run can change the number. A relative width is taken from the mean of the
// first runs.
//
// Simulated over 2,000 experiments with 3, 5 and 10 first runs and relative widths of 5, 10 and 20%, it covers 94 to 96% for normal values and
// for shares. Adding runs until Student's t is narrow enough covers as little as 88% there. A confidence sequence (Anytime) is valid, too,
// and allows any look, but needs about twice the runs and then covers more than 99%; this is why it is not the default.
type Until struct {
	HalfWidth float64 // in the unit of the values, or as a share of the mean if Relative
	Relative  bool
	First     int // runs of the first stage, at least 2; from about 10 on, few runs are wasted
	AtMost    int // largest number of runs, at least First
}

// Validate reports every mistake in the rule.
func (u Until) Validate() error {
	var all []error
	if !(u.HalfWidth > 0) || math.IsInf(u.HalfWidth, 0) {
		all = append(all, fmt.Errorf("half width %v: expected a number above 0", u.HalfWidth))
	}
	if u.First < 2 {
		all = append(all, fmt.Errorf("%d runs at first: a standard deviation needs at least 2", u.First))
	}
	if u.AtMost < u.First {
		all = append(all, fmt.Errorf("at most %d runs: expected at least the first %d", u.AtMost, u.First))
	}
	return errors.Join(all...)
}

// Decision says how many runs an experiment needs.
type Decision struct {
	Runs     int      // with a value, in total: First while the first stage is incomplete
	Done     bool     // that many have a value
	Capped   bool     // AtMost is smaller than the number the width needs
	Target   float64  // half width in the unit of the values; NaN while the first stage is incomplete
	Mean     float64  // of the first Runs values that are present
	Interval Interval // of the mean; unknown until Done
	Reason   string   // in words
}

// Decide applies the rule to the values of a measure at one point, in the order of the runs. Where several points need the same number of
// replicates, run the largest Runs at all of them, and take each interval from Final. If all first values are equal the rule is done, and
// the interval is unknown.
func (u Until) Decide(values []float64) Decision {
	all := present(values)
	d := Decision{Runs: u.First, Target: math.NaN(), Mean: math.NaN(), Interval: unknown("the first stage is incomplete")}
	if len(all) < u.First || u.First < 2 {
		d.Mean, _ = moments(all)
		d.Reason = fmt.Sprintf("%d of the first %d runs have a value", len(all), u.First)
		return d
	}
	first := all[:u.First]
	mean, sd := moments(first)
	d.Target = u.HalfWidth
	if u.Relative {
		d.Target *= math.Abs(mean)
	}
	if constant(first, scaleOf(first)) {
		d.Done, d.Mean, d.Interval = true, mean, unknown(allEqual(u.First))
		d.Reason = d.Interval.Note
		return d
	}
	needed := math.Ceil(math.Pow(critical(alpha, float64(u.First-1))*sd/d.Target, 2))
	d.Capped = needed > float64(u.AtMost) || math.IsNaN(needed)
	d.Runs = u.AtMost
	if !d.Capped {
		d.Runs = max(u.First, int(needed))
	}
	d.Done = len(all) >= d.Runs
	d.Mean, _ = moments(all[:min(d.Runs, len(all))])
	switch {
	case !d.Done:
		d.Interval = unknown(fmt.Sprintf("%d of %d runs have a value", len(all), d.Runs))
		d.Reason = d.Interval.Note
	case d.Capped:
		d.Interval = u.Final(all[:d.Runs])
		d.Reason = fmt.Sprintf("the half width needs more than the largest number of %d runs", u.AtMost)
	default:
		d.Interval = u.Final(all[:d.Runs])
		d.Reason = fmt.Sprintf("%d runs are enough", d.Runs)
	}
	return d
}

// Final returns Stein's interval for any number of runs that was fixed after the first stage: that of Decide, or a larger one that another
// point needs.
func (u Until) Final(values []float64) Interval {
	all := present(values)
	if len(all) < u.First || u.First < 2 {
		return unknown("the first stage is incomplete")
	}
	if first := all[:u.First]; constant(first, scaleOf(first)) {
		return unknown(allEqual(u.First))
	}
	mean, _ := moments(all)
	_, sd := moments(all[:u.First])
	return around(mean, sd/math.Sqrt(float64(len(all))), float64(u.First-1), alpha, TwoStage)
}

// Anytime returns the interval of a confidence sequence for the mean: with the probability Level, all intervals, one after each run, contain
// it. It may be looked at after each run, and an experiment may end for any reason. Values are assumed to be normal.
//
// The sequence inverts the anytime-valid t-test with a normal mixture over effect sizes, with mean 0 and variance 1 (Lai 1976; Wang and
// Ramdas 2024, "Anytime-valid t-tests and confidence sequences for Gaussian means with unknown variance"). It holds from the first run; its
// interval is unbounded, and therefore unknown, below 5 runs, and about 1.6 times as wide as Student's t with 20.
func Anytime(values []float64) Interval {
	all := present(values)
	n := float64(len(all))
	if n < 2 {
		return unknown(tooFew(len(all)))
	}
	if constant(all, scaleOf(all)) {
		return unknown(allEqual(len(all)))
	}
	mean, sd := moments(all)
	bound := math.Pow(math.Sqrt(1+n)/alpha, 2/n)
	if bound >= 1+n {
		return unknown(fmt.Sprintf("with %d runs the anytime-valid interval has no bounds yet", len(all)))
	}
	half := sd * math.Sqrt((bound-1)/(1-bound/(1+n))*(n-1)/n)
	return Interval{Low: mean - half, High: mean + half, Method: AnytimeT}
}

// AnytimeP returns the p-value that belongs to Anytime, for the hypothesis that the mean is zero: with differences as values, that there is no
// difference. It is the smallest over all numbers of runs so far, so that it never rises; P(it is ever below p) is at most p.
func AnytimeP(values []float64) float64 {
	all := present(values)
	if len(all) < 2 {
		return math.NaN()
	}
	p, mean, squares := 1.0, 0.0, 0.0
	for i, x := range all {
		n := float64(i + 1)
		d := x - mean
		mean += d / n
		squares += d * (x - mean) // Welford (1962)
		if i == 0 {
			continue
		}
		u := n * mean * mean / squares // t squared, divided by n - 1
		ratio := 1 + n
		if !math.IsInf(u, 0) {
			ratio = (1 + u) / (1 + u/(1+n))
		}
		if math.IsNaN(u) {
			continue // all values are zero so far
		}
		p = math.Min(p, math.Sqrt(1+n)*math.Pow(ratio, -n/2))
	}
	return p
}

package statistics

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
)

// Difference is the difference of a point from the baseline in one measure. Unknown figures are NaN.
type Difference struct {
	Baseline, Point int // runs with a value; in a paired test, pairs in which both have one
	Missing         int // runs left out, of both: they have no value, or their partner has none
	Value           float64
	Interval        Interval // of this difference alone
	P               float64  // of this difference alone: probability of a difference this large if there is none
	Test            Method   // the method of P
	Joint           Interval // holds for all points together; set by AgainstBaseline, Dunnett and Table
	Adjusted        float64  // P, corrected for the number of points, and by Table for the number of measures; else equal to P
	Effect          Effect
	// Margin is the smallest X for which "no difference larger than X" holds at Level: two one-sided tests at 1 - Level reject a larger
	// one (TOST; Schuirmann 1987), so that it is the larger absolute bound of the interval at 1 - 2 (1 - Level).
	Margin  float64
	Pairing Pairing
	Same    bool   // no run differs from its partner, or all runs of both points are equal
	Note    string // why a figure is unknown, or what to consider; empty if there is nothing to say
}

// Clear reports whether the difference is significant after the corrections.
func (d *Difference) Clear() bool { return d.Adjusted < alpha }

// Effect is a standardized difference.
type Effect struct {
	Name  string // in words: "dz", "Hedges' g" or "probability of superiority"
	Value float64
}

// Pairing tells what the same seeds at both points contributed.
type Pairing struct {
	Used        bool
	Correlation float64 // between the points over replicates; NaN if unknown or not paired
	// Ratio is the variance of the difference with independent seeds, divided by that with the same seeds. Above 1, pairing helped.
	Ratio float64
	// Saved is the number of runs, of both points together, that independent seeds would need in addition for the same interval; it
	// ignores the few degrees of freedom. Negative if pairing did harm.
	Saved float64
}

// contrast is the estimate of one difference before corrections: what Dunnett's method and the equivalence margin need.
type contrast struct {
	Difference
	deviation float64 // standard error of Value; NaN if the interval does not follow Student's t
	freedom   float64
	interval  func(err float64) Interval // the interval at an error
}

// blank returns a difference without figures.
func blank(test Method, note string) contrast {
	nan := math.NaN()
	return contrast{
		Difference: Difference{
			Value: nan, Interval: unknown(note), P: nan, Test: test, Joint: unknown(note), Adjusted: nan, Effect: Effect{Value: nan}, Margin: nan,
			Pairing: Pairing{Correlation: nan, Ratio: nan, Saved: nan}, Note: note,
		},
		deviation: nan, freedom: nan,
	}
}

// finish sets what follows from the interval.
func (c *contrast) finish() {
	c.Interval, c.Adjusted = c.interval(alpha), c.P
	c.Joint = c.Interval
	if i := c.interval(2 * alpha); i.Known() {
		c.Margin = math.Max(math.Abs(i.Low), math.Abs(i.High))
	}
	if c.Note == "" {
		c.Note = c.Interval.Note
	}
}

// Differ compares a point with the baseline. Timings are compared by Ranks; they share no luck, even under the same seeds. Other
// measures are compared by Paired if both slices are indexed by replicate and equal indexes had the same seed, else by Welch.
//
// Paired stays the choice if the correlation is at most 0. Pairing does not help then, and the note says so, but the runs still share
// their seeds: Welch's test ignores the negative covariance. Choosing it by the sign of the correlation rejected a true null hypothesis
// in 6.4% of simulated experiments with 6 independent pairs and in 10.5% with a correlation of -0.5, the paired test in 5.0%.
func Differ(baseline, point []float64, kind Kind, paired bool) Difference {
	c := differ(baseline, point, kind, paired)
	return c.Difference
}

func differ(baseline, point []float64, kind Kind, paired bool) contrast {
	switch {
	case kind == Timing:
		return ranks(baseline, point)
	case paired:
		return paireds(baseline, point)
	}
	return welch(baseline, point)
}

// Welch compares two independent samples by Welch's t-test (Welch 1947), with Hedges' g, corrected for its bias, as effect size (Hedges
// 1981). Both samples need two values for an interval. If both are constant there is no interval, and P is that of the rank test.
func Welch(baseline, point []float64) Difference {
	c := welch(baseline, point)
	return c.Difference
}

func welch(baseline, point []float64) contrast {
	x, y := present(baseline), present(point)
	n, m := float64(len(x)), float64(len(y))
	mx, sx := moments(x)
	my, sy := moments(y)
	c := blank(WelchT, "")
	c.Baseline, c.Point, c.Missing = len(x), len(y), len(baseline)-len(x)+len(point)-len(y)
	c.Value = my - mx
	c.interval = func(float64) Interval { return unknown(c.Note) }
	scale := scaleOf(x, y)
	switch {
	case len(x) < 2 || len(y) < 2:
		c.Note = fmt.Sprintf("%d and %d runs have a value; Welch's test needs at least two of each", len(x), len(y))
	case constant(x, scale) && constant(y, scale):
		c.Test = MannWhitney
		doubled, ties := doubledRanks(x, y)
		c.unvaried(math.Abs(c.Value) <= rounding*scale, rankP(doubled, len(x), ties))
	default:
		a, b := sx*sx/n, sy*sy/m
		c.deviation, c.freedom = math.Sqrt(a+b), (a+b)*(a+b)/(a*a/(n-1)+b*b/(m-1))
		c.P = twoSided(c.Value/c.deviation, c.freedom)
		c.Effect = hedges(c.Value, sx, sy, n, m)
		c.interval = func(err float64) Interval { return around(c.Value, c.deviation, c.freedom, err, WelchT) }
	}
	c.finish()
	return c
}

// unvaried handles samples without variation: no interval, and an exact p-value.
func (c *contrast) unvaried(same bool, p float64) {
	n := min(c.Baseline, c.Point)
	c.P, c.Same = p, same
	if same {
		c.Value, c.P = 0, 1
	}
	if same || c.Value == 0 {
		c.Note = "no difference: " + allEqual(n)
		return
	}
	c.Note = "the difference is " + allEqual(n)
}

// hedges returns Hedges' g with the exact correction for bias.
func hedges(difference, sx, sy, n, m float64) Effect {
	freedom := n + m - 2
	pooled := math.Sqrt(((n-1)*sx*sx + (m-1)*sy*sy) / freedom)
	return Effect{Name: "Hedges' g", Value: hedgesBias(freedom) * difference / pooled}
}

// hedgesBias is the factor that removes the bias of a standardized difference.
func hedgesBias(freedom float64) float64 {
	a, _ := math.Lgamma(freedom / 2)
	b, _ := math.Lgamma((freedom - 1) / 2)
	return math.Exp(a-b) * math.Sqrt(2/freedom)
}

// pairing measures what the same seeds contributed.
func pairing(x, y []float64, sx, sy, sd float64) Pairing {
	p := Pairing{Used: true, Correlation: math.NaN(), Ratio: math.NaN(), Saved: math.NaN()}
	if len(x) < 3 {
		return p
	}
	scale := scaleOf(x, y)
	if !constant(x, scale) && !constant(y, scale) {
		p.Correlation = math.Max(-1, math.Min(1, stat.Correlation(x, y, nil)))
	}
	if sd > 0 {
		p.Ratio = (sx*sx + sy*sy) / (sd * sd)
		p.Saved = 2 * float64(len(x)) * (p.Ratio - 1)
	}
	return p
}

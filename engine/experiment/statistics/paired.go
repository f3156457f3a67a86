package statistics

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// MaxSignFlip is the largest number of pairs that Paired compares by the exact sign-flip test; above it uses the paired t-test.
const MaxSignFlip = 11

// minSignFlip is the number of pairs from which the sign-flip test can reject at 1 - Level: its smallest p-value is 2 / 2^n.
const minSignFlip = 6

// Paired compares replicates with the same index, which ran with the same seed.
//
// Up to MaxSignFlip pairs, P is that of the exact sign-flip test (Fisher 1935): the share of all 2^n ways to flip the signs of the
// differences whose sum is at least as large. From 6 pairs on the interval belongs to this test: its bounds are means of subsets of
// the differences (Hartigan 1969, "Using subsample values as typical values"); with 6 pairs it covers 1 - 2/64 and is never narrower
// than it claims. With fewer pairs P cannot be below 0.05; the interval is then Student's, and the note says so. From 12 pairs on both
// are those of the paired t-test.
//
// The effect size is dz, mean divided by standard deviation of the differences. If all differences are equal there is no interval, and P
// is that of the sign-flip test, 2 / 2^n.
func Paired(baseline, point []float64) Difference {
	c := paireds(baseline, point)
	return c.Difference
}

func paireds(baseline, point []float64) contrast {
	x, y := pairs(baseline, point)
	d, n := differences(x, y), len(x)
	c := blank(PairedT, "")
	c.Baseline, c.Point, c.Missing = n, n, len(baseline)+len(point)-2*n
	mean, sd := moments(d)
	_, sx := moments(x)
	_, sy := moments(y)
	c.Value = mean
	c.interval = func(float64) Interval { return unknown(c.Note) }
	switch {
	case n < 2:
		c.Note = fmt.Sprintf("%d pairs of runs have values; an interval needs at least two", n)
		if n == 1 {
			c.Note = "one pair of runs has values; an interval needs at least two"
		}
		c.Pairing.Used = true
	case constant(d, scaleOf(x, y)):
		c.Test = SignFlip
		c.unvaried(scaleOf(d) == 0, math.Ldexp(2, -n))
		c.Pairing = pairing(x, y, sx, sy, 0)
	default:
		c.deviation, c.freedom = sd/math.Sqrt(float64(n)), float64(n-1)
		c.Effect = Effect{Name: "dz", Value: mean / sd}
		c.Pairing = pairing(x, y, sx, sy, sd)
		c.test(d)
		if c.Note == "" && c.Pairing.Correlation <= 0 {
			c.Note = fmt.Sprintf("pairing does not help: the points' correlation is %.2f", c.Pairing.Correlation)
		}
	}
	c.finish()
	return c
}

// test sets the test and the interval of differences that vary.
func (c *contrast) test(d []float64) {
	c.interval = c.student
	if len(d) > MaxSignFlip {
		c.P = twoSided(c.Value/c.deviation, c.freedom)
		return
	}
	sums := subsetSums(d)
	c.Test, c.P = SignFlip, signFlip(sums)
	if len(d) < minSignFlip {
		c.Note = fmt.Sprintf("with fewer than %d pairs the exact test cannot reach p = %.2g; the interval assumes normal differences", minSignFlip, alpha)
		return
	}
	means := subsetMeans(sums)
	c.interval = func(err float64) Interval { return typical(means, err) }
}

// student is the interval of the paired t-test.
func (c *contrast) student(err float64) Interval {
	return around(c.Value, c.deviation, c.freedom, err, PairedT)
}

// subsetSums returns the sums of all subsets; the bits of an index say which values its subset has.
func subsetSums(d []float64) []float64 {
	sums := make([]float64, 1<<len(d))
	for set := 1; set < len(sums); set++ {
		sums[set] = sums[set&(set-1)] + d[bits.TrailingZeros(uint(set))]
	}
	return sums
}

// signFlip returns the p-value of the exact sign-flip test. Sums that rounding separates count as equal.
func signFlip(sums []float64) float64 {
	total := sums[len(sums)-1]
	bound := math.Abs(total) - 1e-12*scaleOf(sums)
	extreme := 0
	for _, flipped := range sums {
		if math.Abs(total-2*flipped) >= bound {
			extreme++
		}
	}
	return float64(extreme) / float64(len(sums))
}

// subsetMeans returns the sorted means of all subsets that are not empty.
func subsetMeans(sums []float64) []float64 {
	means := make([]float64, 0, len(sums)-1)
	for set := 1; set < len(sums); set++ {
		means = append(means, sums[set]/float64(bits.OnesCount(uint(set))))
	}
	slices.Sort(means)
	return means
}

// typical returns the interval between two subset means: each of the 2^n gaps has the same chance to hold the center.
func typical(means []float64, err float64) Interval {
	k := int(err / 2 * float64(len(means)+1))
	if k < 1 {
		return unknown("too few pairs for an exact interval at this level")
	}
	return Interval{Low: means[k-1], High: means[len(means)-k], Method: SignFlip}
}

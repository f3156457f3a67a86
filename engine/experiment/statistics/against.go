package statistics

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// AgainstBaseline compares each point with the baseline, as Differ does, and corrects for the number of points: Adjusted and Joint hold for
// all points together. Slices are indexed by replicate if paired.
//
// The correction is Dunnett's idea without his common standard deviation, which assumes that all points vary equally and is wrong for
// most experiments. Each difference keeps its own standard error and degrees of freedom (for independent samples this is the procedure of
// Hasler and Hothorn 2008, "Multiple contrast tests in the presence of heteroscedasticity"), the differences are correlated by one factor, and
// the estimated deviations count as independent, which is exact for none and cautious for all, where Dunnett's shared deviation finds too
// much. The correlation of independent samples comes from the baseline's share of each difference's variance. Replicates that ran
// with the same seeds (a randomized block design) have differences whose correlation is estimated: one common value, the mean over all pairs of
// points less one standard error. The classical variant for blocks, with one residual variance of the two-way layout, needs equal
// variances of all differences, and common random numbers break that: a point close to the baseline follows it closely.
//
// Timings are corrected by Holm's method; their joint interval is the rank interval at the error divided by the number of points.
func AgainstBaseline(baseline []float64, points [][]float64, kind Kind, paired bool) []Difference {
	all := make([]contrast, len(points))
	for i, p := range points {
		all[i] = differ(baseline, p, kind, paired)
	}
	if kind == Timing {
		return holmed(all)
	}
	family := joint{}
	load := 0.0
	if paired {
		load = commonLoad(baseline, points)
	}
	_, s0 := moments(present(baseline))
	for i := range all {
		c := &all[i]
		if math.IsNaN(c.deviation) {
			continue
		}
		of := load
		if !paired {
			of = s0 * s0 / float64(c.Baseline) / (c.deviation * c.deviation)
		}
		// Rounding down is cautious, and lets equal points share their integrals.
		family.add(math.Floor(of*20)/20, rounded(c.freedom))
	}
	return family.correct(all)
}

// rounded rounds degrees of freedom down, coarsely where it makes no difference.
func rounded(freedom float64) float64 {
	switch {
	case freedom < 1:
		return freedom
	case freedom < 40:
		return math.Floor(freedom)
	case freedom < 200:
		return math.Floor(freedom/10) * 10
	}
	return math.Floor(freedom/100) * 100
}

// holmed corrects comparisons by Holm's method.
func holmed(all []contrast) []Difference {
	p, known := make([]float64, len(all)), 0
	for i, c := range all {
		if p[i] = c.P; !math.IsNaN(c.P) {
			known++
		}
	}
	adjusted, results := Holm(p), make([]Difference, len(all))
	for i, c := range all {
		if c.Adjusted = adjusted[i]; known > 0 {
			c.Joint = c.interval(alpha / float64(known))
		}
		results[i] = c.Difference
	}
	return results
}

// commonLoad estimates the common correlation of the differences of all points from the baseline; at least 0. It uses the replicates that have
// a value at every point.
func commonLoad(baseline []float64, points [][]float64) float64 {
	var rows [][]float64
	for _, p := range points {
		rows = append(rows, make([]float64, 0, len(p)))
	}
	n := 0
	for r, b := range baseline {
		complete := !missing(b)
		for _, p := range points {
			complete = complete && r < len(p) && !missing(p[r])
		}
		if !complete {
			continue
		}
		n++
		for i, p := range points {
			rows[i] = append(rows[i], p[r]-b)
		}
	}
	if n < 4 {
		return 0
	}
	sum, count := correlations(rows)
	if count == 0 {
		return 0
	}
	mean := sum / float64(count)
	return math.Max(0, mean-(1-mean*mean)/math.Sqrt(float64(n-1)))
}

// correlations returns the sum of the correlations of all pairs of rows that vary, and their number.
func correlations(rows [][]float64) (sum float64, count int) {
	var total []float64
	vary := 0
	for _, row := range rows {
		mean, sd := stat.MeanStdDev(row, nil)
		if sd <= rounding*scaleOf(row) {
			continue
		}
		vary++
		if total == nil {
			total = make([]float64, len(row))
		}
		for i, x := range row {
			total[i] += (x - mean) / sd
		}
	}
	if vary < 2 {
		return 0, 0
	}
	// The variance of the sum of standardized rows is their number plus twice the sum of their correlations.
	return (stat.Variance(total, nil) - float64(vary)) / 2, vary * (vary - 1) / 2
}

package statistics

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSimulationHolm: 20 measures without a difference, none is found in 95% of experiments.
func TestSimulationHolm(t *testing.T) {
	got := share(81, 4000, func(r *rand.Rand) bool {
		var p []float64
		for range 20 {
			x, y := together(r, 12, 0.5, 0)
			d := Paired(x, y)
			p = append(p, d.P)
		}
		for _, x := range Holm(p) {
			if x < alpha {
				return true
			}
		}
		return false
	})
	between(t, "false positives of 20 measures", got, 0.03, 0.06)
}

// family draws a baseline and points of n replicates without a difference in the mean.
type family func(r *rand.Rand, n, points int) (baseline []float64, all [][]float64)

// independent points vary differently.
func independent(r *rand.Rand, n, points int) ([]float64, [][]float64) {
	var all [][]float64
	for p := range points {
		sd := math.Pow(2, float64(p%5-2))
		all = append(all, draw(n, func() float64 { return sd * r.NormFloat64() }))
	}
	return draw(n, r.NormFloat64), all
}

// common random numbers: each point follows the baseline, some closely and some hardly.
func common(r *rand.Rand, n, points int) ([]float64, [][]float64) {
	baseline := draw(n, r.NormFloat64)
	var all [][]float64
	for p := range points {
		sd := math.Pow(3, float64(p%5-2))
		var y []float64
		for _, x := range baseline {
			y = append(y, x+sd*r.NormFloat64())
		}
		all = append(all, y)
	}
	return baseline, all
}

// alike points are independent of each other and of the baseline, so that their differences share its luck.
func alike(r *rand.Rand, n, points int) ([]float64, [][]float64) {
	var all [][]float64
	for range points {
		all = append(all, draw(n, r.NormFloat64))
	}
	return draw(n, r.NormFloat64), all
}

// opposed points come in pairs whose differences from the baseline cancel.
func opposed(r *rand.Rand, n, points int) ([]float64, [][]float64) {
	baseline, all := common(r, n, points)
	for p := 1; p < points; p += 2 {
		for i := range all[p] {
			all[p][i] = 2*baseline[i] - all[p-1][i] + 0.1*r.NormFloat64()
		}
	}
	return baseline, all
}

// TestSimulationPoints holds the false positives over all points together, and the joint coverage of their intervals.
func TestSimulationPoints(t *testing.T) {
	for _, c := range []struct {
		name      string
		family    family
		n, points int
		paired    bool
	}{
		{"common random numbers, 3 seeds", common, 3, 4, true},
		{"common random numbers, 8 seeds", common, 8, 6, true},
		{"common random numbers, 20 seeds", common, 20, 6, true},
		{"alike, 12 seeds", alike, 12, 8, true},
		{"opposed, 6 seeds", opposed, 6, 4, true},
		{"independent, 5 runs", independent, 5, 3, false},
		{"independent, 12 runs", independent, 12, 3, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			missed := 0
			got := share(91, experiments, func(r *rand.Rand) bool {
				baseline, points := c.family(r, c.n, c.points)
				positive, miss := false, false
				for _, d := range AgainstBaseline(baseline, points, Number, c.paired) {
					positive, miss = positive || d.Clear(), miss || !d.Joint.Contains(0)
				}
				if miss {
					missed++
				}
				return positive
			})
			between(t, "false positives over all points", got, 0, 0.06)
			between(t, "all intervals cover", 1-float64(missed)/experiments, 0.94, 0.99)
		})
	}
}

// TestSimulationPointsOfTimings holds it for timings, and for Dunnett's own procedure with equal variances.
func TestSimulationPointsOfTimings(t *testing.T) {
	missed, rejected, dunnett := 0, 0, 0
	got := share(95, experiments, func(r *rand.Rand) bool {
		baseline, points := alike(r, 8, 4)
		positive, miss := false, false
		for _, d := range AgainstBaseline(baseline, points, Timing, true) {
			positive, miss = positive || d.Clear(), miss || d.Joint.Known() && !d.Joint.Contains(0)
		}
		if miss {
			missed++
		}
		positiveDunnett, missDunnett := false, false
		for _, d := range Dunnett(baseline[:5], points[:3]) {
			positiveDunnett, missDunnett = positiveDunnett || d.Clear(), missDunnett || !d.Joint.Contains(0)
		}
		if positiveDunnett {
			rejected++
		}
		if missDunnett {
			dunnett++
		}
		return positive
	})
	between(t, "false positives of timings over all points", got, 0, 0.06)
	between(t, "all rank intervals cover", 1-float64(missed)/experiments, 0.94, 1)
	between(t, "false positives of Dunnett", float64(rejected)/experiments, 0.04, 0.06)
	between(t, "all of Dunnett's intervals cover", 1-float64(dunnett)/experiments, 0.94, 0.96)
}

// TestSimulationTable: measures and points together, where half of the measures do have a difference, at one point each.
func TestSimulationTable(t *testing.T) {
	got := share(97, experiments, func(r *rand.Rand) bool {
		var measures []Measure
		for m := range 4 {
			baseline, points := common(r, 12, 3)
			if m%2 == 0 {
				for i := range points[0] {
					points[0][i] += 10
				}
			}
			measures = append(measures, Measure{Kind: Number, Values: append([][]float64{baseline}, points...)})
		}
		for m, row := range Table(measures, 0, true, 1) {
			for p, d := range row.Against {
				if changed := m%2 == 0 && p == 1; d.Clear() && !changed {
					return true
				}
				if m%2 == 0 && p == 1 && !d.Clear() {
					t.Fatal("a difference of 10 standard deviations is not found")
				}
			}
		}
		return false
	})
	between(t, "false positives of the table", got, 0, 0.06)
}

// TestSimulationStopping: the interval after the two-stage rule covers, from 3 first runs on, and the test of the difference keeps its error
// although the number of runs depends on the values. Adding runs until Student's t is narrow enough would not.
func TestSimulationStopping(t *testing.T) {
	for _, first := range []int{3, 5, 10} {
		for _, width := range []float64{0.05, 0.1} {
			u := Until{HalfWidth: width, Relative: true, First: first, AtMost: 40}
			rejected, naive := 0, 0
			got := share(uint64(first), 4000, func(r *rand.Rand) bool {
				x, y := together(r, 40, 0.5, 0)
				for i := range x {
					x[i], y[i] = 8+x[i], 8+y[i]
				}
				n := max(u.Decide(x).Runs, u.Decide(y).Runs)
				if d := Differ(x[:n], y[:n], Number, true); d.P < alpha {
					rejected++
				}
				for n := first; n <= u.AtMost; n++ {
					if i := Summarize(x[:n], Number, 0).Interval; i.HalfWidth() <= width*8 || n == u.AtMost {
						if i.Contains(8) {
							naive++
						}
						break
					}
				}
				d := u.Decide(x)
				return d.Done && d.Interval.Contains(8)
			})
			between(t, "the interval after stopping covers", got, 0.93, 0.97)
			between(t, "false positives after stopping", float64(rejected)/4000, 0, 0.06)
			t.Logf("Student's t after a look at each run covers %.1f%%", float64(naive)/40)
			if first == 3 && float64(naive)/4000 > 0.93 {
				t.Error("looking at Student's interval after each run covers, too: the rule is not needed")
			}
		}
	}
}

// TestSimulationStoppingOfShares holds the rule for values that are not normal: shares, and sums with a long tail.
func TestSimulationStoppingOfShares(t *testing.T) {
	for _, c := range []struct {
		name string
		mean float64
		draw func(r *rand.Rand) float64
	}{
		{"shares of 30%", 0.3, func(r *rand.Rand) float64 { return binomial(r, 100, 0.3) }},
		{"sums of 25 exponential values", 25, func(r *rand.Rand) float64 {
			sum := 0.0
			for range 25 {
				sum += r.ExpFloat64()
			}
			return sum
		}},
	} {
		u := Until{HalfWidth: 0.1, Relative: true, First: 5, AtMost: 40}
		got := share(101, 4000, func(r *rand.Rand) bool {
			d := u.Decide(draw(40, func() float64 { return c.draw(r) }))
			return d.Interval.Contains(c.mean)
		})
		between(t, c.name+": the interval after stopping covers", got, 0.93, 0.97)
	}
}

// TestSimulationAnytime: all of 39 looks together miss the mean, or find a difference, in at most 5%.
func TestSimulationAnytime(t *testing.T) {
	found := 0
	got := share(111, 4000, func(r *rand.Rand) bool {
		x := draw(40, r.NormFloat64)
		if AnytimeP(x) < alpha {
			found++
		}
		for n := 2; n <= len(x); n++ {
			if i := Anytime(x[:n]); i.Known() && !i.Contains(0) {
				return false
			}
		}
		return true
	})
	between(t, "all anytime-valid intervals cover", got, 0.95, 1)
	between(t, "false positives of all looks", float64(found)/4000, 0, 0.05)
}

// Package nearest says which point of an experiment is nearest to real data, and whether that is more than chance. The unit is the run:
// each one has its distances from the real data, and a point has their mean over its seeds.
package nearest

import (
	"cmp"
	"math"
	"slices"

	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/experiment/statistics"
)

// Result ranks the points of an experiment by their distance from real data.
type Result struct {
	Table   *findings.Table
	Overall Ranking // by the mean distance of all columns
	Columns []Column
}

// Ranking compares the distances of the points. The slices are by point.
type Ranking struct {
	Estimates []statistics.Estimate
	// Nearest is the point with the smallest mean distance; -1 if no run could be compared. Of equal points it is the first one.
	Nearest int
	// Farther is how much farther a point is than the nearest one: runs with the same seed are compared, and P is corrected for all points
	// by [statistics.AgainstBaseline]. The points that are not clearly farther contain the nearest one with 95% confidence (Gupta 1965; Hsu
	// 1984), although the data chose the point to compare with. It is the zero value at the nearest point and without distances.
	Farther []statistics.Difference
}

// Column is a column of the real data.
type Column struct {
	findings.RealColumn
	Ranking
	Figures [][]statistics.Estimate // by figure of [Figures] and point
	Differs []int                   // runs of a point whose tests find a difference
	Problem []string                // of a point: why a run was not compared; "" if all were
}

// Figure is a figure of distances.
type Figure struct {
	Name, Title, Help string
	of                func(*findings.Distance) float64
}

// Figures are the figures of a column at a point.
var Figures = []Figure{
	{"mean_difference", "Difference of means", "Mean of the run minus that of the real data.", func(d *findings.Distance) float64 { return d.Mean }},
	{"ks", "KS D", "Kolmogorov–Smirnov statistic.", func(d *findings.Distance) float64 { return d.Smirnov }},
	{"wasserstein", "Wasserstein-1", "Wasserstein-1 distance, in the unit of the column.", func(d *findings.Distance) float64 { return d.Wasserstein }},
	{"jensen_shannon", "Jensen–Shannon", "Jensen–Shannon divergence in bits.", func(d *findings.Distance) float64 { return d.JensenShannon }},
	{"chi_square", "Chi-square", "Statistic of the chi-square test.", func(d *findings.Distance) float64 { return d.ChiSquare }},
	{"cramers_v", "Cramér's V", "Effect size of the chi-square test.", func(d *findings.Distance) float64 { return d.CramersV }},
}

// Rank ranks the points; nil if the experiment has no real data.
func Rank(t *findings.Table) *Result {
	if t.Real == nil {
		return nil
	}
	r := &Result{Table: t, Columns: make([]Column, len(t.Real.Columns))}
	r.Overall = rank(r.values(func(all []findings.Distance) float64 {
		sum := 0.0
		for i := range all {
			sum += all[i].Total
		}
		return sum / float64(len(all))
	}), 1)
	for i := range r.Columns {
		r.Columns[i] = r.column(i)
	}
	return r
}

// column compares a column.
func (r *Result) column(i int) Column {
	c := Column{
		RealColumn: r.Table.Real.Columns[i], Figures: make([][]statistics.Estimate, len(Figures)),
		Differs: make([]int, len(r.Table.Points)), Problem: make([]string, len(r.Table.Points)),
	}
	c.Ranking = rank(r.values(func(all []findings.Distance) float64 { return all[i].Total }), len(r.Columns))
	for k := range Figures {
		for _, values := range r.values(func(all []findings.Distance) float64 { return Figures[k].of(&all[i]) }) {
			c.Figures[k] = append(c.Figures[k], estimate(values, k > 0))
		}
	}
	for point := range r.Table.Runs {
		for _, run := range r.Table.Runs[point] {
			if run.Distances == nil {
				continue
			}
			if run.Distances[i].Differs {
				c.Differs[point]++
			}
			if c.Problem[point] == "" {
				c.Problem[point] = run.Distances[i].Problem
			}
		}
	}
	return c
}

// values returns a figure of each run, by point and replicate; NaN if it has none.
func (r *Result) values(of func([]findings.Distance) float64) [][]float64 {
	all := make([][]float64, len(r.Table.Points))
	for point := range all {
		for _, run := range r.Table.Runs[point] {
			v := math.NaN()
			if run.Distances != nil {
				v = of(run.Distances)
			}
			all[point] = append(all[point], v)
		}
	}
	return all
}

// estimate returns the mean of a figure over runs. A distance has no interval below 0.
func estimate(values []float64, positive bool) statistics.Estimate {
	e := statistics.Summarize(values, statistics.Number, 0)
	if positive && e.Interval.Known() {
		e.Interval.Low = max(e.Interval.Low, 0)
	}
	return e
}

// rank compares distances by point and replicate. p is corrected for a number of rankings by the method of Bonferroni.
func rank(values [][]float64, rankings int) Ranking {
	r := Ranking{Nearest: -1, Estimates: make([]statistics.Estimate, len(values)), Farther: make([]statistics.Difference, len(values))}
	for point := range values {
		e := estimate(values[point], true)
		if r.Estimates[point] = e; e.N > 0 && (r.Nearest < 0 || e.Mean < r.Estimates[r.Nearest].Mean) {
			r.Nearest = point
		}
	}
	if r.Nearest < 0 {
		return r
	}
	var points []int
	var others [][]float64
	for point := range values {
		if point != r.Nearest && r.Estimates[point].N > 0 {
			points, others = append(points, point), append(others, values[point])
		}
	}
	for i, d := range statistics.AgainstBaseline(values[r.Nearest], others, statistics.Number, true) {
		d.Adjusted = min(1, d.Adjusted*float64(rankings))
		r.Farther[points[i]] = d
	}
	return r
}

// Ranked reports whether a point has a distance.
func (r *Ranking) Ranked(point int) bool { return r.Estimates[point].N > 0 }

// Rivals returns the points that may be as near as the nearest one, by their distance.
func (r *Ranking) Rivals() (all []int) {
	for point := range r.Estimates {
		if r.Rank(point) == Rival {
			all = append(all, point)
		}
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(r.Estimates[a].Mean, r.Estimates[b].Mean) })
	return all
}

// others returns the number of points with a distance, without the nearest one.
func (r *Ranking) others() (n int) {
	for point := range r.Estimates {
		if point != r.Nearest && r.Ranked(point) {
			n++
		}
	}
	return n
}

// Clear reports whether the nearest point is nearer than every other one by more than chance.
func (r *Ranking) Clear() bool { return r.Nearest >= 0 && r.others() > 0 && len(r.Rivals()) == 0 }

// words say what a rank means.
var words = map[Place]string{Nearest: "nearest", Rival: "may be as near", Farther: "farther by more than chance"}

// Plot returns the distances of the points. The nearest one is clear if it is nearest by more than chance.
func (r *Ranking) Plot(t *findings.Table) findings.EffectPlot {
	p := findings.EffectPlot{Measure: "distance from " + t.Real.File}
	for point := range r.Estimates {
		e := &r.Estimates[point]
		p.Bars = append(p.Bars, findings.EffectBar{
			Point: point, Label: t.Points[point].Label, Runs: e.N, Value: e.Mean, Low: e.Interval.Low, High: e.Interval.High,
			Clear: point == r.Nearest && r.Clear(), Note: words[r.Rank(point)],
		})
	}
	return p
}

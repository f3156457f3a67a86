package findings

import (
	"cmp"
	"math"
	"slices"

	"github.com/throng-sim/throng/engine/experiment/statistics"
)

// Effects returns the plot of a measure, an index of c.Rows.
func (c *Comparison) Effects(measure int) EffectPlot {
	row := &c.Rows[measure]
	m, _ := c.Measure(row)
	p := EffectPlot{Measure: row.Name, Unit: m.Unit}
	if c.Baseline >= 0 {
		p.Baseline, p.Unit = c.Table.Points[c.Baseline].Label, m.difference()
	}
	for point := range row.Estimates {
		b := EffectBar{Point: point, Label: c.Table.Points[point].Label}
		if c.Baseline < 0 {
			e := &row.Estimates[point]
			b.Runs, b.Value, b.Low, b.High, b.Note = e.N, e.Mean, e.Interval.Low, e.Interval.High, e.Interval.Note
		} else if d := c.Difference(row, point); d != nil {
			b.Runs, b.Value, b.Low, b.High, b.Note, b.Clear = d.Point, d.Value, d.Interval.Low, d.Interval.High, d.Note, d.Clear()
		} else {
			continue // the baseline
		}
		p.Bars = append(p.Bars, b)
	}
	return p
}

// Curves returns the plot of a measure over a factor, with a line for each value of a second factor; by is -1 for one line. The other
// factors are averaged: over all their combinations in a grid, with the values of the baseline if one factor varies at a time, and over
// the points that have the value in other designs. Intervals are over replicates, so that they say what other seeds would change, and not
// other points. Values without runs have no dot.
func (t *Table) Curves(measure, factor, by int) CurvePlot {
	f, m := &t.Factors[factor], &t.Measures[measure]
	p := CurvePlot{Measure: m.Name, Unit: m.Unit, Factor: Brief(f.Name), Numbers: t.numbers(factor)}
	p.Log = p.Numbers && (f.Log || t.geometric(factor))
	lines := [][]int{t.points(factor, by)}
	if by >= 0 {
		p.By = Brief(t.Factors[by].Name)
		lines = t.byValue(lines[0], by)
	}
	for _, points := range lines {
		line := CurveLine{}
		if by >= 0 {
			line.Label = t.Points[points[0]].Values[by].Text
		}
		for i, same := range t.byValue(points, factor) {
			v := &t.Points[same[0]].Values[factor]
			d := CurveDot{X: v.Number, Text: v.Text}
			if !p.Numbers {
				if d.X = float64(v.Level); v.Level < 0 {
					d.X = float64(len(f.Levels) + i) // after the levels
				}
			}
			t.average(&d, same, measure)
			scale(m.scale(), &d.Mean, &d.Low, &d.High)
			if d.Runs > 0 {
				line.Dots = append(line.Dots, d)
			}
		}
		slices.SortStableFunc(line.Dots, func(a, b CurveDot) int { return cmp.Compare(a.X, b.X) })
		p.Lines = append(p.Lines, line)
	}
	return p
}

// numbers reports whether all values of a factor are numbers.
func (t *Table) numbers(factor int) bool {
	for i := range t.Points {
		if v := t.Points[i].Values[factor].Number; math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// geometric reports whether each level is the same multiple of the one before.
func (t *Table) geometric(factor int) bool {
	at := map[int]float64{}
	for i := range t.Points {
		if v := &t.Points[i].Values[factor]; v.Level >= 0 {
			at[v.Level] = v.Number
		}
	}
	n := len(t.Factors[factor].Levels)
	if n < 3 || len(at) < n {
		return false
	}
	ratio := at[1] / at[0]
	for i := range n - 1 {
		if !(at[i] > 0) || !(ratio > 1) || math.Abs(at[i+1]/at[i]/ratio-1) > 0.05 {
			return false
		}
	}
	return true
}

// points returns the points that a curve over a factor compares.
func (t *Table) points(factor, by int) (all []int) {
	for i := range t.Points {
		fits := true
		for k, v := range t.Points[i].Values {
			switch {
			case k == factor || k == by:
			case t.Design == oneAtATime && t.Baseline >= 0:
				fits = fits && v.Text == t.Points[t.Baseline].Values[k].Text
			case t.Design == grid: // an added baseline would be averaged over fewer combinations than the others
				fits = fits && !t.added(i)
			}
		}
		if fits {
			all = append(all, i)
		}
	}
	return all
}

// added reports whether a point is not a combination of levels.
func (t *Table) added(point int) bool {
	return slices.ContainsFunc(t.Points[point].Values, func(v Value) bool { return v.Level < 0 })
}

// byValue groups points by the value of a factor: levels in their order, numbers ascending.
func (t *Table) byValue(points []int, factor int) (groups [][]int) {
	at := map[string]int{}
	for _, p := range points {
		text := t.Points[p].Values[factor].Text
		i, ok := at[text]
		if !ok {
			i = len(groups)
			at[text], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], p)
	}
	slices.SortStableFunc(groups, func(a, b []int) int {
		x, y := &t.Points[a[0]].Values[factor], &t.Points[b[0]].Values[factor]
		if x.Level >= 0 && y.Level >= 0 {
			return cmp.Compare(x.Level, y.Level)
		}
		return cmp.Compare(x.Number, y.Number)
	})
	return groups
}

// average sets the mean of a dot over points. Of several points, each replicate has one mean, so that replicates may share seeds; one
// without a value at some point is left out. If that leaves none, the mean is that of the points' means, without an interval.
func (t *Table) average(d *CurveDot, points []int, measure int) {
	kind := t.Measures[measure].Kind
	var e statistics.Estimate
	if len(points) == 1 {
		e = statistics.Summarize(t.Column(points[0], measure), kind, t.Seed+uint64(points[0]))
		t.settle(&e, points[0], measure)
		d.Mean, d.Low, d.High, d.Runs = e.Mean, e.Interval.Low, e.Interval.High, e.N
		return
	}
	columns, runs := make([][]float64, len(points)), 0
	var means []float64
	for i, p := range points {
		columns[i] = t.Column(p, measure)
		e := statistics.Summarize(columns[i], statistics.Number, 0)
		means, runs = append(means, e.Mean), runs+e.N
	}
	blocks := make([]float64, len(columns[0]))
	for k := range blocks {
		for i := range columns {
			blocks[k] += columns[i][k] / float64(len(points)) // NaN if one is missing
		}
	}
	e = statistics.Summarize(blocks, kind, t.Seed)
	d.Mean, d.Low, d.High, d.Runs = e.Mean, e.Interval.Low, e.Interval.High, e.N*len(points)
	if e.N == 0 {
		d.Mean, d.Runs = statistics.Summarize(means, statistics.Number, 0).Mean, runs
	}
}

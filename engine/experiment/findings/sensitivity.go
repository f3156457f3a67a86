package findings

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/throng-sim/throng/engine/experiment/sensitivity"
	"github.com/throng-sim/throng/engine/experiment/statistics"
)

// The designs, as in the file of an experiment, whose points mean more than their values.
const (
	grid       = "grid"
	oneAtATime = "one-at-a-time"
	morris     = "morris"
	sobol      = "sobol"
)

// Analyze analyzes a measure as the design of the experiment allows: Morris screening, Sobol indices, the effects of one factor at a
// time, or the main effects and interactions of a grid. It returns nil for other designs, with one factor, and while runs are missing.
func Analyze(t *Table, measure int) (*Sensitivity, error) {
	if len(t.Factors) < 2 {
		return nil, nil //nolint:nilnil // there is nothing to distinguish
	}
	a := analysis{t, make([][]float64, len(t.Points)), &Sensitivity{Measure: t.Measures[measure].Name}}
	for point := range t.Points {
		a.values[point] = t.Column(point, measure)
	}
	var err error
	switch t.Design {
	case morris:
		err = a.morris()
	case sobol:
		err = a.sobol()
	case oneAtATime:
		err = a.oneAtATime(t.Measures[measure].Kind)
	case grid:
		err = a.grid()
	}
	if err != nil {
		return nil, fmt.Errorf("sensitivity of %s: %w", a.out.Measure, err)
	}
	if len(a.out.Factors) == 0 {
		return nil, nil //nolint:nilnil // runs are missing, or the design has no such analysis
	}
	a.out.measureIn(&t.Measures[measure])
	return a.out, nil
}

// analysis is the sensitivity analysis of one measure.
type analysis struct {
	t      *Table
	values [][]float64 // by point and replicate
	out    *Sensitivity
}

// means returns the mean of each point over its replicates; NaN if it has none.
func (a *analysis) means() []float64 {
	all := make([]float64, len(a.values))
	for i, column := range a.values {
		all[i] = statistics.Summarize(column, statistics.Number, 0).Mean
	}
	return all
}

// places returns the points of the design as fractions of each factor's space. They are those of the values that the runs had, after
// rounding to levels and whole numbers.
func (a *analysis) places() [][]float64 {
	all := make([][]float64, len(a.values))
	for i := range all {
		for _, v := range a.t.Points[i].Values {
			all[i] = append(all[i], v.Unit)
		}
	}
	return all
}

func (a *analysis) add(name string, figures ...Figure) {
	a.out.Factors = append(a.out.Factors, Influence{name, figures})
}

// alone returns a figure without an interval.
func alone(v float64) Figure {
	return Figure{v, statistics.Interval{Low: math.NaN(), High: math.NaN(), Method: statistics.None}}
}

// sort sorts the factors by one of their figures, the largest first.
func (a *analysis) sort(figure int) {
	slices.SortStableFunc(a.out.Factors, func(x, y Influence) int {
		return -cmp.Compare(x.Figures[figure].Value, y.Figures[figure].Value)
	})
}

func (a *analysis) morris() error {
	a.out.Method, a.out.Figures = Screening, []string{"µ* (mean size of the effect)", "µ (mean effect)", "σ (its deviation)"}
	all, err := sensitivity.Morris(a.places(), a.means(), a.t.Seed)
	for i := range all {
		s := &all[i]
		if s.N > 0 {
			a.add(a.t.Factors[s.Factor].Name, Figure{s.MeanAbs, s.OfAbs}, Figure{s.Mean, s.OfMean}, Figure{s.SD, s.OfSD})
			a.out.Note = s.OfAbs.Note
		}
	}
	a.sort(0)
	return err
}

func (a *analysis) sobol() error {
	a.out.Method, a.out.Figures = Indices, []string{"first order (share of the variance)", "total (with its interactions)"}
	d, err := sensitivity.Sobol(a.means(), len(a.t.Factors), a.t.Seed)
	if err != nil || d.Blocks == 0 {
		return err
	}
	for i := range d.Factors {
		f := &d.Factors[i]
		a.add(a.t.Factors[f.Factor].Name, Figure{f.First, f.OfFirst}, Figure{f.Total, f.OfTotal})
		a.out.Note = f.OfFirst.Note
	}
	a.sort(1)
	return nil
}

func (a *analysis) oneAtATime(kind statistics.Kind) error {
	a.out.Method, a.out.Figures = Tornado, []string{"lowest difference", "highest difference"}
	if a.t.Baseline < 0 {
		return nil
	}
	all, err := sensitivity.OneAtATime(a.places(), a.values, a.t.Baseline, kind, true)
	for i := range all { // the largest span first
		if s := &all[i]; !math.IsNaN(s.Low) {
			a.add(a.t.Factors[s.Factor].Name, alone(s.Low), alone(s.High))
		}
	}
	return err
}

func (a *analysis) grid() error {
	a.out.Method, a.out.Figures = Shares, []string{"share of the variance between points"}
	combinations := 1
	for i := range a.t.Factors {
		combinations *= max(len(a.t.Factors[i].Levels), 1)
	}
	if combinations > len(a.t.Points) { // two combinations are the same point
		return nil
	}
	levels := make([][]int, combinations)
	for i := range levels {
		for _, v := range a.t.Points[i].Values {
			levels[i] = append(levels[i], v.Level)
		}
	}
	f, err := sensitivity.Grid(levels, a.values[:combinations]) // without an added baseline
	if err != nil {
		return err
	}
	a.out.Note = f.Note
	for i := range f.Main {
		if m := &f.Main[i]; !math.IsNaN(m.Share) {
			a.add(a.t.Factors[m.Factor].Name, alone(m.Share))
		}
	}
	for i := range f.Interactions {
		if n := &f.Interactions[i]; !math.IsNaN(n.Share) {
			a.add(a.t.Factors[n.A].Name+" with "+a.t.Factors[n.B].Name, alone(n.Share))
		}
	}
	a.sort(0)
	if !math.IsNaN(f.Rest) && len(a.t.Factors) > 2 && len(a.out.Factors) > 0 {
		a.add("three and more together", alone(f.Rest))
	}
	return nil
}

package experiments

import (
	"fmt"
	"math"

	"github.com/throng-sim/throng/engine/experiment"
	"github.com/throng-sim/throng/engine/experiment/sensitivity"
	"github.com/throng-sim/throng/engine/experiment/statistics"
)

// Sensitivity says how much each factor matters for a measure.
type Sensitivity struct {
	Measure string
	Method  string // in words
	Figures []string
	Factors []Influence
	Note    string // "" if there is nothing to say
}

// Influence is how much one factor matters, or two together.
type Influence struct {
	Name    string // of the factor, or of two
	Figures []Figure
}

// Figure is a value of [Sensitivity.Figures], with its interval if it has one.
type Figure struct {
	Value    float64
	Interval statistics.Interval
}

// Sensitivity analyzes a measure as the design of the experiment allows: Morris screening, Sobol indices, the effects of one factor at a
// time, or the main effects and interactions of a grid. It returns nil for other designs, with one factor, and while runs are missing.
func (x *Experiment) Sensitivity(t *Table, measure int) (*Sensitivity, error) {
	if len(x.Factors) < 2 {
		return nil, nil //nolint:nilnil // there is nothing to distinguish
	}
	values := make([][]float64, len(t.Values))
	for point := range t.Values {
		values[point] = t.Column(point, measure)
	}
	a := analysis{x, t, values, &Sensitivity{Measure: x.Measures[measure].Name}}
	var err error
	switch x.Design.Kind {
	case experiment.Morris:
		err = a.morris()
	case experiment.Sobol:
		err = a.sobol()
	case experiment.OneAtATime:
		err = a.oneAtATime(kindOf(&x.Measures[measure]))
	case experiment.Grid:
		err = a.grid()
	default:
		return nil, nil //nolint:nilnil // the design has no such analysis
	}
	if err != nil {
		return nil, fmt.Errorf("sensitivity of %s: %w", a.out.Measure, err)
	}
	if len(a.out.Factors) == 0 {
		return nil, nil //nolint:nilnil // runs are missing
	}
	return a.out, nil
}

// analysis is the sensitivity analysis of one measure.
type analysis struct {
	x      *Experiment
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

// places returns the points of the design as fractions of each factor's space, from 0 at its first level or the beginning of its range.
// They are those of the values that the runs had, after rounding to levels and whole numbers.
func (a *analysis) places() [][]float64 {
	all := make([][]float64, len(a.values))
	for i := range all {
		for k, c := range a.t.Status.Plan.Points[i].Place {
			f := &a.x.Factors[k]
			if f.Range != nil {
				all[i] = append(all[i], f.Range.Unit(c.Value))
			} else {
				all[i] = append(all[i], float64(c.Level)/float64(max(len(f.Levels)-1, 1)))
			}
		}
	}
	return all
}

func (a *analysis) add(name string, figures ...Figure) {
	a.out.Factors = append(a.out.Factors, Influence{name, figures})
}

func (a *analysis) morris() error {
	a.out.Method, a.out.Figures = "Morris", []string{"µ* (mean size of the effect)", "µ (mean effect)", "σ (its deviation)"}
	all, err := sensitivity.Morris(a.places(), a.means(), a.x.Seed)
	for i := range all {
		s := &all[i]
		if s.N > 0 {
			a.add(a.x.Factors[s.Factor].Name, Figure{s.MeanAbs, s.OfAbs}, Figure{s.Mean, s.OfMean}, Figure{s.SD, s.OfSD})
			a.out.Note = s.OfAbs.Note
		}
	}
	return err
}

func (a *analysis) sobol() error {
	a.out.Method, a.out.Figures = "Sobol", []string{"first order (share of the variance)", "total (with its interactions)"}
	d, err := sensitivity.Sobol(a.means(), len(a.x.Factors), a.x.Seed)
	if err != nil || d.Blocks == 0 {
		return err
	}
	for i := range d.Factors {
		f := &d.Factors[i]
		a.add(a.x.Factors[f.Factor].Name, Figure{f.First, f.OfFirst}, Figure{f.Total, f.OfTotal})
		a.out.Note = f.OfFirst.Note
	}
	return nil
}

func (a *analysis) oneAtATime(kind statistics.Kind) error {
	a.out.Method, a.out.Figures = "one factor at a time", []string{"lowest difference", "highest difference"}
	baseline := a.t.Status.Plan.Baseline
	if baseline < 0 {
		return nil
	}
	all, err := sensitivity.OneAtATime(a.places(), a.values, baseline, kind, true)
	for i := range all {
		if s := &all[i]; !math.IsNaN(s.Low) {
			a.add(a.x.Factors[s.Factor].Name, Figure{Value: s.Low}, Figure{Value: s.High})
		}
	}
	return err
}

func (a *analysis) grid() error {
	a.out.Method, a.out.Figures = "main effects and interactions", []string{"share of the variance between points"}
	combinations := 1
	for i := range a.x.Factors {
		combinations *= max(len(a.x.Factors[i].Levels), 1)
	}
	points := a.t.Status.Plan.Points
	if combinations > len(points) { // two combinations are the same point
		return nil
	}
	levels := make([][]int, combinations)
	for i := range levels {
		for _, c := range points[i].Place {
			levels[i] = append(levels[i], c.Level)
		}
	}
	f, err := sensitivity.Grid(levels, a.values[:combinations]) // without an added baseline
	if err != nil {
		return err
	}
	a.out.Note = f.Note
	for i := range f.Main {
		if m := &f.Main[i]; !math.IsNaN(m.Share) {
			a.add(a.x.Factors[m.Factor].Name, Figure{Value: m.Share})
		}
	}
	for i := range f.Interactions {
		if n := &f.Interactions[i]; !math.IsNaN(n.Share) {
			a.add(a.x.Factors[n.A].Name+" with "+a.x.Factors[n.B].Name, Figure{Value: n.Share})
		}
	}
	if !math.IsNaN(f.Rest) && len(a.x.Factors) > 2 && len(a.out.Factors) > 0 {
		a.add("three and more together", Figure{Value: f.Rest})
	}
	return nil
}

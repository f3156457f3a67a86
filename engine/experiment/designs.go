package experiment

import (
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment/design"
	"github.com/throng-sim/throng/engine/internal/doc"
)

// designPoints returns the points of the design, without the baseline. A coordinate of a point from a list has the level -1
// if it is not a level of its factor. The error is a *design.Error if the factors do not fit.
func (e *Experiment) designPoints() ([]design.Point, error) {
	factors := e.spaces()
	switch e.Design.Kind {
	case Zip:
		return design.Zip(factors)
	case OneAtATime:
		return design.OneAtATime(factors, e.coordinates(e.Baseline))
	case Points:
		points := make([]design.Point, len(e.Design.Points))
		for i, values := range e.Design.Points {
			points[i] = e.coordinates(values)
		}
		return points, nil
	case Random:
		return design.Random(factors, e.Design.N, e.Seed)
	case LHS:
		return design.LatinHypercube(factors, e.Design.N, e.Seed)
	case Halton:
		return design.Halton(factors, e.Design.N, e.Seed)
	case Morris:
		return design.Morris(factors, e.Design.N, e.Design.Levels, e.Seed)
	case Sobol:
		return design.Sobol(factors, e.Design.N, e.Seed)
	case Grid:
	}
	return design.Grid(factors)
}

// coordinates returns the point of some values.
func (e *Experiment) coordinates(values []Value) design.Point {
	p := make(design.Point, len(values))
	for i := range values {
		p[i] = e.Factors[i].coordinate(values[i])
	}
	return p
}

// values returns the values of a point. Coordinates that are not levels come from given, which may be nil.
func (e *Experiment) values(p design.Point, given []Value) ([]Value, error) {
	all := make([]Value, len(p))
	for i, c := range p {
		f := &e.Factors[i]
		switch {
		case given != nil:
			all[i] = given[i]
		case c.Level >= 0:
			all[i] = f.Levels[c.Level]
		case f.Range == nil: // the baseline of one-at-a-time, which need not be a level
			all[i] = e.Baseline[i]
		default:
			v, err := f.number(e.Of, c.Value)
			if err != nil {
				return nil, err
			}
			all[i] = v
		}
	}
	return all, nil
}

// cycles returns the number of cycles of runs with these values; 0 if they take hours.
func (e *Experiment) cycles(base engine.Settings, values []Value) int {
	s, err := e.Effective(base, values)
	if err != nil {
		return 0
	}
	if e.computedCycles() == "" {
		return s.Cycles
	}
	setup, err := e.Setup(values)
	if err != nil {
		return 0
	}
	of, err := setup.Scenario()
	if err != nil {
		return 0
	}
	return of.Cycles
}

// computedCycles returns the expression for the number of cycles in the scenario; "" if it is a number, or if the experiment
// sets the length of its runs.
func (e *Experiment) computedCycles() string {
	for _, name := range []string{cyclesSetting, "hours"} {
		if e.Factor("settings."+name) != nil || slices.ContainsFunc(e.Settings, func(a engine.Assignment) bool { return a.Name == name }) {
			return ""
		}
	}
	root := doc.Parse(e.Of.Source.Name, e.Of.Source.Files[e.Of.Source.Name], &doc.Report{})
	cycles := root.Get("clock").Get("cycles")
	if cycles.Kind() != doc.Scalar || !strings.Contains(cycles.Text(), "${") {
		return ""
	}
	return cycles.Text()
}

// shortest returns the smallest number of cycles of the baseline with the levels of a factor; 0 if a run takes hours.
func (e *Experiment) shortest() int {
	n := e.cycles(engine.DefaultSettings(), e.Baseline)
	for i := range e.Factors {
		f := &e.Factors[i]
		if decides := f.Kind == RunSetting && f.Path[0] == cyclesSetting || f.Kind == Parameter && usesParameter(e.computedCycles(), f.Path[0]); !decides {
			continue
		}
		levels := f.Levels
		if f.Range != nil {
			low, _ := f.number(e.Of, f.Range.From)
			high, _ := f.number(e.Of, f.Range.To)
			levels = []Value{low, high}
		}
		for _, v := range levels {
			values := slices.Clone(e.Baseline)
			values[i] = v
			n = min(n, e.cycles(engine.DefaultSettings(), values))
		}
	}
	return n
}

// same reports whether two lists of values are equal.
func same(a, b []Value) bool {
	return slices.EqualFunc(a, b, func(a, b Value) bool { return a.JSON == b.JSON })
}

package experiment

import (
	"slices"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment/design"
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
func (e *Experiment) cycles(values []Value) int {
	s, err := e.Effective(engine.DefaultSettings(), values)
	if err != nil {
		return 0
	}
	return s.Cycles
}

// same reports whether two lists of values are equal.
func same(a, b []Value) bool {
	return slices.EqualFunc(a, b, func(a, b Value) bool { return a.JSON == b.JSON })
}

// Package odds computes with the odds that steps run, and with the passes of loops.
package odds

import (
	"math"
	"slices"
)

// Loop is how many requests one pass of a loop makes, excluding loops inside it.
type Loop struct {
	Path        string // of the step, without iterations
	As          string // the loop's variable
	Each        string // the expression for its list
	Least, Most int64
	Nested      bool // it is inside another loop
}

// Odds are the odds of an event: never, always or between; Mean is NaN if unknown.
type Odds struct {
	Least, Most int64
	Mean        float64
}

// And returns the odds that two independent events both happen.
func (o Odds) And(p Odds) Odds {
	if o.Most*p.Most == 0 {
		return Impossible // independent of the other
	}
	return Odds{o.Least * p.Least, 1, o.Mean * p.Mean}
}

// Not returns the odds that the event does not happen.
func (o Odds) Not() Odds { return Odds{1 - o.Most, 1 - o.Least, 1 - o.Mean} }

// Of returns the odds of an event with a probability.
func Of(p float64) Odds { return Odds{int64(p), int64(math.Ceil(p)), p} }

// Nested marks loops as inside another.
func Nested(loops []Loop) []Loop {
	loops = slices.Clone(loops)
	for i := range loops {
		loops[i].Nested = true
	}
	return loops
}

// Scaled multiplies the passes of loops.
func Scaled(loops []Loop, least int64) []Loop {
	if least == 1 {
		return loops
	}
	loops = slices.Clone(loops)
	for i := range loops {
		loops[i].Least *= least
	}
	return loops
}

// Product multiplies, up to Endless.
func Product(a, b int64) int64 {
	if a > 0 && b > Endless/a {
		return Endless
	}
	return a * b
}

const (
	// Endless means an unlimited number of requests.
	Endless = 100_000_000_000
)

// Odds that are known without looking at the data.
var (
	Surely     = Odds{1, 1, 1}
	Impossible = Odds{0, 0, 0}
	Perhaps    = Odds{0, 1, math.NaN()}
)

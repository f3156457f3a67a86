// Package design turns factors into the points of an experiment. Every function is pure: the same factors and the same seed
// return the same points, in a documented order. The draws of a factor depend on the seed and on the factor's name, so a
// further factor leaves the columns of the others as they are in the designs Random and LatinHypercube.
package design

import (
	"fmt"
	"math"

	"github.com/throng-sim/throng/engine/internal/draw"
)

// MostPoints is the largest number of points of a design.
const MostPoints = 100_000

// Factor is something that an experiment varies: a list of levels, or a range of numbers.
type Factor struct {
	// Name identifies the factor. Its draws depend on it.
	Name string
	// Levels is the number of levels in the list; 0 for a range.
	Levels int
	// Range is the range of a factor without a list.
	Range Range
}

// Range is a range of numbers that includes both ends.
type Range struct {
	From, To float64 // From is less than To; both are above 0 if Log is set
	Log      bool    // spaces the values evenly by their logarithms
	Whole    bool    // whole numbers only; both ends are whole
}

// Coordinate is the value of one factor at a point.
type Coordinate struct {
	// Level is the index in the list of levels; -1 for a range.
	Level int
	// Value is the value in a range; 0 for a list.
	Value float64
	// Unit is the place in the factor's space, from 0 to 1, before it is rounded to a level or to a whole number. Morris
	// and Sobol analyses work on it.
	Unit float64
}

// Point is one combination of values: a coordinate for each factor, in the order of the factors.
type Point []Coordinate

// Error is a reason why factors do not fit a design.
type Error struct {
	Factor  string // the name of the factor; "" if it concerns all of them
	Problem string
	Hint    string
}

func (e *Error) Error() string {
	text := e.Problem
	if e.Factor != "" {
		text = e.Factor + ": " + text
	}
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}

// at returns the coordinate at a place from 0 to 1. The levels of a list and the whole numbers of a linear range each take
// an equal part of it.
func (f *Factor) at(unit float64) Coordinate {
	if f.Levels > 0 {
		return Coordinate{Level: min(int(unit*float64(f.Levels)), f.Levels-1), Unit: unit}
	}
	return Coordinate{Level: -1, Value: f.Range.at(unit), Unit: unit}
}

// Unit returns the place of a value in the range, from 0 to 1. Values outside are at its ends.
func (r *Range) Unit(v float64) float64 {
	from, to := r.From, r.To
	if r.Log {
		from, to, v = math.Log(from), math.Log(to), math.Log(v)
	}
	return min(max((v-from)/(to-from), 0), 1)
}

// at returns the value at a place from 0 to 1.
func (r *Range) at(unit float64) float64 {
	from, to := r.From, r.To
	var v float64
	switch {
	case unit <= 0:
		return from
	case unit >= 1:
		return to
	case r.Log && r.Whole: // an equal part of the logarithms for each number, from half a number below to half above
		v = math.Round(math.Exp(within(math.Log(from-0.5), math.Log(to+0.5), unit)))
	case r.Log:
		v = math.Exp(within(math.Log(from), math.Log(to), unit))
	case r.Whole:
		v = math.Floor(within(from, to+1, unit))
	default:
		v = within(from, to, unit)
	}
	return min(max(v, from), to)
}

// within interpolates. The conversion keeps the compiler from fusing the operations, so every architecture computes the same.
func within(from, to, unit float64) float64 { return from + float64((to-from)*unit) }

// level returns the coordinate of a level of a list. The levels are spread evenly from 0 to 1.
func (f *Factor) level(i int) Coordinate {
	unit := 0.0
	if f.Levels > 1 {
		unit = float64(i) / float64(f.Levels-1)
	}
	return Coordinate{Level: i, Unit: unit}
}

// source returns the draws of a factor for a design.
func (f *Factor) source(seed uint64, design string) *draw.Source {
	return draw.Key{}.Int(seed).Text(design).Text(f.Name).Source()
}

// check reports designs that are too large.
func check(points float64) error {
	if points > MostPoints {
		return &Error{Problem: fmt.Sprintf("the design has %.0f points, more than %d", points, MostPoints), Hint: "use fewer levels, or a sampled design such as `lhs: 40`"}
	}
	return nil
}

// listed checks that every factor has a list of levels.
func listed(factors []Factor, design string) error {
	for i := range factors {
		if factors[i].Levels == 0 {
			return &Error{factors[i].Name, "a range has no levels for the design " + design, "list the levels, or give `step` or `points`"}
		}
	}
	return nil
}

// distinct removes the points that equal an earlier one, in place, and keeps at most most.
func distinct(points []Point, most int) []Point {
	seen := make(map[string]bool, len(points))
	kept := points[:0]
	var key []byte
	for _, p := range points {
		key = key[:0]
		for _, c := range p {
			key = fmt.Appendf(key, "%d %x ", c.Level, math.Float64bits(c.Value))
		}
		if seen[string(key)] {
			continue
		}
		seen[string(key)] = true
		if kept = append(kept, p); len(kept) == most {
			break
		}
	}
	return kept
}

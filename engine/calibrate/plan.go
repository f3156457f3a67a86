// Package calibrate finds the best number of concurrent sessions: it lets the caller measure levels, fits a scalability curve and
// recommends a level. The decisions are pure; the caller of [Sweep] measures.
package calibrate

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/throng-sim/throng/engine"
)

const (
	// DefaultMax is the highest level of the default plan.
	DefaultMax     = 64
	defaultRepeats = 3
	mostRepeats    = 100
)

// Plan is the plan of a sweep. The zero value measures 1, 2, 4, 8, 16, 32 and 64 concurrent sessions, three times each.
type Plan struct {
	// Levels are numbers of concurrent sessions; empty doubles from 1 to Max.
	Levels []int
	// Max is the highest level allowed; 0 is 64 if Levels is empty, otherwise unlimited.
	Max int
	// Repeats is how often each level is measured; 0 is 3.
	Repeats int
	// Seed decides the order of the levels and the resampling of the intervals.
	Seed uint64
	// Foreign is the percentage of the CPU that other programs used before the sweep; 0 if unknown.
	Foreign float64
}

// Validate returns every error in p as a *engine.FieldError, joined.
func (p *Plan) Validate() error {
	var mistakes []error
	if p.Max < 0 || p.Max > engine.MaxLimit {
		mistakes = append(mistakes, &engine.FieldError{Field: "max", Problem: fmt.Sprintf("%d concurrent sessions", p.Max), Hint: fmt.Sprintf("1 to %d", engine.MaxLimit)})
	}
	if p.Repeats < 0 || p.Repeats > mostRepeats {
		mistakes = append(mistakes, &engine.FieldError{Field: "repeats", Problem: fmt.Sprintf("%d measurements of each level", p.Repeats), Hint: fmt.Sprintf("1 to %d", mostRepeats)})
	}
	most := p.Max
	if most <= 0 {
		most = engine.MaxLimit
	}
	for _, n := range p.Levels {
		if n < 1 || n > most {
			mistakes = append(mistakes, &engine.FieldError{Field: "levels", Problem: levelProblem(n, most), Hint: fmt.Sprintf("use limits from 1 to %d", most)})
		}
	}
	return errors.Join(mistakes...)
}

// levelProblem says why a level is not measured.
func levelProblem(n, most int) string {
	switch {
	case n < 1:
		return fmt.Sprintf("a limit of %d runs nothing", n)
	case most < engine.MaxLimit:
		return fmt.Sprintf("%d is above the maximum, %d", n, most)
	}
	return fmt.Sprintf("%d is too high", n)
}

// All returns the levels that p measures, in ascending order.
func (p *Plan) All() []int {
	if len(p.Levels) > 0 {
		all := slices.Clone(p.Levels)
		slices.Sort(all)
		return slices.Compact(all)
	}
	most := p.Max
	if most <= 0 {
		most = DefaultMax
	}
	var all []int
	for n := 1; n < most; n *= 2 {
		all = append(all, n)
	}
	return append(all, most)
}

// Times returns how often each level is measured.
func (p *Plan) Times() int {
	if p.Repeats == 0 {
		return defaultRepeats
	}
	return p.Repeats
}

// order returns the levels of a round in random order, so that drift during the sweep affects all of them alike.
func (p *Plan) order(round int) []int {
	all := p.All()
	rng := rand.New(rand.NewPCG(p.Seed, uint64(round)))
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

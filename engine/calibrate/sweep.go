package calibrate

import (
	"context"
	"time"
)

// Progress is how far a sweep is.
type Progress struct {
	Done, Total  int // measurements; those that are left out count as done
	Level, Round int // that is measured next, or was the last; rounds count from 1
	Measuring    bool
	Result       Result        // of what was measured so far
	Left         time.Duration // estimate; 0 is not known
}

// Sweep measures the levels of a plan round by round, each round in an order of its own, and says what they mean. measure
// has so many sessions go on at once, waits until that has settled and returns what a while of it gave. A level that goes
// beyond a bound ends the branch: higher ones are left out from then on, and one that failed too often is not asked again.
//
// report, which may be nil, is told before and after every measurement. When ctx ends or measure fails the result is of
// what was measured until then, beside the error.
func Sweep(ctx context.Context, p Plan, measure func(ctx context.Context, level int) (Sample, error), report func(Progress)) (Result, error) {
	if err := p.Validate(); err != nil {
		return Result{}, err
	}
	s := sweep{plan: p, report: report, began: time.Now()}
	s.total = p.Times() * len(p.All())
	for round := range p.Times() {
		for _, level := range p.order(round) {
			s.level, s.round = level, round+1
			if s.leaveOut(level) {
				s.done++
				continue
			}
			if err := s.take(ctx, measure); err != nil {
				return Evaluate(p, s.samples), err
			}
		}
	}
	return Evaluate(p, s.samples), nil
}

// sweep is one under way.
type sweep struct {
	plan         Plan
	samples      []Sample
	report       func(Progress)
	began        time.Time
	done, total  int
	level, round int
	result       Result // that was reported last
}

// take measures a level once.
func (s *sweep) take(ctx context.Context, measure func(context.Context, int) (Sample, error)) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	s.tell(true)
	sample, err := measure(ctx, s.level)
	if err != nil {
		return err
	}
	sample.Level, sample.Round = s.level, s.round
	s.samples = append(s.samples, sample)
	s.done++
	s.tell(false)
	return nil
}

// leaveOut reports whether what was measured so far forbids a level.
func (s *sweep) leaveOut(level int) bool {
	over := lowestOver(levelsOf(s.plan.All(), s.samples))
	return over != nil && (level > over.Level || level == over.Level && over.Over == Failures)
}

func (s *sweep) tell(measuring bool) {
	if s.report == nil {
		return
	}
	if !measuring || s.result.Levels == nil { // else nothing has come since
		s.result = Evaluate(s.plan, s.samples)
	}
	p := Progress{Done: s.done, Total: s.total, Level: s.level, Round: s.round, Measuring: measuring, Result: s.result}
	if n := len(s.samples); n > 0 {
		p.Left = time.Since(s.began) / time.Duration(n) * time.Duration(s.total-s.done)
	}
	s.report(p)
}

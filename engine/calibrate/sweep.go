package calibrate

import (
	"context"
	"time"
)

// Progress is the progress of a sweep.
type Progress struct {
	Done, Total  int // measurements; skipped ones count as done
	Level, Round int // measured next, or last; rounds count from 1
	Measuring    bool
	Result       Result        // of the measurements so far
	Left         time.Duration // estimate; 0 is unknown
}

// Sweep measures the levels of a plan round by round, each round in a random order, and evaluates the samples. measure runs the given
// number of concurrent sessions, waits until they settle, and returns the figures of a period after that. A level beyond a bound ends the
// branch: higher levels are skipped from then on, and a level with too many failures is not repeated.
//
// Sweep calls report, unless it is nil, before and after every measurement. If ctx ends or measure fails, it returns the result so far
// together with the error.
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

// sweep is a sweep in progress.
type sweep struct {
	plan         Plan
	samples      []Sample
	report       func(Progress)
	began        time.Time
	done, total  int
	level, round int
	result       Result // the last one reported
}

// take measures a level once.
func (s *sweep) take(ctx context.Context, measure func(context.Context, int) (Sample, error)) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	s.publish(true)
	sample, err := measure(ctx, s.level)
	if err != nil {
		return err
	}
	sample.Level, sample.Round = s.level, s.round
	s.samples = append(s.samples, sample)
	s.done++
	s.publish(false)
	return nil
}

// leaveOut reports whether a level must be skipped because of the measurements so far.
func (s *sweep) leaveOut(level int) bool {
	f := foreignIn(s.samples, s.plan.Foreign)
	kept, _ := f.calm(s.samples)
	over := lowestOver(levelsOf(s.plan.All(), kept))
	return over != nil && (level > over.Level || level == over.Level && over.Over == Failures)
}

func (s *sweep) publish(measuring bool) {
	if s.report == nil {
		return
	}
	if !measuring || s.result.Levels == nil { // otherwise there is no new sample
		s.result = Evaluate(s.plan, s.samples)
	}
	p := Progress{Done: s.done, Total: s.total, Level: s.level, Round: s.round, Measuring: measuring, Result: s.result}
	if n := len(s.samples); n > 0 {
		p.Left = time.Since(s.began) / time.Duration(n) * time.Duration(s.total-s.done)
	}
	s.report(p)
}

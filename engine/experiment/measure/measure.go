// Package measure computes the measures of an experiment for one run, from its totals, its sessions and the memory of its agents.
package measure

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/criteria"
	"github.com/throng-sim/throng/engine/experiment"
)

// Run is a run that has ended.
type Run struct {
	ID     engine.RunID
	Agents int // active
	Cycles int // closed
	Totals *engine.Totals
	// Sessions yields the last take of every session, and Memory returns the memory of the agents at the end. They are called
	// only if a measure needs them.
	Sessions func() iter.Seq2[*engine.SessionRow, error]
	Memory   func() (map[int]*engine.Memory, error)
}

// Values returns the value of each measure: fractions from 0 to 1, seconds, bytes, US dollars, counts, and numbers of events and of
// memory in their own unit. NaN stands for a value that the run does not have, such as the mean of no numbers.
func Values(ctx context.Context, e *experiment.Experiment, r *Run) ([]float64, error) {
	c := &computing{measures: e.Measures, run: r, numbers: make([][]float64, len(e.Measures)), events: map[string]int64{}}
	if err := errors.Join(c.sessions(ctx), c.memory()); err != nil {
		return nil, fmt.Errorf("measure run %s: %w", r.ID, err)
	}
	values := make([]float64, len(e.Measures))
	for i := range e.Measures {
		v, err := c.value(ctx, e, i)
		if err != nil {
			return nil, fmt.Errorf("measure %s of run %s: %w", e.Measures[i].Name, r.ID, err)
		}
		values[i] = v
	}
	return values, nil
}

// computing is the measuring of one run.
type computing struct {
	measures []experiment.Measure
	run      *Run
	events   map[string]int64 // by name
	numbers  [][]float64      // of events or memory, by measure
}

// needs returns the indexes of the measures of a kind.
func (c *computing) needs(kinds ...experiment.MeasureKind) (all []int) {
	for i := range c.measures {
		if slices.Contains(kinds, c.measures[i].Kind) {
			all = append(all, i)
		}
	}
	return all
}

// sessions counts the events, and reads the numbers in them.
func (c *computing) sessions(ctx context.Context) error {
	if len(c.needs(experiment.MeasureEvents, experiment.MeasureField, experiment.MeasureFunction)) == 0 {
		return nil
	}
	fields := c.needs(experiment.MeasureField)
	for s, err := range c.run.Sessions() {
		if err := errors.Join(err, context.Cause(ctx)); err != nil {
			return err
		}
		for i := range s.Events {
			e := &s.Events[i]
			c.events[e.Name]++
			for _, at := range fields {
				if m := &c.measures[at]; m.Subject == e.Name {
					c.add(at, e.Data, m.Field)
				}
			}
		}
	}
	return nil
}

// memory reads the numbers in the memory of the agents.
func (c *computing) memory() error {
	fields := c.needs(experiment.MeasureMemory)
	if len(fields) == 0 {
		return nil
	}
	all, err := c.run.Memory()
	if err != nil {
		return err
	}
	for _, m := range all {
		for _, at := range fields {
			name, inner := cutField(c.measures[at].Subject)
			if i := slices.IndexFunc(m.Fields, func(f engine.Field) bool { return f.Name == name }); i >= 0 {
				c.add(at, m.Fields[i].Value, inner)
			}
		}
	}
	for _, at := range fields {
		slices.Sort(c.numbers[at]) // a sum must not depend on the order of a map
	}
	return nil
}

// value returns the value of a measure.
func (c *computing) value(ctx context.Context, e *experiment.Experiment, i int) (float64, error) {
	m, t := &c.measures[i], c.run.Totals
	switch m.Kind {
	case experiment.MeasureActed:
		return over(t.Acted, t.Ended()), nil
	case experiment.MeasureOutcome:
		for o := range t.Outcomes {
			if engine.Outcome(o).String() == m.Subject {
				return over(t.Outcomes[o], t.Ended()), nil
			}
		}
		return math.NaN(), fmt.Errorf("there is no outcome %s", m.Subject)
	case experiment.MeasureEvents:
		return float64(c.events[m.Subject]), nil
	case experiment.MeasureTokens:
		u := t.AllRequests().Usage
		return float64(u.Input + u.Output), nil
	case experiment.MeasureMetric:
		j := criteria.Judge([]engine.Criterion{{Metric: m.Subject, Of: m.Of, Steps: m.Steps}}, t, c.run.Agents)[0]
		if j.Unknown {
			return math.NaN(), nil
		}
		return j.Value, nil
	case experiment.MeasureField, experiment.MeasureMemory:
		return statistic(m, c.numbers[i]), nil
	case experiment.MeasureFunction:
		return c.call(ctx, e, m)
	}
	return math.NaN(), fmt.Errorf("a measure of kind %d", m.Kind)
}

func over(n, of int64) float64 {
	if of == 0 {
		return math.NaN()
	}
	return float64(n) / float64(of)
}

// statistic summarizes numbers. Quantiles are interpolated linearly between the two nearest values (type 7 of Hyndman and Fan 1996).
func statistic(m *experiment.Measure, of []float64) float64 {
	if len(of) == 0 {
		if m.Statistic == "sum" {
			return 0
		}
		return math.NaN()
	}
	switch q, isQuantile := m.Quantile(); {
	case isQuantile:
		slices.Sort(of)
		at := q * float64(len(of)-1)
		low := int(at)
		high := min(low+1, len(of)-1)
		return of[low] + (at-float64(low))*(of[high]-of[low])
	case m.Statistic == "min":
		return slices.Min(of)
	case m.Statistic == "max":
		return slices.Max(of)
	default:
		sum := 0.0
		for _, v := range of {
			sum += v
		}
		if m.Statistic == "sum" {
			return sum
		}
		return sum / float64(len(of))
	}
}

package findings

import (
	"slices"

	"github.com/throng-sim/throng/engine/experiment/statistics"
)

// Comparison is the estimates of an experiment's measures at each point, and their differences from the baseline.
type Comparison struct {
	Table    *Table
	Rows     []statistics.Row // by measure
	Baseline int              // index of the point that the others are compared with; -1 if there is none
}

// Compare estimates the measures. The unit is the run; runs that are not done are missing. Runs with the same seed at different points
// are compared with each other.
func Compare(t *Table) *Comparison {
	all := make([]statistics.Measure, len(t.Measures))
	for i, m := range t.Measures {
		all[i] = statistics.Measure{Name: m.Name, Kind: m.Kind}
		for point := range t.Points {
			all[i].Values = append(all[i].Values, t.Column(point, i))
		}
	}
	c := &Comparison{Table: t, Baseline: t.Baseline, Rows: statistics.Table(all, t.Baseline, true, t.Seed)}
	for i := range c.Rows {
		for point := range c.Rows[i].Estimates {
			t.settle(&c.Rows[i].Estimates[point], point, i)
		}
	}
	return c
}

// settle replaces the interval of an estimate by that of the rule that added replicates: it takes into account that the number of runs
// was not fixed.
func (t *Table) settle(e *statistics.Estimate, point, measure int) {
	if t.Until != nil && measure == t.UntilOf {
		e.Interval = t.Until.Final(t.Column(point, measure))
	}
}

// Difference returns the difference of a point from the baseline; nil at the baseline and without one.
func (c *Comparison) Difference(row *statistics.Row, point int) *statistics.Difference {
	if c.Baseline < 0 || point == c.Baseline || point >= len(row.Against) {
		return nil
	}
	return &row.Against[point]
}

// Measure returns the measure of a row, and its index in the table. Rows may be fewer than measures.
func (c *Comparison) Measure(row *statistics.Row) (*Measure, int) {
	i := slices.IndexFunc(c.Table.Measures, func(m Measure) bool { return m.Name == row.Name })
	return &c.Table.Measures[i], i
}

package findings

import (
	"slices"

	"github.com/throng-sim/throng/engine/experiment/statistics"
)

// percent is the unit of shares for people. Files have shares from 0 to 1.
const percent = "%"

// PercentagePoints is the unit of differences of shares.
const PercentagePoints = "percentage points"

// InPercent returns the table for people: its figures show shares in percent. Its runs, and so what a file of them says, are the same.
func (t *Table) InPercent() *Table {
	shown := *t
	shown.Measures = slices.Clone(t.Measures)
	for i := range shown.Measures {
		if m := &shown.Measures[i]; m.Kind == statistics.Share {
			m.Unit = percent
		}
	}
	return &shown
}

// InPercent changes the comparison to that of [Table.InPercent].
func (c *Comparison) InPercent() {
	c.Table = c.Table.InPercent()
	for i := range c.Rows {
		m, _ := c.Measure(&c.Rows[i])
		scaleRow(&c.Rows[i], m.scale())
	}
}

// HalfWidth returns the width that the rule for more replicates asks for, such as 2 percentage points or 5% of the mean.
func (t *Table) HalfWidth() string {
	m := &t.Measures[t.UntilOf]
	if t.Until.Relative {
		return Text(100*t.Until.HalfWidth) + "% of the mean"
	}
	return InUnit(m.scale()*t.Until.HalfWidth, m.difference())
}

// scale is what values of runs are multiplied by for figures in the measure's unit.
func (m *Measure) scale() float64 {
	if m.Unit == percent {
		return 100
	}
	return 1
}

// difference returns the unit of differences of the measure.
func (m *Measure) difference() string {
	if m.Unit == percent {
		return PercentagePoints
	}
	return m.Unit
}

// scaleRow multiplies all figures that are in the measure's unit.
func scaleRow(r *statistics.Row, by float64) {
	for i := range r.Estimates {
		e := &r.Estimates[i]
		scale(by, &e.Mean, &e.Median, &e.SD, &e.Min, &e.Max, &e.Interval.Low, &e.Interval.High)
	}
	for i := range r.Against {
		d := &r.Against[i]
		scale(by, &d.Value, &d.Interval.Low, &d.Interval.High, &d.Joint.Low, &d.Joint.High, &d.Margin)
	}
}

// measureIn sets the unit of the figures of those methods whose figures are differences of the measure.
func (s *Sensitivity) measureIn(m *Measure) {
	if s.Method != Screening && s.Method != Tornado {
		return
	}
	s.Unit = m.difference()
	for i := range s.Factors {
		for k := range s.Factors[i].Figures {
			f := &s.Factors[i].Figures[k]
			scale(m.scale(), &f.Value, &f.Interval.Low, &f.Interval.High)
		}
	}
}

func scale(by float64, all ...*float64) {
	for _, v := range all {
		*v *= by
	}
}

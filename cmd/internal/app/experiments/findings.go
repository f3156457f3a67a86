package experiments

import (
	"math"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/criteria"
	"github.com/throng-sim/throng/engine/experiment"
	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/experiment/statistics"
)

// State is the state of a run of an experiment.
type State = findings.State

// The states of a run.
const (
	Waiting     = findings.Waiting
	Running     = findings.Running
	Interrupted = findings.Interrupted
	Done        = findings.Done
	Failed      = findings.Failed
	Skipped     = findings.Skipped
)

// Findings returns a table for the analysis. It shares the measures of t.
func (x *Experiment) Findings(t *Table) *findings.Table {
	p := t.Status.Plan
	f := &findings.Table{Title: x.Title, Design: string(x.Design.Kind), Seed: x.Seed, Baseline: p.Baseline, Seeds: p.Seeds}
	f.Until, f.UntilOf = x.until()
	f.Real = realData(x.Experiment)
	for i := range x.Factors {
		of := &x.Factors[i]
		factor := findings.Factor{Name: of.Name, Log: of.Range != nil && of.Range.Log}
		for _, l := range of.Levels {
			factor.Levels = append(factor.Levels, l.Text)
		}
		f.Factors = append(f.Factors, factor)
	}
	for i := range x.Measures {
		m := &x.Measures[i]
		f.Measures = append(f.Measures, findings.Measure{Name: m.Name, Kind: kindOf(m), Unit: unitOf(m)})
	}
	for i := range p.Points {
		f.Points = append(f.Points, findings.Point{Label: findings.Brief(x.Label(p.Points[i].Values)), Values: x.placed(&p.Points[i])})
		runs := make([]findings.Run, len(p.Seeds))
		for replicate := range runs {
			r := t.Status.Of(i, replicate)
			runs[replicate] = findings.Run{Identity: r.ID, ID: string(r.Record.ID), State: r.State, Why: r.Why, Values: t.Values[i][replicate], Distances: t.Distances[i][replicate]}
		}
		f.Runs = append(f.Runs, runs)
	}
	return f
}

// placed returns the values of a point with their places.
func (x *Experiment) placed(p *experiment.Point) []findings.Value {
	all := make([]findings.Value, len(p.Values))
	for k, v := range p.Values {
		f, c := &x.Factors[k], p.Place[k]
		one := findings.Value{Text: v.Text, Number: math.NaN(), Level: c.Level}
		if n, ok := v.Number(); ok {
			one.Number = n
		}
		if f.Range != nil {
			one.Unit = f.Range.Unit(c.Value)
		} else {
			one.Unit = float64(c.Level) / float64(max(len(f.Levels)-1, 1))
		}
		all[k] = one
	}
	return all
}

// kindOf returns which statistics suit a measure.
func kindOf(m *experiment.Measure) statistics.Kind {
	_, quantile := m.Quantile()
	switch {
	case m.Timing():
		return statistics.Timing
	case m.Kind == experiment.MeasureTokens, m.Kind == experiment.MeasureMetric && m.Subject == "cost":
		return statistics.Cost
	case m.Kind == experiment.MeasureActed, m.Kind == experiment.MeasureOutcome, m.Kind == experiment.MeasureMetric && metricUnit(m) == engine.UnitShare:
		return statistics.Share
	case quantile:
		return statistics.Percentile
	default:
		return statistics.Number
	}
}

// units are the texts of the units that a measure may have.
var units = map[engine.Unit]string{engine.UnitTime: "s", engine.UnitBytes: "bytes", engine.UnitMoney: "$", engine.UnitRate: "per second"}

// unitOf returns the unit of a measure; "" for counts, shares, and numbers of events and of memory.
func unitOf(m *experiment.Measure) string {
	if m.Kind != experiment.MeasureMetric {
		return ""
	}
	return units[metricUnit(m)]
}

func metricUnit(m *experiment.Measure) engine.Unit {
	if metric := criteria.Find(m.Subject); metric != nil {
		return metric.Unit
	}
	return engine.UnitCount
}

package engine

import (
	"fmt"
	"math"
	"time"

	"github.com/throng-sim/throng/engine/figures"
	"github.com/throng-sim/throng/engine/internal/stats"
)

// Criterion is one line of a scenario's success list: a metric compared with a bound.
type Criterion struct {
	Metric string
	Op     string  // "<", "<=", ">", ">=", "="
	Bound  float64 // in the metric's unit: a fraction, seconds, bytes, a count, US dollars
	Text   string  // as written
}

// Judgment is the result of a criterion after the run. If the figure is not available, Unknown is set and Value is 0.
type Judgment struct {
	Criterion Criterion
	Value     float64
	Shown     string // the formatted value with its unit
	Passed    bool
	Unknown   bool
}

// Unit is the unit of a success metric. It determines how values are parsed and formatted.
type Unit uint8

// The units of success metrics.
const (
	UnitShare Unit = iota // 95%, or 0.95
	UnitTime              // 60s
	UnitBytes             // 12GB
	UnitCount
	UnitMoney // US dollars: 0.50
)

// successMetric computes a metric at the end of a run; NaN if unknown.
type successMetric struct {
	Name  string
	Unit  Unit
	Value func(t *Totals, agents int) float64
}

// successMetrics lists the metrics that a success list may use.
var successMetrics = []successMetric{
	{"agents_completed", UnitShare, func(t *Totals, agents int) float64 {
		_, bad := t.Failures(0)
		return share(float64(agents-bad), float64(agents))
	}},
	{"error_rate", UnitShare, func(t *Totals, _ int) float64 { return share(float64(t.Bad()), float64(t.Ended())) }},
	{"cycle_time", UnitTime, func(t *Totals, _ int) float64 { return positive(t.Peaks.Cycle.Seconds()) }},
	{"memory", UnitBytes, func(t *Totals, _ int) float64 { return positive(float64(t.Peaks.Memory)) }},
	{"storage", UnitBytes, func(t *Totals, _ int) float64 { return positive(float64(t.Peaks.Stored)) }},
	{"db_connections", UnitCount, func(t *Totals, _ int) float64 {
		return positive(float64(max(t.Peaks.Connections, t.Peaks.ServerConnections)))
	}},
	{"checkpoint_gap", UnitTime, func(t *Totals, _ int) float64 { return t.Peaks.CheckpointGap.Seconds() }},
	{"latency_p95", UnitTime, func(t *Totals, _ int) float64 { return latency(t, 0.95) }},
	{"latency_p99", UnitTime, func(t *Totals, _ int) float64 { return latency(t, 0.99) }},
	{"request_p95", UnitTime, func(t *Totals, _ int) float64 { return requestLatency(t, 0.95) }},
	{"request_p99", UnitTime, func(t *Totals, _ int) float64 { return requestLatency(t, 0.99) }},
	{"cost", UnitMoney, func(t *Totals, _ int) float64 {
		asked := t.AllRequests()
		if asked.Usage.Unpriced > 0 {
			return math.NaN()
		}
		return float64(asked.Usage.Cost) / 1e9
	}},
	{"duration", UnitTime, func(t *Totals, _ int) float64 { return t.Peaks.Elapsed.Seconds() }},
}

// SuccessMetrics returns the metrics that a success list may use, with their units.
func SuccessMetrics() map[string]Unit {
	all := make(map[string]Unit, len(successMetrics))
	for _, m := range successMetrics {
		all[m.Name] = m.Unit
	}
	return all
}

// Judge evaluates the criteria for a run's totals. agents is the number of active agents.
func Judge(criteria []Criterion, t *Totals, agents int) []Judgment {
	out := make([]Judgment, 0, len(criteria))
	for _, c := range criteria {
		j := Judgment{Criterion: c, Unknown: true, Shown: "not known"}
		for _, m := range successMetrics {
			if m.Name != c.Metric {
				continue
			}
			if v := m.Value(t, agents); !math.IsNaN(v) {
				j.Value, j.Unknown, j.Shown, j.Passed = v, false, m.Unit.Show(v), c.holds(v)
			}
		}
		out = append(out, j)
	}
	return out
}

func (c Criterion) holds(v float64) bool {
	switch c.Op {
	case "<":
		return v < c.Bound
	case "<=":
		return v <= c.Bound
	case ">":
		return v > c.Bound
	case ">=":
		return v >= c.Bound
	default:
		return v == c.Bound
	}
}

// Show formats a value in the unit.
func (u Unit) Show(v float64) string {
	switch u {
	case UnitShare:
		return fmt.Sprintf("%.4g%%", v*100)
	case UnitTime:
		return figures.Exact(time.Duration(v * float64(time.Second)))
	case UnitBytes:
		return FormatBytes(int64(v))
	case UnitMoney:
		return FormatDollars(int64(math.Round(v * 1e9)))
	default:
		return fmt.Sprintf("%.6g", v)
	}
}

func share(part, whole float64) float64 {
	if whole == 0 {
		return math.NaN()
	}
	return part / whole
}

func latency(t *Totals, q float64) float64 {
	if t.Total.Count() == 0 {
		return math.NaN()
	}
	return t.Total.Quantile(q).Seconds()
}

// requestLatency returns a quantile of the service time of a step, including retries but not throttled time.
func requestLatency(t *Totals, q float64) float64 {
	var all stats.Narrow
	for _, s := range t.ByStep.List {
		if s.Requests > 0 {
			all.Merge(&s.Service)
		}
	}
	if all.Count() == 0 {
		return math.NaN()
	}
	return all.Quantile(q).Seconds()
}

// positive returns v, or NaN if v is not positive, which means that it was never measured.
func positive(v float64) float64 {
	if v <= 0 {
		return math.NaN()
	}
	return v
}

package engine

import (
	"fmt"
	"math"
	"time"

	"github.com/throng-sim/throng/engine/internal/stats"
)

// Criterion is one line of a scenario's success list: a metric compared with a bound.
type Criterion struct {
	Metric string
	Op     string  // "<", "<=", ">", ">=", "="
	Bound  float64 // in the metric's unit: a share, seconds, bytes, a count, US dollars
	Text   string  // as written
}

// Judgement is a criterion after the run. Unknown is set, and Value 0, where the figure could not be had.
type Judgement struct {
	Criterion Criterion
	Value     float64
	Shown     string // the value in the words of its unit
	Passed    bool
	Unknown   bool
}

// Unit is how a metric of the success list is written and shown.
type Unit uint8

// The units of success metrics.
const (
	UnitShare Unit = iota // 95%, or 0.95
	UnitTime              // 60s
	UnitBytes             // 12GB
	UnitCount
	UnitMoney // US dollars: 0.50
)

// successMetric computes a metric at the end of a run; NaN when it is not known.
type successMetric struct {
	Name  string
	Unit  Unit
	Value func(t *Totals, agents int) float64
}

// successMetrics is the one table of what a success list may name.
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
		asked := t.Asked()
		if asked.Usage.Unpriced > 0 {
			return math.NaN()
		}
		return float64(asked.Usage.Cost) / 1e9
	}},
	{"duration", UnitTime, func(t *Totals, _ int) float64 { return t.Peaks.Elapsed.Seconds() }},
}

// SuccessMetrics lists what a success list may name, each with its unit.
func SuccessMetrics() map[string]Unit {
	all := make(map[string]Unit, len(successMetrics))
	for _, m := range successMetrics {
		all[m.Name] = m.Unit
	}
	return all
}

// Judge compares a run's totals with its criteria. agents is how many took part.
func Judge(criteria []Criterion, t *Totals, agents int) []Judgement {
	out := make([]Judgement, 0, len(criteria))
	for _, c := range criteria {
		j := Judgement{Criterion: c, Unknown: true, Shown: "not known"}
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

// Show writes a value in the unit's words.
func (u Unit) Show(v float64) string {
	switch u {
	case UnitShare:
		return fmt.Sprintf("%.4g%%", v*100)
	case UnitTime:
		return time.Duration(v * float64(time.Second)).Round(time.Millisecond).String()
	case UnitBytes:
		if v < 1e9 {
			return FormatBytes(int64(v))
		}
		return fmt.Sprintf("%.3g GB", v/1e9)
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

// requestLatency is a quantile of what services took for a step, its repeats included, without what Throng throttled.
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

// positive is v, or not known: a figure that is never measured stays 0.
func positive(v float64) float64 {
	if v <= 0 {
		return math.NaN()
	}
	return v
}

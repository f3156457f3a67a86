// Package criteria judges a run by the success criteria of its scenario.
package criteria

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/arrivals"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/internal/stats"
)

// Metric is what a criterion compares with its bound.
type Metric struct {
	Name string
	Unit engine.Unit
	// PerService metrics may count the requests of one service or step only.
	PerService bool
	// More is set if higher values are better.
	More  bool
	value func(f *figures) float64 // NaN if unknown
}

// figures are what metrics are computed from.
type figures struct {
	*engine.Totals
	agents int
	steps  []string // whose requests count; nil counts all
}

// Metrics lists the metrics that a success list may use.
func Metrics() []Metric { return metrics }

// Find returns the metric with a name, or nil.
func Find(name string) *Metric {
	i := slices.IndexFunc(metrics, func(m Metric) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return &metrics[i]
}

var metrics = []Metric{
	{Name: "agents_completed", Unit: engine.UnitShare, More: true, value: func(f *figures) float64 {
		if f.Ended() == 0 { // no agent has completed anything
			return math.NaN()
		}
		_, bad := f.Failures(0)
		return over(float64(f.agents-bad), float64(f.agents))
	}},
	{Name: "error_rate", Unit: engine.UnitShare, value: func(f *figures) float64 { return over(float64(f.Bad()), float64(f.Ended())) }},
	{Name: "cycle_time", Unit: engine.UnitTime, value: func(f *figures) float64 { return positive(f.Peaks.Cycle.Seconds()) }},
	{Name: "memory", Unit: engine.UnitBytes, value: func(f *figures) float64 { return positive(float64(f.Peaks.Memory)) }},
	{Name: "storage", Unit: engine.UnitBytes, value: func(f *figures) float64 { return positive(float64(f.Peaks.Stored)) }},
	{Name: "db_connections", Unit: engine.UnitCount, value: func(f *figures) float64 {
		return positive(float64(max(f.Peaks.Connections, f.Peaks.ServerConnections)))
	}},
	{Name: "checkpoint_gap", Unit: engine.UnitTime, value: func(f *figures) float64 { return f.Peaks.CheckpointGap.Seconds() }},
	{Name: "latency_p95", Unit: engine.UnitTime, value: latency(0.95)},
	{Name: "latency_p99", Unit: engine.UnitTime, value: latency(0.99)},
	{Name: "request_p50", Unit: engine.UnitTime, PerService: true, value: request(0.50)},
	{Name: "request_p95", Unit: engine.UnitTime, PerService: true, value: request(0.95)},
	{Name: "request_p99", Unit: engine.UnitTime, PerService: true, value: request(0.99)},
	{Name: "request_max", Unit: engine.UnitTime, PerService: true, value: request(1)},
	{Name: "request_error_rate", Unit: engine.UnitShare, PerService: true, value: (*figures).requestErrors},
	{Name: "request_rate", Unit: engine.UnitRate, PerService: true, More: true, value: (*figures).requestRate},
	{Name: "cost", Unit: engine.UnitMoney, value: func(f *figures) float64 {
		asked := f.AllRequests()
		if asked.Usage.Unpriced > 0 {
			return math.NaN()
		}
		return float64(asked.Usage.Cost) / 1e9
	}},
	{Name: "duration", Unit: engine.UnitTime, value: func(f *figures) float64 { return f.Peaks.Elapsed.Seconds() }},
}

// Judge evaluates the criteria for a run's totals. agents is the number of active agents.
func Judge(all []engine.Criterion, t *engine.Totals, agents int) []engine.Judgment {
	out := make([]engine.Judgment, 0, len(all))
	for _, c := range all {
		j := engine.Judgment{Criterion: c, Unknown: true, Shown: "not known"}
		if m := Find(c.Metric); m != nil {
			if v := m.value(&figures{t, agents, c.Steps}); !math.IsNaN(v) {
				j.Value, j.Unknown, j.Shown, j.Passed = v, false, m.Unit.Show(v), holds(&c, v)
			}
		}
		out = append(out, j)
	}
	return out
}

// holds reports whether a value meets a criterion.
func holds(c *engine.Criterion, v float64) bool {
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

// latency returns a quantile of the sessions' latency, counted from the intended start if sessions arrive over time.
func latency(q float64) func(f *figures) float64 {
	return func(f *figures) float64 {
		h := f.Latency()
		if h.Count() == 0 {
			return math.NaN()
		}
		return h.Quantile(q).Seconds()
	}
}

// counts reports whether the requests of a step count.
func (f *figures) counts(path string) bool { return f.steps == nil || slices.Contains(f.steps, path) }

// request returns a quantile of the service time of steps with requests. It includes retries, but neither throttled time nor wait steps.
func request(q float64) func(f *figures) float64 {
	return func(f *figures) float64 {
		var all stats.Narrow
		for _, s := range f.ByStep.List {
			if s.Requests > 0 && f.counts(s.Path) {
				all.Merge(&s.Service)
			}
		}
		switch {
		case all.Count() == 0:
			return math.NaN()
		case q == 1:
			return all.Max().Seconds()
		}
		return all.Quantile(q).Seconds()
	}
}

// requestErrors returns the fraction of requests that failed or timed out after their retries.
func (f *figures) requestErrors() float64 {
	var bad, all int64
	for _, s := range f.ByStep.List {
		if s.Requests > 0 && f.counts(s.Path) {
			failed := s.Statuses[engine.StepFailed] + s.Statuses[engine.StepTimedOut]
			bad, all = bad+failed, all+failed+s.Statuses[engine.StepOK]
		}
	}
	return over(float64(bad), float64(all))
}

// requestRate returns the requests per second, retries included, over the time that the run was not paused.
func (f *figures) requestRate() float64 {
	var n int64
	for _, s := range f.ByStep.List {
		if f.counts(s.Path) {
			n += s.Requests
		}
	}
	return over(float64(n), f.Peaks.Overhead.Span.Seconds())
}

// over divides; NaN if the whole is 0.
func over(part, whole float64) float64 {
	if whole == 0 {
		return math.NaN()
	}
	return part / whole
}

// positive returns v, or NaN if v is not positive, which means that it was never measured.
func positive(v float64) float64 {
	if v <= 0 {
		return math.NaN()
	}
	return v
}

var (
	form      = regexp.MustCompile(`^\s*(<=|>=|<|>|=)?\s*(.+?)\s*$`)
	bytesForm = regexp.MustCompile(`(?i)^([0-9.]+)\s*(B|[KMGT]I?B)$`)
	byteUnits = map[string]float64{
		"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40,
	}
	hints = map[engine.Unit]string{
		engine.UnitShare: "a share up to 100%, such as 5% or 0.05",
		engine.UnitTime:  "a time, such as 60s or 5m",
		engine.UnitBytes: "a size, such as 12GB",
		engine.UnitCount: "a number",
		engine.UnitMoney: "US dollars, such as 0.50",
		engine.UnitRate:  arrivals.RateHint,
	}
)

// Hint describes the form of a bound in a unit.
func Hint(u engine.Unit) string { return hints[u] }

// Parse reads a comparison with a bound, such as "< 5%". Without an operator, the bound itself is included. bound is the part of the
// text after the operator, and "" if the text has none.
func (m *Metric) Parse(text string) (c engine.Criterion, bound string, ok bool) {
	c = engine.Criterion{Metric: m.Name, Text: text, Op: "<="}
	if m.More {
		c.Op = ">="
	}
	parts := form.FindStringSubmatch(text)
	if parts == nil {
		return c, "", false
	}
	if parts[1] != "" {
		c.Op = parts[1]
	}
	c.Bound, ok = parse(m.Unit, parts[2])
	return c, parts[2], ok
}

// parse reads a bound in a unit.
func parse(unit engine.Unit, text string) (float64, bool) {
	scale := 1.0
	switch unit {
	case engine.UnitShare:
		if percent, ok := strings.CutSuffix(text, "%"); ok {
			text, scale = strings.TrimSpace(percent), 0.01
		}
	case engine.UnitTime:
		d, err := doc.ParseDuration(text)
		return d.Seconds(), err == nil
	case engine.UnitBytes:
		return ParseBytes(text)
	case engine.UnitRate:
		rate, err := arrivals.ParseRate(text)
		return rate, err == nil
	case engine.UnitCount:
	case engine.UnitMoney:
		text = strings.TrimSpace(strings.TrimPrefix(text, "$"))
	}
	f, err := strconv.ParseFloat(text, 64)
	f *= scale
	return f, err == nil && f >= 0 && !math.IsInf(f, 0) && (unit != engine.UnitShare || f <= 1)
}

// ParseBytes reads a size, such as 12GB.
func ParseBytes(text string) (float64, bool) {
	m := bytesForm.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	f, err := strconv.ParseFloat(m[1], 64)
	f *= byteUnits[strings.ToUpper(m[2])]
	return f, err == nil && !math.IsInf(f, 0)
}

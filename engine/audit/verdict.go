package audit

import (
	"math"

	"github.com/throng-sim/throng/engine"
)

// judgment evaluates a success criterion again, from the figures of the journal or, if it has none, from the recorded peaks.
func (a *auditing) judgment(j *engine.Judgment, t *engine.Totals, p *picture) {
	low, high, known := a.metric(j, t, p)
	name, r := j.Criterion.Metric+" "+j.Criterion.Text, a.report
	if !known {
		r.Check(criteria, name, "", j.Unknown && !j.Passed, words(j.Shown), "not known")
		return
	}
	slack := 1e-9 * math.Abs(high)
	ok := !j.Unknown && j.Value >= low-slack && j.Value <= high+slack
	r.Check(criteria, name, "", ok, j.Value, high)
	r.Check(criteria, name+": passed", "", j.Passed == holds(&j.Criterion, j.Value), j.Passed, holds(&j.Criterion, j.Value))
}

// metric returns the bounds of a metric; known is false if it cannot be computed.
func (a *auditing) metric(j *engine.Judgment, t *engine.Totals, p *picture) (low, high float64, known bool) {
	exactly := func(v float64) (float64, float64, bool) { return v, v, !math.IsNaN(v) }
	measured := func(v float64) (float64, float64, bool) { return v, v, v > 0 }
	switch j.Criterion.Metric {
	case "agents_completed":
		return a.completed(j, len(p.failed))
	case "error_rate":
		return exactly(float64(p.bad()) / float64(p.ended()))
	case "cycle_time":
		return measured(t.Peaks.Cycle.Seconds())
	case "memory":
		return measured(float64(t.Peaks.Memory))
	case "storage":
		return measured(float64(t.Peaks.Stored))
	case "db_connections":
		return measured(float64(max(t.Peaks.Connections, t.Peaks.ServerConnections)))
	case "checkpoint_gap":
		return exactly(t.Peaks.CheckpointGap.Seconds())
	case "latency_p95":
		return p.total.seconds(1)
	case "latency_p99":
		return p.total.seconds(2)
	case "request_p95":
		return p.requests(1)
	case "request_p99":
		return p.requests(2)
	case "cost":
		if p.asked.usage.Unpriced+a.shared.usage.Unpriced > 0 {
			return 0, 0, false
		}
		return exactly(float64(p.asked.usage.Cost+a.shared.usage.Cost) / 1e9)
	case "duration":
		return exactly(t.Peaks.Elapsed.Seconds())
	default:
		return 0, 0, false
	}
}

// completed returns the bounds of the fraction of agents without a failed session. The journal knows the agents with a session; there may
// be more whose session never started.
func (a *auditing) completed(j *engine.Judgment, bad int) (low, high float64, known bool) {
	n := a.agents.count
	share := func(n int) float64 { return float64(n-bad) / float64(n) }
	if n > 0 && bad > 0 && !j.Unknown && j.Value < 1 {
		if all := int(math.Round(float64(bad) / (1 - j.Value))); all > n && a.record.Total == 0 || all > n && a.record.Total > a.record.Done {
			n = all
		}
	}
	if n == 0 {
		return 0, 0, false
	}
	return share(n), share(n), true
}

// requests returns the bounds of a quantile over all steps with requests: it lies between the smallest and the largest of theirs.
func (p *picture) requests(quantile int) (low, high float64, known bool) {
	for _, s := range p.byStep {
		l, h, has := s.service.seconds(quantile)
		if s.requests == 0 || !has {
			continue
		}
		if !known || l < low {
			low = l
		}
		high, known = max(high, h), true
	}
	return low, high, known
}

// seconds returns the bounds of a quantile given the buckets of a histogram.
func (d *digest) seconds(quantile int) (low, high float64, known bool) {
	l, h := min(d.low[quantile], day), min(d.high[quantile], day)
	return (l - l/bucket - grain).Seconds(), (h + h/bucket + grain).Seconds(), d.count > 0
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

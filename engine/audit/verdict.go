package audit

import (
	"math"
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
)

// judgment evaluates a success criterion again, from the figures of the journal or, if it has none, from the recorded peaks.
func (a *auditing) judgment(j *engine.Judgment, t *engine.Totals, p *picture) {
	low, high, known := a.metric(j, t, p)
	name, r := j.Criterion.Name()+" "+j.Criterion.Text, a.report
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
		return p.latency().seconds(1)
	case "latency_p99":
		return p.latency().seconds(2)
	case "request_p50":
		return p.requests(&j.Criterion, 0)
	case "request_p95":
		return p.requests(&j.Criterion, 1)
	case "request_p99":
		return p.requests(&j.Criterion, 2)
	case "request_max":
		return p.longestRequest(&j.Criterion)
	case "request_error_rate":
		return exactly(p.requestErrors(&j.Criterion))
	case "request_rate":
		return exactly(p.sent(&j.Criterion) / t.Peaks.Overhead.Span.Seconds())
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

// latency returns the sessions' latency, which counts from their intended start if they arrive over time.
func (p *picture) latency() *digest {
	if p.response.count > 0 {
		return &p.response
	}
	return &p.total
}

// of returns the steps with requests that a criterion counts.
func (p *picture) of(c *engine.Criterion) (all []stepPicture) {
	for path, s := range p.byStep {
		if s.requests > 0 && (c.Steps == nil || slices.Contains(c.Steps, path)) {
			all = append(all, s)
		}
	}
	return all
}

// requests returns the bounds of a quantile over steps with requests: it lies between the smallest and the largest of theirs.
func (p *picture) requests(c *engine.Criterion, quantile int) (low, high float64, known bool) {
	for _, s := range p.of(c) {
		l, h, has := s.service.seconds(quantile)
		if !has {
			continue
		}
		if !known || l < low {
			low = l
		}
		high, known = max(high, h), true
	}
	return low, high, known
}

// longestRequest returns the bounds of the longest request.
func (p *picture) longestRequest(c *engine.Criterion) (low, high float64, known bool) {
	var longest time.Duration
	for _, s := range p.of(c) {
		longest, known = max(longest, s.service.longest), known || s.service.count > 0
	}
	longest = min(longest, day)
	return (longest - grain).Seconds(), (longest + grain).Seconds(), known
}

// requestErrors returns the fraction of requests that failed after their retries.
func (p *picture) requestErrors(c *engine.Criterion) float64 {
	bad, all := 0., 0.
	for _, s := range p.of(c) {
		failed := float64(s.statuses[engine.StepFailed] + s.statuses[engine.StepTimedOut])
		bad, all = bad+failed, all+failed+float64(s.statuses[engine.StepOK])
	}
	return bad / all
}

// sent returns the number of requests, retries included.
func (p *picture) sent(c *engine.Criterion) (n float64) {
	for _, s := range p.of(c) {
		n += float64(s.requests)
	}
	return n
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

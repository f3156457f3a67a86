package health_test

import (
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
)

// TestCriteriaDecideWhatIsSlow checks that the success criteria on times replace the thresholds, and that model calls may take seconds.
func TestCriteriaDecideWhatIsSlow(t *testing.T) {
	upTo := func(metric string, seconds float64) engine.Criterion {
		return engine.Criterion{Metric: metric, Op: "<", Bound: seconds}
	}
	for _, c := range []struct {
		name     string
		criteria []engine.Criterion
		request  time.Duration // p95; p99 is twice as long
		calls    int64         // of models, per second, of 300 requests
		metric   health.Metric
		want     health.Level
		value    string
	}{
		{"no criteria", nil, 1500 * time.Millisecond, 0, health.MetricRequests, health.Warning, "p95 1.5 s"},
		{"few calls of models", nil, 1500 * time.Millisecond, 14, health.MetricRequests, health.Warning, "p95 1.5 s"},
		{"calls of models", nil, 1500 * time.Millisecond, 15, health.MetricRequests, health.Healthy, "p95 1.5 s"},
		{"slow models", nil, 31 * time.Second, 300, health.MetricRequests, health.Warning, "p95 31 s"},
		{"a criterion on errors", []engine.Criterion{upTo("error_rate", 0.05)}, 1500 * time.Millisecond, 0, health.MetricRequests, health.Warning, "p95 1.5 s"},
		{"slow, as the scenario allows", []engine.Criterion{upTo("request_p95", 2)}, 1500 * time.Millisecond, 0, health.MetricRequests, health.Healthy, "p95 1.5 s"},
		{"at the bound", []engine.Criterion{upTo("request_p95", 0.3)}, 300 * time.Millisecond, 0, health.MetricRequests, health.Warning, "p95 300 ms"},
		{"at twice the bound", []engine.Criterion{upTo("request_p95", 0.3)}, 601 * time.Millisecond, 0, health.MetricRequests, health.Critical, "p95 601 ms"},
		{"the 99th percentile", []engine.Criterion{upTo("request_p99", 0.5)}, 300 * time.Millisecond, 0, health.MetricRequests, health.Warning, "p99 600 ms"},
		{"the median", []engine.Criterion{upTo("request_p50", 0.1)}, 300 * time.Millisecond, 0, health.MetricRequests, health.Warning, "p50 150 ms"},
		{"a criterion on errors of requests", []engine.Criterion{upTo("request_error_rate", 0.01)}, 300 * time.Millisecond, 0, health.MetricRequests, health.Healthy, "p95 300 ms"},
		{"one service", []engine.Criterion{{Metric: "request_p95", Of: "shop", Op: "<", Bound: 0.1}}, 300 * time.Millisecond, 0, health.MetricRequests, health.Healthy, "p95 300 ms"},
		{"a lower bound", []engine.Criterion{{Metric: "request_p95", Op: ">", Bound: 0.1}}, 500 * time.Millisecond, 0, health.MetricRequests, health.Healthy, "p95 500 ms"},
		{"sessions within their bound", []engine.Criterion{upTo("latency_p95", 5)}, 3 * time.Second, 0, health.MetricLatency, health.Good, "p95 4 s"},
		{"requests of these", []engine.Criterion{upTo("latency_p95", 5)}, 3 * time.Second, 0, health.MetricRequests, health.Healthy, "p95 3 s"},
		{"sessions beyond their bound", []engine.Criterion{upTo("latency_p95", 3)}, 3 * time.Second, 0, health.MetricLatency, health.Warning, "p95 4 s"},
		{"a long cycle", nil, 0, 0, health.MetricCycle, health.Warning, "1 min 30 s"},
		{"a long cycle within its bound", []engine.Criterion{upTo("cycle_time", 120)}, 0, 0, health.MetricCycle, health.Healthy, "1 min 30 s"},
		{"a long cycle, and no criterion on it", []engine.Criterion{upTo("error_rate", 0.05)}, 0, 0, health.MetricCycle, health.Healthy, "1 min 30 s"},
		{"a cycle beyond its bound", []engine.Criterion{upTo("cycle_time", 40)}, 0, 0, health.MetricCycle, health.Critical, "1 min 30 s"},
	} {
		p := newPatient()
		p.vitals = health.Vitals{}
		p.Criteria, p.CycleTook = c.criteria, 90*time.Second
		p.live(40, func(s *engine.Snapshot) {
			s.Metrics.Overhead.Requests += 300
			s.Metrics.Usage.Calls += c.calls
			s.Metrics.Request = engine.Quantiles{Count: 300, P50: c.request / 2, P95: c.request, P99: 2 * c.request}
			s.Metrics.Total = engine.Quantiles{Count: 10, P95: 4 * time.Second}
		})
		got := p.find(c.metric)
		if got.Level != c.want || got.Value != c.value {
			t.Errorf("%s: %s %q, want %s %q", c.name, got.Level, got.Value, c.want, c.value)
		}
		if (got.Advice != "") != (got.Level >= health.Warning || got.Level == health.Good) {
			t.Errorf("%s: %s with the advice %q", c.name, got.Level, got.Advice)
		}
	}
}

// TestThinkTimeIsNoLatency checks that long sessions with fast requests are healthy.
func TestThinkTimeIsNoLatency(t *testing.T) {
	p := newPatient().live(40, func(s *engine.Snapshot) {
		s.Metrics.Total = engine.Quantiles{Count: 30, Mean: 6 * time.Second, P95: 12 * time.Second}
		s.Metrics.Request = engine.Quantiles{Count: 90, P95: 60 * time.Millisecond}
	})
	for _, m := range []health.Metric{health.MetricRequests, health.MetricLatency} {
		if got := p.find(m); got.Level > health.Healthy || got.Level == health.Unknown {
			t.Errorf("%s: %+v", m, got)
		}
	}
}

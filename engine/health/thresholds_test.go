package health_test

import (
	"math"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
)

// TestBoundsAreThoseOfHealth checks each bound just below, at and above it.
func TestBoundsAreThoseOfHealth(t *testing.T) {
	bounds := []engine.Criterion{{Metric: "latency_p95", Op: "<", Bound: 3}, {Metric: "cycle_time", Op: "<=", Bound: 50}}
	for _, c := range []struct {
		metric health.Metric
		set    func(s *engine.Snapshot, v float64)
		step   float64
	}{
		{health.MetricCycle, func(s *engine.Snapshot, v float64) { s.CycleTook = seconds(v) }, 0.001},
		{health.MetricLatency, func(s *engine.Snapshot, v float64) { s.Metrics.Total = engine.Quantiles{Count: 1e9, P95: seconds(v)} }, 0.001},
		{health.MetricCPU, func(s *engine.Snapshot, v float64) { s.Metrics.Host.CPU = v }, 0.1},
		{health.MetricOwnMemory, func(s *engine.Snapshot, v float64) { s.Metrics.Host.Memory = uint64(v) }, 1e6},
		{health.MetricConnections, func(s *engine.Snapshot, v float64) {
			s.Metrics.ServerConnections, s.Metrics.ServerMax = int(math.Round(v)), 60
		}, 1},
	} {
		p := newPatient()
		p.Metrics.ServerMax, p.Criteria = 60, bounds
		warning, critical, ok := health.Thresholds(c.metric, &p.Snapshot)
		if !ok || warning >= critical {
			t.Fatalf("%s: from %v, above %v, %v", c.metric, warning, critical, ok)
		}
		for _, at := range []struct {
			value float64
			want  health.Level
		}{{warning - c.step, health.Healthy}, {warning, health.Warning}, {critical, health.Warning}, {critical + c.step, health.Critical}} {
			p := newPatient().live(1, func(s *engine.Snapshot) {
				s.Criteria = bounds
				c.set(s, at.value)
			})
			if got := p.find(c.metric); max(got.Level, health.Healthy) != at.want { // good is healthy too
				t.Errorf("%s of %v is %s, want %s", c.metric, at.value, got.Level, at.want)
			}
		}
	}
	none := &engine.Snapshot{Metrics: engine.MetricsRow{DatabaseUse: engine.DatabaseUse{ServerMax: -1}}}
	for _, m := range []health.Metric{health.MetricConnections, health.MetricLatency, health.MetricOwnMemory, health.MetricWrites, health.MetricRefused} {
		if _, _, ok := health.Thresholds(m, none); ok {
			t.Errorf("%s has bounds", m)
		}
	}
}

func seconds(v float64) time.Duration {
	return time.Duration(v * float64(time.Second)).Round(time.Millisecond)
}

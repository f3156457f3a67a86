package engine_test

import (
	"math"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

// TestBoundsAreThoseOfHealth goes through each bound: just below, at and above it.
func TestBoundsAreThoseOfHealth(t *testing.T) {
	for _, c := range []struct {
		metric engine.Metric
		set    func(s *engine.Snapshot, v float64)
		step   float64
	}{
		{engine.MetricCycle, func(s *engine.Snapshot, v float64) { s.CycleTook = seconds(v) }, 0.001},
		{engine.MetricLatency, func(s *engine.Snapshot, v float64) { s.Metrics.Total.Mean = seconds(v) }, 0.001},
		{engine.MetricCPU, func(s *engine.Snapshot, v float64) { s.Metrics.Host.CPU = v }, 0.1},
		{engine.MetricOwnMemory, func(s *engine.Snapshot, v float64) { s.Metrics.Host.Memory = uint64(v) }, 1e6},
		{engine.MetricConnections, func(s *engine.Snapshot, v float64) {
			s.Metrics.ServerConnections, s.Metrics.ServerMax = int(math.Round(v)), 60
		}, 1},
	} {
		p := newPatient()
		p.Metrics.ServerMax = 60
		warning, critical, ok := engine.Bounds(c.metric, &p.Metrics)
		if !ok || warning >= critical {
			t.Fatalf("%s: from %v, above %v, %v", c.metric, warning, critical, ok)
		}
		for _, at := range []struct {
			value float64
			want  engine.Level
		}{{warning - c.step, engine.Healthy}, {warning, engine.Warning}, {critical, engine.Warning}, {critical + c.step, engine.Critical}} {
			p := newPatient().live(1, func(s *engine.Snapshot) { c.set(s, at.value) })
			if got := p.find(c.metric); max(got.Level, engine.Healthy) != at.want { // what is good is healthy too
				t.Errorf("%s of %v is %s, want %s", c.metric, at.value, got.Level, at.want)
			}
		}
	}
	none := &engine.MetricsRow{ServerMax: -1}
	for _, m := range []engine.Metric{engine.MetricConnections, engine.MetricOwnMemory, engine.MetricWrites, engine.MetricRefused} {
		if _, _, ok := engine.Bounds(m, none); ok {
			t.Errorf("%s has bounds", m)
		}
	}
}

func seconds(v float64) time.Duration {
	return time.Duration(v * float64(time.Second)).Round(time.Millisecond)
}

package health

import "github.com/throng-sim/throng/engine"

// Thresholds returns the value from which [Judge] warns, and the value above which it is critical, in the unit of the metric: seconds,
// percent, bytes or connections. The latter two depend on the machine and the server. ok is false if they are unknown, and for metrics
// without such values or that get worse as they shrink.
func Thresholds(of Metric, m *engine.MetricsRow) (warning, critical float64, ok bool) {
	scale := 0.
	switch of {
	case MetricCycle, MetricLatency, MetricCPU:
		scale = 1
	case MetricOwnMemory:
		scale = float64(m.Host.MemoryTotal)
	case MetricConnections:
		scale = float64(m.ServerMax)
	default: // the other metrics have no such values
	}
	if scale <= 0 {
		return 0, 0, false
	}
	for i := range vitals {
		if v := &vitals[i]; v.metric == of {
			return v.warn * scale, v.crit * scale, true
		}
	}
	return 0, 0, false
}

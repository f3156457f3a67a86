package health

import "github.com/throng-sim/throng/engine"

// Thresholds returns the value at which [Judge] starts to warn, and the value above which it reports a critical finding,
// in the unit of the metric: seconds, percent, bytes or connections. Those in bytes depend on the machine, those in
// connections on the server. ok is false if the machine or the server is unknown, if the metric has no fixed
// thresholds, and if it gets worse as it shrinks.
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

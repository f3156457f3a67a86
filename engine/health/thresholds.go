package health

import "github.com/throng-sim/throng/engine"

// Thresholds returns from which value of a metric on [Judge] warns, and above which it is critical, in the unit that the
// metric is measured in: seconds, percent, bytes or connections, the latter two by what the machine and the server have.
// ok is false where nobody knows, and for metrics that have no such value or become worse as they shrink.
func Thresholds(of Metric, m *engine.MetricsRow) (warning, critical float64, ok bool) {
	scale := 0.
	switch of {
	case MetricCycle, MetricLatency, MetricCPU:
		scale = 1
	case MetricOwnMemory:
		scale = float64(m.Host.MemoryTotal)
	case MetricConnections:
		scale = float64(m.ServerMax)
	default: // the others have none
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

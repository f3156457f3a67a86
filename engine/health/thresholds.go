package health

import "github.com/throng-sim/throng/engine"

// Thresholds returns the value at which [Judge] starts to warn, and the value above which it reports a critical finding,
// in the unit of the metric: seconds, percent, bytes or connections. Those in bytes depend on the machine, those in
// connections on the server, and those in seconds on the success criteria. ok is false if the machine or the server is unknown, if
// nothing limits the metric, and if it gets worse as it shrinks.
func Thresholds(of Metric, s *engine.Snapshot) (warning, critical float64, ok bool) {
	scale := 0.
	times := latencyFigures{&input{s: s, v: &Vitals{}}}
	switch of {
	case MetricCPU:
		scale = 1
	case MetricCycle:
		l := times.cycle()
		scale = l.bound.Seconds()
	case MetricLatency:
		l := times.wholeSessions()
		scale = l.bound.Seconds()
	case MetricOwnMemory:
		scale = float64(s.Metrics.Host.MemoryTotal)
	case MetricConnections:
		scale = float64(s.Metrics.ServerMax)
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

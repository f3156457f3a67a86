package health_test

import (
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
)

// TestAnomalies checks that a peak of a second is not an anomaly, but that a longer period beyond a threshold and a gap
// in the metrics are.
func TestAnomalies(t *testing.T) {
	var a health.Anomalies
	at := time.Date(2030, 3, 1, 12, 0, 0, 0, time.UTC)
	second := func(cpu float64, connections int, phase engine.Phase) {
		at = at.Add(time.Second)
		a.See(&engine.MetricsRow{
			At:          at,
			Phase:       phase,
			DatabaseUse: engine.DatabaseUse{Unsent: -1, ServerConnections: connections, ServerMax: 60},
			Host:        engine.HostMetrics{CPU: cpu, Memory: 1e9, Available: 9e9, MemoryTotal: 16e9},
		})
	}
	for i := range 60 {
		cpu, connections := 40., 20
		if i == 10 {
			cpu = 99
		}
		if i >= 20 && i < 32 {
			connections = 52
		}
		if i == 25 {
			connections = 57
		}
		second(cpu, connections, engine.Running)
	}
	at = at.Add(3 * time.Minute)
	second(40, 20, engine.Running)
	second(40, 20, engine.Ended)
	at = at.Add(time.Hour) // the run was resumed later
	second(99, 59, engine.Ended)

	all := a.All()
	if len(all) != 1 || all[0].Metric != health.MetricConnections || all[0].Seconds != 12 || all[0].Level != health.Critical || all[0].Worst != "57 of 60" {
		t.Fatalf("found %+v", all)
	}
	if want := time.Date(2030, 3, 1, 12, 0, 21, 0, time.UTC); !all[0].Since.Equal(want) {
		t.Errorf("since %s", all[0].Since)
	}
	if a.Gaps != 3*time.Minute+time.Second {
		t.Errorf("gaps of %s", a.Gaps)
	}
}

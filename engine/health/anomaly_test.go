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
	a := health.NewAnomalies(&engine.RunRecord{}, nil)
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

// TestAutomaticConcurrencyUsesTheCPU checks that a busy CPU is an anomaly only while the limit is manual, or if other programs use it, and
// that the first ten seconds are not judged.
func TestAutomaticConcurrencyUsesTheCPU(t *testing.T) {
	start := time.Date(2030, 3, 1, 12, 0, 0, 0, time.UTC)
	byHand := []engine.ChangeRow{{At: start.Add(30 * time.Second), What: engine.LimitSetting, New: "200"}}
	back := append(byHand, engine.ChangeRow{At: start.Add(50 * time.Second), What: engine.LimitSetting, New: engine.Automatic})
	for _, c := range []struct {
		name     string
		governor string
		changes  []engine.ChangeRow
		own      float64 // percent of one of 4 cores
		level    health.Level
		seconds  int
	}{
		{"manual", engine.Manual, nil, 360, health.Critical, 50},
		{"automatic", engine.Adaptive, nil, 360, health.Unknown, 0},
		{"automatic, other programs", engine.Adaptive, nil, 40, health.Warning, 50},
		{"a limit by hand", engine.Adaptive, byHand, 360, health.Critical, 30},
		{"a limit by hand, for a while", engine.Adaptive, back, 360, health.Critical, 20},
		{"another governor", engine.Manual, []engine.ChangeRow{{At: start.Add(30 * time.Second), What: engine.GovernorSetting, New: engine.Adaptive}}, 360, health.Critical, 20},
	} {
		a := health.NewAnomalies(&engine.RunRecord{Settings: engine.Settings{Steering: engine.Steering{Governor: c.governor}}}, c.changes)
		for i := range 60 {
			a.See(&engine.MetricsRow{
				At: start.Add(time.Duration(i) * time.Second), Phase: engine.Running, DatabaseUse: engine.DatabaseUse{Unsent: -1, ServerConnections: -1, ServerMax: -1},
				Host: engine.HostMetrics{CPU: 99, ProcessCPU: c.own, Cores: 4, Memory: 1e9, Available: 9e9, MemoryTotal: 16e9},
			})
		}
		found := health.Anomaly{}
		for _, n := range a.All() {
			if n.Metric == health.MetricCPU {
				found = n
			}
		}
		if found.Level != c.level || found.Seconds != c.seconds {
			t.Errorf("%s: %s for %d s, want %s for %d s", c.name, found.Level, found.Seconds, c.level, c.seconds)
		}
	}
}

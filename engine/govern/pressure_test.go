package govern

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

func TestBent(t *testing.T) {
	for v, want := range map[float64]float64{0: 0, 20: 25, 40: 50, 65: 65, 90: 80, 95: 90, 100: 100} {
		if got := bent(v, 40, 50, 90, 80); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v becomes %v, want %v", v, got, want)
		}
	}
	if got := bent(100, 50, 50, 100, 80); got != 80 {
		t.Errorf("at a bound of 100: %v", got)
	}
}

// TestThresholds checks that the same machine lowers the limit under one threshold and not under another, and that the
// reason contains the measured figures.
func TestThresholds(t *testing.T) {
	const giga = 1_000_000_000
	for _, c := range []struct {
		name           string
		steering       engine.Steering
		cpu            float64
		used           uint64 // of 100 GB
		lowers, raises bool
		why            string
	}{
		{"own bounds, 70% CPU", engine.Steering{}, 70, 10, false, true, ""},
		{"a high bound of 60%", engine.Steering{CPUHigh: 60, CPULow: 40}, 70, 10, true, false, "CPU 70%, kept below 60%"},
		{"own bounds, 90% CPU", engine.Steering{CPUHigh: 80, CPULow: 50}, 90, 10, true, false, "above 80%"},
		{"a high bound of 95%", engine.Steering{CPUHigh: 95, CPULow: 50}, 90, 10, false, false, ""},
		{"own bounds, 85% of the memory", engine.Steering{}, 30, 85, false, true, ""},
		{"a bound of 80% of the memory", engine.Steering{MemoryHigh: 80, MemoryLow: 50}, 30, 85, true, false, "memory 85% in use, above 80%"},
		{"between the bounds of the memory", engine.Steering{MemoryHigh: 80, MemoryLow: 50}, 30, 65, false, false, ""},
	} {
		c.steering.Governor, c.steering.Floor, c.steering.Ceiling, c.steering.Breaker = "resources", 20, 100, breakerOff
		p, err := New(c.steering, Options{Cores: 4})
		if err != nil {
			t.Fatal(err)
		}
		limit, why := 50, ""
		at := time.Unix(0, 0)
		for range 60 {
			at = at.Add(time.Second)
			o := p.Steer(engine.Reading{
				At: at, Span: time.Second, Phase: engine.Running, Limit: limit, InFlight: limit, Busy: 1, Ended: 20, LastEnd: at,
				Host: engine.HostMetrics{CPU: c.cpu, ProcessCPU: 4 * c.cpu, Memory: 20 * giga, Available: (100 - c.used) * giga, MemoryTotal: 100 * giga, Cores: 4},
			})
			if o.Limit != limit {
				limit, why = o.Limit, o.Why
				break
			}
		}
		if (limit < 50) != c.lowers || (limit > 50) != c.raises || !strings.Contains(why, c.why) {
			t.Errorf("%s: the limit is %d: %s", c.name, limit, why)
		}
	}
}

package govern

import (
	"testing"

	"github.com/throng-sim/throng/engine"
)

// failsAbove fails the sessions beyond a backend's capacity.
func failsAbove(capacity float64) func(float64, int) float64 {
	return func(_ float64, n int) float64 { return max(0, 1-capacity/float64(n)) }
}

func TestSuccessKnee(t *testing.T) {
	for _, start := range []int{1, 5, 50, 100} {
		c := trial{
			name: "5% fail at 42", governor: "success", start: start, seeds: 10, seconds: 3600, from: 900, knee: 42,
			plant:    func() *plant { return &plant{agents: 372, mean: 1, fails: failsAbove(40)} },
			distance: 0.10, oscillation: 0.12,
		}
		c.run(t)
	}
}

func TestSuccessMoves(t *testing.T) {
	for _, c := range []struct {
		name          string
		ended, failed int64 // a second
		seconds       int
		want          int
		why           string
	}{
		{"all succeeded", 10, 0, 2, 40, "20 → 40: 100% of 20 sessions succeeded"},
		{"nothing ended", 0, 0, 100, 20, ""},
		{"too few yet", 6, 0, 3, 20, ""},
		{"a few failed", 100, 7, 60, 20, ""},
		{"more than a tenth failed", 100, 14, 4, 18, "20 → 18: 14.0% of 400 sessions failed, above 10%"},
		{"more than a fifth failed", 100, 35, 1, 10, "20 → 10: 35.0% of 100 sessions failed, above 20%"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t, engine.Steering{Governor: "success", Floor: 1, Ceiling: 100, Breaker: "off"})
			s.r.Limit, s.r.InFlight, s.r.CycleTotal = 20, 20, 0
			s.governor.restart(20)
			var o engine.Orders
			for i := range c.seconds {
				if o = s.ends(c.ended, c.failed); o.Limit != 20 && i+1 < c.seconds {
					t.Fatalf("moved after %d s: %s", i+1, o.Why)
				}
			}
			if o.Limit != c.want || o.Why != c.why {
				t.Errorf("got %d %q, want %d %q", o.Limit, o.Why, c.want, c.why)
			}
		})
	}
}

// The failures of sessions that started under the old limit do not count against the new one.
func TestSuccessForgetsTheOldLimit(t *testing.T) {
	s := newScript(t, engine.Steering{Governor: "success", Floor: 1, Ceiling: 100, Breaker: "off"})
	s.r.Limit, s.r.InFlight, s.r.CycleTotal = 40, 40, 0
	var o engine.Orders
	for o.Why == "" {
		o = s.ends(20, 20)
	}
	if o.Limit != 20 {
		t.Fatalf("got %d: %s", o.Limit, o.Why)
	}
	for range 3 { // the 40 that were in flight fail too
		if o = s.ends(20, 20); o.Limit != 20 {
			t.Fatalf("shrank again for sessions that began before: %s", o.Why)
		}
	}
	for range 30 {
		if o = s.ends(20, 0); o.Limit > 40 {
			t.Fatalf("at %d, above the limit that failed", o.Limit)
		}
	}
	if o.Limit <= 20 {
		t.Errorf("still at %d", o.Limit)
	}
}

// The failure guard that accompanies another governor shrinks the limit, and does not grow it.
func TestFailuresShrinkUnderAnyGovernor(t *testing.T) {
	s := newScript(t, engine.Steering{Governor: "resources", Floor: 1, Ceiling: 100})
	s.r.Limit, s.r.InFlight, s.r.CycleTotal = 40, 40, 100000
	s.r.CycleEnded = 50000
	s.r.Host = engine.HostMetrics{CPU: 76, MemoryTotal: 16e9, Available: 8e9}
	var o engine.Orders
	for range 20 {
		if o = s.ends(20, 0); o.By != "resources" || o.Limit != 40 {
			t.Fatalf("got %+v", o)
		}
	}
	for range 60 {
		if o = s.ends(20, 3); o.Why != "" {
			break
		}
	}
	if o.By != "breaker" || o.Limit >= 40 || !contains(o.Why, "sessions failed, above 10%") {
		t.Errorf("got %+v", o)
	}
}

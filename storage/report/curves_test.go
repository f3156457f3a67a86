package report

import (
	"math"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

// TestCurves checks that elapsed time leaves out the time without Throng, and that simulated time passes evenly in each cycle.
func TestCurves(t *testing.T) {
	var p path
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for i := range 12 {
		at = at.Add(time.Second)
		if i == 6 {
			at = at.Add(time.Hour)
		}
		p.see(&engine.MetricsRow{At: at, Cycle: i / 4})
	}
	clock := engine.Clock{Start: time.Date(2030, 1, 4, 0, 0, 0, 0, time.UTC), Cycle: time.Hour}
	got := p.simulated(clock)
	for i := range 12 {
		if p.elapsed[i] != float64(i+1) {
			t.Errorf("row %d is at %v s", i, p.elapsed[i])
		}
		if want := float64(clock.Start.Unix()) + float64(i+1)*900; math.Abs(got[i]-want) > 1e-6 {
			t.Errorf("row %d is %v s after the start, want %v", i, got[i]-float64(clock.Start.Unix()), (i+1)*900)
		}
	}
}

// TestCurvesOfARun checks that every point of a chart has its times.
func TestCurvesOfARun(t *testing.T) {
	c, err := Curves(t.Context(), day(), "", engine.Clock{Start: time.Date(2030, 1, 4, 0, 0, 0, 0, time.UTC), Cycle: time.Hour})
	if err != nil || len(c.Charts) == 0 {
		t.Fatalf("%d charts, %v", len(c.Charts), err)
	}
	if n := len(c.Charts[0].Times); n == 0 || len(c.Elapsed) != n || len(c.Simulated) != n || c.Elapsed[0] <= 0 {
		t.Errorf("%d times, %d elapsed, %d simulated", n, len(c.Elapsed), len(c.Simulated))
	}
}

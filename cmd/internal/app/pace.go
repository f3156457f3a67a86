package app

import (
	"math"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
)

// Schedule gives a run by hours that has a time scale its number of cycles.
func Schedule(s *engine.Settings, sc *scenario.Scenario) {
	if s.Hours > 0 && s.TimeScale > 0 {
		s.Cycles = CyclesIn(s.Hours, s.TimeScale, sc.Clock.Cycle)
		s.Hours = 0
	}
}

// CyclesIn is how many cycles begin in some hours of wall time at a time scale: 6 hours at 24 with a cycle of an hour
// are 144.
func CyclesIn(hours, timeScale float64, cycle time.Duration) int {
	return max(int(math.Ceil(hours*timeScale*float64(time.Hour)/float64(cycle)-1e-9)), 1)
}

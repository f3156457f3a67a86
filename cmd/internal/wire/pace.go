package wire

import (
	"math"
	"time"
)

// CyclesIn is how many cycles begin in some hours of wall time at a time scale: 6 hours at 24 with a cycle of an hour
// are 144.
func CyclesIn(hours, timeScale float64, cycle time.Duration) int {
	return max(int(math.Ceil(hours*timeScale*float64(time.Hour)/float64(cycle)-1e-9)), 1)
}

package run

import (
	"testing"
	"time"
)

// TestInterruptedClockReading checks that a time is rejected if the process was interrupted between the two clock readings.
func TestInterruptedClockReading(t *testing.T) {
	at := func(wall, steady time.Duration) clocks { return clocks{time.Hour + wall, steady} }
	for _, c := range []struct {
		was, now clocks
		want     bool
	}{
		{at(0, 0), at(0, 0), true},
		{at(0, 0), at(time.Second, time.Second), true},
		{at(0, 0), at(time.Microsecond, 3*time.Microsecond), true},
		{at(0, 0), at(time.Microsecond, 27*time.Microsecond), false}, // interrupted within the second reading
		{at(0, 26*time.Microsecond), at(30*time.Microsecond, 30*time.Microsecond), false},
		{at(0, 0), at(time.Hour, time.Second), false}, // the wall clock was set
	} {
		if got := advancedEqually(c.was, c.now); got != c.want {
			t.Errorf("%v, then %v: %v, want %v", c.was, c.now, got, c.want)
		}
	}
	before := time.Now()
	if now := preciseNow(); now.Before(before) || now.After(time.Now()) {
		t.Errorf("%v is not between %v and now", now, before)
	}
}

package run

import "time"

var processStart = time.Now()

// advancedEqually reports whether both clocks advanced by the same time between two readings.
func advancedEqually(was, now clocks) bool {
	apart := (now.wall - was.wall) - (now.steady - was.steady)
	return apart.Abs() <= 2*time.Microsecond
}

// preciseNow returns the current time with both clocks read at nearly the same instant. time.Now reads one clock after the
// other. If the process is interrupted in between, differences between such times are wrong.
func preciseNow() time.Time {
	was := time.Now()
	for range 20 {
		at := time.Now()
		if advancedEqually(clocksAt(was, processStart), clocksAt(at, processStart)) {
			return at
		}
		was = at
	}
	return was
}

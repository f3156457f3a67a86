package run

import "time"

var processStart = time.Now()

// even reports whether as much time passed on both clocks between two looks.
func even(was, now clocks) bool {
	apart := (now.wall - was.wall) - (now.steady - was.steady)
	return apart.Abs() <= 2*time.Microsecond
}

// moment is now by both clocks at once. Reading the time is reading one clock after the other; where the process had to wait
// between the two, what lies between two such times is not as long as their stamps say.
func moment() time.Time {
	was := time.Now()
	for range 20 {
		at := time.Now()
		if even(clocksAt(was, processStart), clocksAt(at, processStart)) {
			return at
		}
		was = at
	}
	return was
}

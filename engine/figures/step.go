package figures

import "math"

// Step returns the smallest of 1, 2 and 5 times a power of ten that is at least raw, which is above 0: the distance of an axis' ticks.
func Step(raw float64) float64 {
	power := math.Pow10(int(math.Floor(math.Log10(raw))))
	for _, m := range [...]float64{1, 2, 5} {
		if m*power >= raw {
			return m * power
		}
	}
	return 10 * power
}

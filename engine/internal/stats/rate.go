package stats

import (
	"fmt"
	"strconv"
)

// PerSecond formats a rate per second with three significant digits and without an exponent.
func PerSecond(rate float64) string {
	three, _ := strconv.ParseFloat(fmt.Sprintf("%.3g", rate), 64) // always a number
	return strconv.FormatFloat(three, 'f', -1, 64) + "/s"
}

// Package duration parses and formats durations as users write them.
package duration

import (
	"fmt"
	"strconv"
	"time"

	"github.com/throng-sim/throng/engine/internal/doc"
)

// Parse parses a duration from a flag, variable or order: a number of seconds, or text such as 90s, 1h30m or 1d.
// Negative or malformed values, and durations over 292 years, return an error that describes the format.
func Parse(text string) (time.Duration, error) {
	if d, err := doc.ParseDuration(text); err == nil {
		return d, nil
	}
	d, err := time.ParseDuration(text)
	if seconds, ferr := strconv.ParseFloat(text, 64); ferr == nil && seconds >= 0 && seconds < longestSeconds {
		d, err = time.Duration(seconds*float64(time.Second)), nil
	}
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not a duration, such as 90, 90s or 2m", text)
	}
	return d, nil
}

// Format writes a duration as a person types it, such as 1h30m or 5m. [Parse] reads it.
func Format(d time.Duration) string { return doc.FormatDuration(d) }

// longestSeconds is the longest time.Duration in seconds.
const longestSeconds = (1<<63 - 1) / 1e9

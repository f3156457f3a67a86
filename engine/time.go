package engine

import (
	"fmt"
	"strconv"
	"time"

	"github.com/throng-sim/throng/engine/internal/doc"
)

// ParseTime reads a length of time as flags, variables and orders give it: a number of seconds, or a text such as 90s,
// 1h30m or 1d. It is never negative; what is no time, or longer than 292 years, is an error that says what is wanted.
func ParseTime(text string) (time.Duration, error) {
	if d, err := doc.ParseDuration(text); err == nil {
		return d, nil
	}
	d, err := time.ParseDuration(text)
	if seconds, ferr := strconv.ParseFloat(text, 64); ferr == nil && seconds >= 0 && seconds < longestSeconds {
		d, err = time.Duration(seconds*float64(time.Second)), nil
	}
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not a time, such as 90, 90s or 2m", text)
	}
	return d, nil
}

// longestSeconds is what a time.Duration can hold.
const longestSeconds = (1<<63 - 1) / 1e9

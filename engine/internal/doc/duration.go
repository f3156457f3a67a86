package doc

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// units are the units of a duration, longest names first where one starts another.
var units = []struct {
	name string
	size time.Duration
}{
	{"ms", time.Millisecond},
	{"us", time.Microsecond},
	{"µs", time.Microsecond},
	{"ns", time.Nanosecond},
	{"d", 24 * time.Hour},
	{"h", time.Hour},
	{"m", time.Minute},
	{"s", time.Second},
}

var errDuration = errors.New("a duration is a number of seconds, or like 500ms, 2m, 1h30m, 1d")

// ParseDuration reads a duration as files and flags write it: a number of seconds, or numbers with units (d, h, m,
// s, ms, us, ns). It is never negative; one longer than 292 years is an error.
func ParseDuration(text string) (time.Duration, error) {
	if n, err := decimal(text); err == nil {
		return scaled(n, time.Second)
	}
	rest, total := text, time.Duration(0)
	for rest != "" {
		end := strings.IndexFunc(rest, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
		if end < 1 {
			return 0, errDuration
		}
		n, err := decimal(rest[:end])
		if err != nil {
			return 0, errDuration
		}
		size := time.Duration(0)
		for _, unit := range units {
			if after, ok := strings.CutPrefix(rest[end:], unit.name); ok {
				size, rest = unit.size, after
				break
			}
		}
		if size == 0 {
			return 0, errDuration
		}
		part, err := scaled(n, size)
		if err != nil || total > math.MaxInt64-part {
			return 0, errDuration
		}
		total += part
	}
	if text == "" {
		return 0, errDuration
	}
	return total, nil
}

// FormatDuration writes a duration as a person types it, such as 1h30m or 5m. ParseDuration reads it.
func FormatDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// decimal reads a number without sign, exponent, base or underscore.
func decimal(text string) (float64, error) {
	if strings.Trim(text, "0123456789.") != "" {
		return 0, errDuration
	}
	return strconv.ParseFloat(text, 64)
}

func scaled(n float64, unit time.Duration) (time.Duration, error) {
	d := math.Round(n * float64(unit))
	if d >= math.MaxInt64 {
		return 0, errDuration
	}
	return time.Duration(d), nil
}

package report

import (
	"math"
	"strconv"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
)

// unit defines how the values of a chart are formatted, and where ticks are.
type unit struct {
	text  func(v float64) string
	steps []float64
	of    view.Unit
}

var (
	counts = unit{func(v float64) string {
		if v == math.Trunc(v) {
			return engine.FormatCount(int64(v))
		}
		return digits(v)
	}, decimalSteps, view.Number}
	wholes    = unit{counts.text, wholeSteps(), view.Number}
	percents  = unit{func(v float64) string { return digits(v) + "%" }, decimalSteps, view.Percent}
	sizes     = unit{sizeText, decimalSteps, view.Bytes}
	dollars   = unit{func(v float64) string { return engine.FormatDollars(int64(math.Round(v * 1e9))) }, decimalSteps, view.Number}
	durations = unit{func(v float64) string { return durationText(time.Duration(v * float64(time.Second))) }, durationSteps(), view.Seconds}
)

// digits formats a number with three digits, or with all digits before the decimal point.
func digits(v float64) string {
	if v >= 999.5 {
		return engine.FormatCount(int64(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// durationText formats a duration with its significant digits.
func durationText(d time.Duration) string {
	d = d.Round(time.Microsecond)
	switch {
	case d < 999500*time.Microsecond: // formatted as a second
		for _, u := range []struct {
			of   time.Duration
			name string
		}{{time.Millisecond, " ms"}, {time.Microsecond, " µs"}} {
			if d >= u.of {
				return digits(float64(d)/float64(u.of)) + u.name
			}
		}
		return "0"
	case d < time.Minute:
		return digits(d.Seconds()) + " s"
	default:
		return engine.FormatDuration(d)
	}
}

func sizeText(v float64) string {
	for _, u := range []struct {
		of   float64
		name string
	}{{1e9, " GB"}, {1e6, " MB"}, {1e3, " kB"}} {
		if v >= u.of {
			return digits(v/u.of) + u.name
		}
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// wholeSteps are the steps of integers.
func wholeSteps() (all []float64) {
	for _, s := range decimalSteps {
		if s >= 1 {
			all = append(all, s)
		}
	}
	return all
}

// durationSteps are decimal below a minute, and above it those of clocks; all in seconds.
func durationSteps() (all []float64) {
	for _, s := range decimalSteps {
		if s <= 20 {
			all = append(all, s)
		}
	}
	for _, s := range timeSteps {
		if s >= 30*time.Second {
			all = append(all, s.Seconds())
		}
	}
	return all
}

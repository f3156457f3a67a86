package findings

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine/experiment/statistics"
	"github.com/throng-sim/throng/engine/figures"
)

// Unknown stands for a figure that is not known.
const Unknown = "-"

// Brief returns the name of a factor, or the label of a point, without the kinds of factors, such as params.
func Brief(name string) string { return brief.Replace(name) }

var brief = strings.NewReplacer("params.", "", "settings.", "", "service.", "")

// digits is the number of significant digits of a figure; intervals are rarely known better.
const digits = 3

// Text returns a figure with three significant digits, and all digits before the decimal point; [Unknown] for NaN and infinities.
func Text(v float64) string {
	size := math.Abs(v)
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return Unknown
	case size >= 1e15 || size < 1e-9:
		return strconv.FormatFloat(v+0, 'g', digits, 64) // 0 has no sign
	case size >= 999.5:
		return figures.Count(int64(math.Round(v)))
	}
	text := strconv.FormatFloat(v, 'f', max(digits-1-int(math.Floor(math.Log10(size))), 0), 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// Tick returns the label of a place on an axis. It has enough digits for steps between neighbors.
func Tick(v float64) string {
	if size := math.Abs(v); size >= 1e4 && size < 1e7 && v == math.Trunc(v) {
		return figures.Count(int64(v))
	}
	return strconv.FormatFloat(v+0, 'g', 4, 64)
}

// Signed returns a difference with its sign, such as +1.5; 0 has none.
func Signed(v float64) string {
	if v > 0 && !math.IsInf(v, 0) {
		return "+" + Text(v)
	}
	return Text(v)
}

// Range returns a figure with its interval, such as 1.5 [1.2, 1.8], or without one that is unknown.
func Range(v float64, i statistics.Interval) string {
	if !i.Known() {
		return Text(v)
	}
	return fmt.Sprintf("%s [%s, %s]", Text(v), Text(i.Low), Text(i.High))
}

// Change returns a difference with its interval.
func Change(d *statistics.Difference) string {
	if d.Same {
		return "none in any run"
	}
	return Range(d.Value, d.Interval)
}

// AtMost returns the largest size of a difference that its interval leaves possible; NaN if the interval is unknown.
func AtMost(d *statistics.Difference) float64 {
	return math.Max(math.Abs(d.Interval.Low), math.Abs(d.Interval.High))
}

// Chance returns a p-value.
func Chance(p float64) string {
	switch {
	case math.IsNaN(p):
		return Unknown
	case p < 0.001:
		return "< 0.001"
	}
	return strconv.FormatFloat(p, 'f', 3, 64)
}

// Saved returns how many runs it saved that both points had the same seeds.
func Saved(d *statistics.Difference) string {
	n := d.Pairing.Saved
	if !d.Pairing.Used || math.IsNaN(n) || math.IsInf(n, 0) {
		return Unknown
	}
	return fmt.Sprintf("%.0f runs", n)
}

// Text returns a value of the measure with its unit.
func (m *Measure) Text(v float64) string { return InUnit(v, m.Unit) }

// Range returns a value of the measure with its unit and its interval, such as 1.5 s [1.2, 1.8].
func (m *Measure) Range(v float64, i statistics.Interval) string {
	if !i.Known() {
		return m.Text(v)
	}
	return fmt.Sprintf("%s [%s, %s]", m.Text(v), Text(i.Low), Text(i.High))
}

// InUnit returns a figure with its unit, such as 1.5 s, $2 or 12%.
func InUnit(v float64, unit string) string {
	text := Text(v)
	switch {
	case unit == "" || text == Unknown:
		return text
	case unit == "$" && v < 0:
		return "-$" + text[1:]
	case unit == "$":
		return "$" + text
	case unit == percent:
		return text + percent
	default:
		return text + " " + unit
	}
}

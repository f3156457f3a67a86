package findings

import (
	"fmt"
	"math"
	"strconv"

	"github.com/throng-sim/throng/engine/experiment/statistics"
)

// Unknown stands for a figure that is not known.
const Unknown = "-"

// Text returns a figure with four digits; [Unknown] for NaN and infinities.
func Text(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Unknown
	}
	return strconv.FormatFloat(v+0, 'g', 4, 64) // 0 has no sign
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
func (m *Measure) Text(v float64) string { return m.in(v, Text(v)) }

// Range returns a value of the measure with its unit and its interval, such as 1.5 s [1.2, 1.8].
func (m *Measure) Range(v float64, i statistics.Interval) string {
	if !i.Known() {
		return m.Text(v)
	}
	return fmt.Sprintf("%s [%s, %s]", m.Text(v), Text(i.Low), Text(i.High))
}

// in adds the unit to the text of a value.
func (m *Measure) in(v float64, text string) string {
	switch {
	case m.Unit == "" || text == Unknown:
		return text
	case m.Unit == "$" && v < 0:
		return "-$" + text[1:]
	case m.Unit == "$":
		return "$" + text
	default:
		return text + " " + m.Unit
	}
}

package compare

import (
	"fmt"
	"math"

	"github.com/throng-sim/throng/engine/experiment/statistics"
)

// Title describes what a kind of measures measures.
func (k Kind) Title() string {
	switch k {
	case Ended, Acted:
		return "share of sessions"
	case PerSession:
		return "per session"
	case Value:
		return "mean of a number in events"
	default:
		return "time (not a result)"
	}
}

// number formats a value of a kind, with a sign if it is a difference.
func (k Kind) number(x float64, signed bool) string {
	form := "%.4g"
	if k.Share() {
		x, form = 100*x, "%.2f"
	}
	if signed {
		form = "%+" + form[1:]
	}
	return fmt.Sprintf(form, x)
}

// unit returns the unit of a value or a difference. It follows the first number of an estimate.
func (k Kind) unit(signed bool) string {
	switch {
	case !k.Share():
		return ""
	case signed:
		return " points"
	default:
		return "%"
	}
}

// Value returns the measure of a group as text, with its interval if it is known.
func (r *Row) Value(group int) string {
	e := &r.Of[group]
	return r.Kind.text(e.Mean, e.Interval, false)
}

func (k Kind) text(mean float64, i statistics.Interval, signed bool) string {
	if math.IsNaN(mean) {
		return "none"
	}
	text := k.number(mean, signed) + k.unit(signed)
	if !i.Known() || i.Low == i.High {
		return text
	}
	return fmt.Sprintf("%s (%s to %s)", text, k.number(i.Low, signed), k.number(i.High, signed))
}

// Difference returns the difference of a group from the first as text. other is the index in [Row.Against].
func (r *Row) Difference(other int) string {
	d := &r.Against[other]
	if d.Same {
		return "the same"
	}
	return r.Kind.text(d.Value, d.Interval, true)
}

// Chance returns the probability of such a difference by chance as text, corrected for all measures and groups; "" if it is certain that
// nothing differs. other is the index in [Row.Against].
func (r *Row) Chance(other int) string {
	d := &r.Against[other]
	switch {
	case d.Same:
		return ""
	case math.IsNaN(d.Adjusted):
		return "unknown"
	case d.Adjusted < 0.001:
		return "< 0.001"
	default:
		return fmt.Sprintf("%.3f", d.Adjusted)
	}
}

// Method describes how groups are compared. runs is the number of runs of the smallest group.
func (u Units) Method(runs int) string {
	const corrected = "; p is corrected for all measures (Holm) and runs (Dunnett)"
	switch {
	case u.Agents && u.Paired:
		return "The unit is the agent, because agents of this scenario share nothing: each is compared with itself (paired t-test)" + corrected + "."
	case u.Agents:
		return "The unit is the agent, because agents of this scenario share nothing. Seeds or numbers of agents differ, so means are compared (Welch's t-test)" + corrected + "."
	case runs < 2:
		return "Agents of one run share its chance, so a single run cannot tell a difference from chance: no interval and no p. Compare several seeds."
	case u.Paired && runs <= statistics.MaxSignFlip:
		return "The unit is the run; runs with the same seed are compared with each other (exact sign-flip test; times by ranks)" + corrected +
			fmt.Sprintf(". So few seeds rarely reach significance in so many measures; %d or more do.", statistics.MaxSignFlip+1)
	case u.Paired:
		return "The unit is the run; runs with the same seed are compared with each other (paired t-test; times by ranks)" + corrected + "."
	default:
		return "The unit is the run; the seeds differ, so means are compared (Welch's t-test; times by ranks)" + corrected + "."
	}
}

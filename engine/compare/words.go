package compare

import (
	"fmt"
	"math"
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

// Text formats an estimate of a measure of a kind, with its bounds.
func (v Interval) Text(k Kind) string { return v.text(k, false) }

func (v Interval) text(k Kind, signed bool) string {
	if math.IsNaN(v.Mean) {
		return "none"
	}
	text := k.number(v.Mean, signed) + k.unit(signed)
	if math.IsNaN(v.Low) || v.Low == v.High {
		return text
	}
	return fmt.Sprintf("%s (%s to %s)", text, k.number(v.Low, signed), k.number(v.High, signed))
}

// Text formats a difference in a measure of a kind.
func (d *Difference) Text(k Kind) string {
	if d.Same {
		return "the same"
	}
	return d.text(k, true)
}

// Chance formats the probability of such a difference by chance, over all measures; "" if there is none.
func (d *Difference) Chance() string {
	switch {
	case d.Same:
		return ""
	case math.IsNaN(d.Adjusted):
		return "not known"
	case d.Adjusted < 0.001:
		return "< 0.001"
	default:
		return fmt.Sprintf("%.3f", d.Adjusted)
	}
}

// Method describes how runs are compared.
func Method(paired bool) string {
	way := "each agent is compared with itself, if both runs have a value for it (paired t-test)"
	if !paired {
		way = "the seed or the number of agents differs, so the agents' means are compared (Welch's t-test)"
	}
	return way + "; p is corrected for the number of measures (Holm); shares have Wilson's intervals"
}

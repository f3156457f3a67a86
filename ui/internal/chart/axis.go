package chart

import "math"

const (
	// An axis shrinks immediately if less than shrinkNow of it is used, and after shrinkAfter seconds below shrinkSoon.
	shrinkNow   = 0.4
	shrinkSoon  = 0.5
	shrinkAfter = 10.0

	// A limit this many times above the data is hidden. It reappears below showLimit times.
	hideLimit = 4.0
	showLimit = 3.0
)

// axis is the vertical range of a chart. It grows immediately and shrinks late, so that it does not flicker.
type axis struct {
	unit    Unit
	floor   float64 // the lowest value in view
	ceiling float64 // the highest top; 0 if there is none
	always  bool    // the limit is always in view

	extent
	step       float64
	limitShown bool
	parts      int     // the number of steps for the height
	fitted     bool    // to data
	lowSince   float64 // Unix seconds; 0 if enough of the range is used
}

// fit adapts the range to the highest value in view, the limit and the number of steps for the height. Both values may be NaN.
func (a *axis) fit(highest, limit, now float64, parts int) {
	if a.ceiling > 0 && limit > a.ceiling {
		limit = math.NaN()
	}
	a.showLimit(highest, limit)
	need, known := highest, !math.IsNaN(highest)
	if a.limitShown {
		need = max(limit, orZero(highest))
	} else if !known {
		need = units[a.unit].empty
	}
	used := (need - a.bottom) / (a.top - a.bottom)
	switch {
	case a.step == 0 || parts != a.parts || known && !a.fitted || need > a.top || used < shrinkNow:
		a.set(need, parts)
	case used >= shrinkSoon:
		a.lowSince = 0
	case a.lowSince == 0:
		a.lowSince = now
	case now-a.lowSince >= shrinkAfter:
		a.set(need, parts)
	}
	a.fitted = known
}

// showLimit decides whether the limit is in view.
func (a *axis) showLimit(highest, limit float64) {
	times := showLimit
	if a.limitShown {
		times = hideLimit
	}
	switch {
	case math.IsNaN(limit):
		a.limitShown = false
	case a.always || math.IsNaN(highest):
		a.limitShown = true
	default:
		a.limitShown = limit <= times*highest
	}
}

// set sets the top to the first round tick at or above a value, at least two steps above the bottom.
func (a *axis) set(need float64, parts int) {
	a.parts, a.lowSince = parts, 0
	if need <= a.floor {
		need = a.floor + units[a.unit].empty
	}
	a.step = a.unit.step((need - a.floor) / float64(parts))
	a.bottom = math.Floor(a.floor/a.step+1e-9) * a.step
	steps := math.Ceil((need-a.bottom)/a.step - 1e-9)
	a.top = a.bottom + max(steps, 2)*a.step
	if a.ceiling > 0 {
		a.top = min(a.top, a.ceiling)
	}
}

// ticks returns the number of ticks; tick i is at bottom + i steps.
func (a *axis) ticks() int {
	if a.log {
		return int(math.Floor(math.Log10(a.top/a.bottom)/a.step+1e-9)) + 1
	}
	return int(math.Floor((a.top-a.bottom)/a.step+1e-9)) + 1
}

func (a *axis) tick(i int) float64 {
	if a.log {
		return a.bottom * math.Pow(10, float64(i)*a.step)
	}
	return a.bottom + float64(i)*a.step
}

func orZero(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

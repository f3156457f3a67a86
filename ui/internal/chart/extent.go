package chart

import "math"

// extent is the range of an axis, from bottom to top, in equal steps or in equal factors.
type extent struct {
	bottom, top float64
	log         bool
}

// share returns where a value is between the bottom, 0, and the top, 1. On a logarithmic axis values up to 0 are at the bottom.
func (s *extent) share(v float64) float32 {
	if s.log {
		v = max(v, s.bottom)
		return float32(math.Log(v/s.bottom) / math.Log(s.top/s.bottom))
	}
	return float32((v - s.bottom) / (s.top - s.bottom))
}

// mostDecades is the largest range of a logarithmic axis: smaller values are at its bottom.
const mostDecades = 9

// setLog sets the range of a logarithmic axis to powers of ten around the values in view. Either may be NaN.
func (a *axis) setLog(lowest, highest float64, parts int) {
	if !(highest > 0) {
		highest = units[a.unit].empty
	}
	if !(lowest > 0) {
		lowest = highest / 100
	}
	first, last := math.Floor(math.Log10(lowest)+1e-9), math.Ceil(math.Log10(highest)-1e-9)
	first = max(min(first, last-1), last-mostDecades)
	a.bottom, a.top = math.Pow(10, first), math.Pow(10, last)
	a.step = math.Ceil((last - first) / float64(max(parts, 1))) // in powers of ten
	a.parts, a.lowSince, a.limitShown = parts, 0, false
}

// SetLog shows the values on a logarithmic axis, or on an ordinary one. A stack has no logarithmic axis, on which the height of an area means
// nothing.
func (c *Chart) SetLog(log bool) {
	if c.axis.log == log || c.config.Stack {
		return
	}
	c.axis.log, c.axis.step = log, 0
	c.arrange()
	c.raster.Refresh()
}

// Log reports whether the axis is logarithmic.
func (c *Chart) Log() bool { return c.axis.log }

// lowest returns the lowest value above 0 in view, or NaN.
func (c *Chart) lowest() float64 {
	low := math.NaN()
	for i, values := range c.plot.values {
		for _, v := range values {
			if !c.hidden(i) && v > 0 && !(v >= low) {
				low = v
			}
		}
	}
	return low
}

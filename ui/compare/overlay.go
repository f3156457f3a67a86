package compare

import (
	"math"
	"slices"
	"time"

	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/chart"
)

// The axes of the chart.
const (
	overCycles = iota
	overElapsed
	overSimulated
)

var axes = []string{"Cycles", "Elapsed", "Simulated"}

// points is the number of points of a line.
const points = 600

// overlay is a figure of several runs over a common time.
type overlay struct {
	name string
	unit chart.Unit
	data chart.Data
}

// viewUnits are the units of charts over time.
var viewUnits = map[view.Unit]chart.Unit{view.Number: chart.Count, view.Percent: chart.Percent, view.Bytes: chart.Bytes, view.Seconds: chart.Duration}

// overlays returns every figure that one of the runs has, over elapsed or simulated time.
func overlays(runs []*view.Curves, simulated bool) (all []overlay) {
	from, to := math.Inf(1), math.Inf(-1)
	zone := time.UTC
	for _, r := range runs {
		times := timesOf(r, simulated)
		if len(times) > 0 {
			from, to = min(from, times[0]), max(to, times[len(times)-1])
		}
		if simulated && r.Zone != nil {
			zone = r.Zone
		}
	}
	if !simulated {
		from = 0
	}
	if !(from < to) {
		return nil
	}
	grid := make([]float64, points)
	for i := range grid {
		grid[i] = from + (to-from)*float64(i)/(points-1)
	}
	for _, r := range runs {
		for _, c := range r.Charts {
			for _, line := range c.Lines {
				name := c.Title
				if len(c.Lines) > 1 {
					name += ", " + line
				}
				if slices.ContainsFunc(all, func(o overlay) bool { return o.name == name }) {
					continue
				}
				o := overlay{name: name, unit: viewUnits[c.Unit], data: chart.Data{Times: grid, From: moment(from).In(zone), To: moment(to).In(zone)}}
				for _, each := range runs {
					o.data.Values = append(o.data.Values, sampled(timesOf(each, simulated), valuesOf(each, c.Title, line), grid))
				}
				all = append(all, o)
			}
		}
	}
	return all
}

func moment(seconds float64) time.Time { return time.UnixMicro(int64(seconds * 1e6)) }

func timesOf(r *view.Curves, simulated bool) []float64 {
	if simulated {
		return r.Simulated
	}
	return r.Elapsed
}

// valuesOf returns a line of a run; nil if the run lacks it.
func valuesOf(r *view.Curves, title, line string) []float64 {
	for _, c := range r.Charts {
		if i := slices.Index(c.Lines, line); c.Title == title && i >= 0 {
			return c.Values[i]
		}
	}
	return nil
}

// sampled returns the values at the times of a grid: the mean of the values around a time or, between values, a line through them.
func sampled(times, values, grid []float64) []float64 {
	out := make([]float64, len(grid))
	half := (grid[1] - grid[0]) / 2
	i := 0
	last := -1 // index of the last known value before the grid's time
	for k, at := range grid {
		out[k] = math.NaN()
		sum, n := 0.0, 0
		for ; i < len(values) && i < len(times) && times[i] < at+half; i++ {
			if math.IsNaN(values[i]) {
				continue
			}
			last = i
			if times[i] >= at-half {
				sum, n = sum+values[i], n+1
			}
		}
		switch {
		case n > 0:
			out[k] = sum / float64(n)
		case last >= 0:
			if next := known(values, i); next >= 0 && next < len(times) && times[next] > times[last] {
				share := (at - times[last]) / (times[next] - times[last])
				out[k] = values[last] + share*(values[next]-values[last])
			}
		}
	}
	return out
}

// known returns the index of the first known value from i on, or -1.
func known(values []float64, i int) int {
	for ; i < len(values); i++ {
		if !math.IsNaN(values[i]) {
			return i
		}
	}
	return -1
}

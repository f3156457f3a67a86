package report

import (
	"math"
	"time"
)

// columnsDrawn is the number of columns of a line. The smallest and the largest value of each column are drawn.
const columnsDrawn = 360

// point is a value at its time.
type point struct {
	at time.Duration
	v  float64
}

// extent are the smallest and the largest value of a column.
type extent struct {
	least, most point
	some        bool
}

// line is a value over time, reduced to its extremes.
type line struct {
	axis    *axis
	columns [columnsDrawn]extent
	most    float64
	look    string
}

func newLine(x *axis) *line { return &line{axis: x} }

func (l *line) empty() bool {
	for i := range l.columns {
		if l.columns[i].some {
			return false
		}
	}
	return true
}

func (l *line) add(at time.Duration, v float64) {
	i := min(int(l.axis.share(at)*columnsDrawn), columnsDrawn-1)
	e := &l.columns[i]
	p := point{at, v}
	if !e.some {
		*e = extent{p, p, true}
	}
	if v < e.least.v {
		e.least = p
	}
	if v > e.most.v {
		e.most = p
	}
	l.most = max(l.most, v)
}

// pieces returns the points of the line, divided at long gaps.
func (l *line) pieces() (all [][]point) {
	apart := max(15*time.Second, l.axis.length()/50)
	var piece []point
	add := func(p point) {
		if n := len(piece); n > 0 && (p.at-piece[n-1].at > apart || l.cutBetween(piece[n-1].at, p.at)) {
			all, piece = append(all, piece), nil
		}
		piece = append(piece, p)
	}
	for i := range l.columns {
		switch e := &l.columns[i]; {
		case !e.some:
		case e.least == e.most:
			add(e.least)
		case e.least.at < e.most.at:
			add(e.least)
			add(e.most)
		default:
			add(e.most)
			add(e.least)
		}
	}
	if len(piece) > 0 {
		all = append(all, piece)
	}
	return all
}

func (l *line) cutBetween(from, to time.Duration) bool {
	for _, c := range l.axis.cuts {
		if from <= c.at && c.at < to {
			return true
		}
	}
	return false
}

// scale returns the upper end of an axis, and round numbers for its ticks.
func scale(most float64, steps []float64) (top float64, ticks []float64) {
	const least = 3 // minimum number of intervals
	if most <= 0 {
		most = 1
	}
	step := steps[len(steps)-1]
	for _, s := range steps {
		if most/s <= least+1 {
			step = s
			break
		}
	}
	top = math.Ceil(most/step-1e-9) * step
	for i := 0; float64(i)*step <= top*(1+1e-9); i++ {
		ticks = append(ticks, float64(i)*step)
	}
	return top, ticks
}

// decimalSteps are 1, 2 and 5 times all powers of ten.
var decimalSteps = func() (all []float64) {
	for e := -9; e <= 15; e++ {
		for _, s := range []float64{1, 2, 5} {
			all = append(all, s*math.Pow10(e))
		}
	}
	return all
}()

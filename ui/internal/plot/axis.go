package plot

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine/figures"
	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// axis maps values to a range of pixels. The range of a vertical axis ends above its beginning.
type axis struct {
	low, high float64
	log       bool
	from, to  float32
	limit     float32 // of the texts of a horizontal axis, at the right
	unit      string
	ticks     []float64
	texts     []string
}

// extent is the range of values that an axis must hold.
type extent struct{ low, high float64 }

func newExtent() extent { return extent{math.Inf(1), math.Inf(-1)} }

// add makes room for values that are numbers.
func (e *extent) add(values ...float64) {
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			e.low, e.high = min(e.low, v), max(e.high, v)
		}
	}
}

// newAxis returns an axis that holds an extent with a margin at both ends, as a share of it.
func newAxis(e extent, margin float64, log bool, unit string) axis {
	if e.low > e.high {
		e = extent{0, 1}
	}
	a := axis{log: log && e.low > 0, unit: unit}
	if a.log {
		span := max(math.Log(e.high/e.low), 0.1) * margin
		a.low, a.high = e.low*math.Exp(-span), e.high*math.Exp(span)
		return a
	}
	span := e.high - e.low
	if span == 0 {
		span = max(math.Abs(e.high), 1)
	}
	a.low, a.high = e.low-span*margin, e.high+span*margin
	return a
}

// at returns where a value is.
func (a *axis) at(v float64) float32 {
	share := (v - a.low) / (a.high - a.low)
	if a.log {
		share = math.Log(max(v, a.low/10)/a.low) / math.Log(a.high/a.low)
	}
	return a.from + float32(share)*(a.to-a.from)
}

// upright places the ticks of a vertical axis, and returns the width of their texts.
func (a *axis) upright(bottom, top float32) (width float32) {
	a.from, a.to = bottom, top
	a.choose(min(max(int((bottom-top)/(tickApart*em())), 2), mostTicks))
	for _, text := range a.texts {
		width = max(width, widthOf(text).Width)
	}
	return width
}

// level places the ticks of a horizontal axis: as many as keep a distance between their texts.
func (a *axis) level(left, right float32) {
	a.from, a.to = left, right
	for parts := mostTicks; parts > 0; parts-- {
		if a.choose(parts); a.apart() {
			return
		}
	}
	a.ticks, a.texts = a.ticks[:0], a.texts[:0]
}

// mark makes values with names the ticks of a horizontal axis, and reports whether there is room.
func (a *axis) mark(left, right float32, values []float64, names []string) bool {
	a.from, a.to = left, right
	a.ticks, a.texts = append(a.ticks[:0], values...), append(a.texts[:0], names...)
	return len(values) > 0 && a.apart()
}

// apart reports whether the texts of a horizontal axis keep a distance.
func (a *axis) apart() bool {
	end := float32(math.Inf(-1))
	for i, text := range a.texts {
		half := widthOf(text).Width / 2
		if a.at(a.ticks[i])-half < end || a.at(a.ticks[i])+half > a.limit {
			return false
		}
		end = a.at(a.ticks[i]) + half + textGap*em()
	}
	return true
}

const (
	mostTicks = 7
	tickApart = 34 // of a vertical axis, for text of the usual size
	textGap   = 12 // between texts next to each other
)

// choose chooses round ticks at distances of at least a part of the range.
func (a *axis) choose(parts int) {
	a.ticks, a.texts = a.ticks[:0], a.texts[:0]
	if a.log && a.high/a.low >= 8 {
		a.chooseLog(parts)
		return
	}
	step := figures.Step((a.high - a.low) / float64(parts))
	for i := math.Ceil(a.low/step - 1e-9); i*step <= a.high+step*1e-9; i++ {
		a.ticks = append(a.ticks, i*step+0) // no negative zero
		a.texts = append(a.texts, tickText(i*step, step, a.unit))
	}
}

// chooseLog chooses powers of ten, and twice and five times them if there are few.
func (a *axis) chooseLog(parts int) {
	first, last := math.Floor(math.Log10(a.low)), math.Ceil(math.Log10(a.high))
	by := max(math.Ceil((last-first)/float64(parts)), 1)
	factors := []float64{1}
	if int(last-first)*3 <= parts+3 {
		factors = []float64{1, 2, 5}
	}
	for power := first; power <= last; power += by {
		for _, f := range factors {
			if v := f * math.Pow10(int(power)); v >= a.low*(1-1e-9) && v <= a.high*(1+1e-9) {
				a.ticks = append(a.ticks, v)
				a.texts = append(a.texts, tickText(v, v, a.unit))
			}
		}
	}
}

// multiple is the size of numbers on an axis from a magnitude on.
type multiple struct {
	from, size float64
	name       string
}

var multiples = []multiple{{1e9, 1e9, " G"}, {1e6, 1e6, " M"}, {1e4, 1e3, " k"}, {0, 1, ""}}

// tickText formats a tick with the digits that a step needs.
func tickText(v, step float64, unit string) string {
	amount := math.Abs(v)
	if amount < step*1e-9 {
		return inUnit("0", unit)
	}
	m := multiples[slices.IndexFunc(multiples, func(m multiple) bool { return amount >= m.from*(1-1e-9) })]
	digits := max(-int(math.Floor(math.Log10(step/m.size)+1e-9)), 0)
	text := strconv.FormatFloat(amount/m.size, 'f', min(digits, 12), 64)
	switch {
	case digits == 0:
		text = figures.Count(int64(math.Round(amount / m.size)))
	case m.size > 1:
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	if text = inUnit(text+m.name, unit); v < 0 {
		return "-" + text
	}
	return text
}

// inUnit adds a unit to the text of an amount.
func inUnit(text, unit string) string {
	switch unit {
	case "":
		return text
	case "$":
		return unit + text
	case "%":
		return text + unit
	default:
		return text + " " + unit
	}
}

// under writes the texts of a horizontal axis below it, and those of an upright one left of it.
func (s *sheet) under(a *axis, y float32) {
	for i, text := range a.texts {
		s.write(text, a.at(a.ticks[i]), y, 0.5, widgets.ColorMuted)
	}
}

func (s *sheet) leftOf(a *axis, x float32) {
	for i, text := range a.texts {
		s.write(text, x, a.at(a.ticks[i])-lineHeight()/2, 1, widgets.ColorMuted)
	}
}

// gridX draws a line at each tick of a horizontal axis, and a stronger one at 0.
func (b *brush) gridX(a *axis, top, bottom float32) {
	for _, v := range a.ticks {
		b.rect(a.at(v)-0.5, top, a.at(v)+0.5, bottom, chart.Ink(chart.ColorGrid))
	}
	if a.low <= 0 && a.high >= 0 && !a.log {
		b.rect(a.at(0)-0.5, top, a.at(0)+0.5, bottom, chart.Ink(theme.ColorNamePlaceHolder))
	}
}

// gridY draws a line at each tick of an upright axis, and a stronger one at 0.
func (b *brush) gridY(a *axis, left, right float32) {
	for _, v := range a.ticks {
		ink := chart.Ink(chart.ColorGrid)
		if v == 0 {
			ink = chart.Ink(theme.ColorNamePlaceHolder)
		}
		b.rect(left, a.at(v)-0.5, right, a.at(v)+0.5, ink)
	}
}

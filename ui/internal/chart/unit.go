package chart

import (
	"math"
	"strconv"
	"time"

	"github.com/throng-sim/throng/engine/figures"
)

// Unit is the unit of a chart's values. It determines their text and the steps of an axis.
type Unit int

// The units. Values of a Duration chart are seconds; those of a Percent chart go to 100.
const (
	Count Unit = iota
	PerSecond
	Percent
	Bytes
	Duration
)

// measure is a multiple of a unit: from a magnitude on, values are divided by size and followed by name.
type measure struct {
	from, size float64
	name       string
}

// units lists, by Unit, the measures by size, the steps that are not 1, 2 or 5 times a power of ten, the smallest step, the top of an axis
// without data, a fixed top, the text next to the title, and the name of the base unit.
var units = [...]struct {
	measures []measure
	steps    []float64
	least    float64
	empty    float64
	ceiling  float64
	word     string
	base     string // name of the base unit
}{
	Count: {
		measures: []measure{{0, 1, ""}, {1e3, 1e3, " k"}, {1e6, 1e6, " M"}, {1e9, 1e9, " G"}},
		least:    1, empty: 10,
	},
	PerSecond: {
		measures: []measure{{0, 1, "/s"}, {1e3, 1e3, " k/s"}, {1e6, 1e6, " M/s"}},
		empty:    10, base: "1/s",
	},
	Percent: {
		measures: []measure{{0, 1, "%"}},
		steps:    []float64{1, 2, 5, 10, 25, 50, 100},
		empty:    100, ceiling: 100, word: "%", base: "%",
	},
	Bytes: {
		measures: []measure{
			{0, 1, " B"}, {1e3, 1e3, " kB"}, {1e6, 1e6, " MB"}, {1e9, 1e9, " GB"}, {1e12, 1e12, " TB"},
		},
		least: 1, empty: 100e6, base: "bytes",
	},
	Duration: {
		measures: []measure{
			{0, 1e-6, " µs"},
			{1e-3, 1e-3, " ms"},
			{1, 1, " s"},
			{120, 60, " min"},
			{7200, 3600, " h"},
			{172800, 86400, " days"},
		},
		steps: []float64{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 18000, 36000, 86400},
		least: 1e-6, empty: 0.1, base: "s",
	},
}

// appendValue appends a value with its unit and two or three significant digits, so that the text seldom changes.
func (u Unit) appendValue(b []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(b, "–"...)
	}
	switch {
	case v < 0 || v > 1e18:
	case u == Duration && v < math.MaxInt64/1e9:
		return figures.AppendDuration(b, time.Duration(math.Round(v*1e9)))
	case u == Bytes:
		return figures.AppendBytes(b, int64(math.Round(v)))
	case u == PerSecond:
		return figures.AppendPerSecond(b, v)
	}
	measures := units[u].measures
	i := u.measureAt(v)
	x := roundShort(v / measures[i].size)
	if i+1 < len(measures) && math.Abs(x)*measures[i].size >= measures[i+1].from {
		i++
		x = roundShort(v / measures[i].size)
	}
	b = strconv.AppendFloat(b, x, 'f', -1, 64)
	return append(b, measures[i].name...)
}

// appendTick appends a value of an axis with all its digits, because there are few.
func (u Unit) appendTick(b []byte, v float64) []byte {
	if v == 0 {
		return append(b, '0')
	}
	m := units[u].measures[u.measureAt(v)]
	b = strconv.AppendFloat(b, math.Round(v/m.size*1e6)/1e6, 'f', -1, 64)
	return append(b, m.name...)
}

// measureAt returns the index of the largest measure that fits a value, or 0 if none does.
func (u Unit) measureAt(v float64) int {
	at := 0
	for i, m := range units[u].measures {
		if v == 0 && m.size == 1 {
			return i
		}
		if math.Abs(v)*(1+1e-9) >= m.from {
			at = i
		}
	}
	return at
}

// roundShort rounds to no decimals from 10 on, one from 1 on, and two below. It returns no negative zero.
func roundShort(x float64) float64 {
	unit := 1.0
	switch a := math.Abs(x); {
	case a < 1:
		unit = 100
	case a < 10:
		unit = 10
	}
	return math.Round(x*unit)/unit + 0
}

// step returns the smallest round step that is at least raw.
func (u Unit) step(raw float64) float64 {
	raw = max(raw*(1-1e-9), units[u].least)
	steps := units[u].steps
	if len(steps) > 0 && raw > steps[0]/2 && raw <= steps[len(steps)-1] {
		for _, s := range steps {
			if s >= raw {
				return s
			}
		}
	}
	return figures.Step(raw)
}

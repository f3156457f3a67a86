package engine

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/throng-sim/throng/engine/figures"
)

// Criterion is one line of a scenario's success list: a metric compared with a bound.
type Criterion struct {
	Metric string
	// Of is the service or step whose requests count; "" counts those of all. Steps are their paths, without iterations.
	Of    string
	Steps []string
	Op    string  // "<", "<=", ">", ">=", "="
	Bound float64 // in the metric's unit: a fraction, seconds, bytes, a count, US dollars
	Text  string  // as written
}

// Name returns the metric and what it is of, for display.
func (c *Criterion) Name() string {
	if c.Of == "" {
		return c.Metric
	}
	return c.Metric + " of " + c.Of
}

// Judgment is the result of a criterion after the run. If the figure is not available, Unknown is set and Value is 0.
type Judgment struct {
	Criterion Criterion
	Value     float64
	Shown     string // the formatted value with its unit
	Passed    bool
	Unknown   bool
}

// Unit is the unit of a success metric. It determines how values are parsed and formatted.
type Unit uint8

// The units of success metrics.
const (
	UnitShare Unit = iota // 95%, or 0.95
	UnitTime              // 60s
	UnitBytes             // 12GB
	UnitCount
	UnitMoney // US dollars: 0.50
	UnitRate  // 50/s
)

// Show formats a value in the unit.
func (u Unit) Show(v float64) string {
	switch u {
	case UnitShare:
		return fmt.Sprintf("%.4g%%", v*100)
	case UnitTime:
		return figures.Exact(time.Duration(v * float64(time.Second)))
	case UnitBytes:
		return FormatBytes(int64(v))
	case UnitMoney:
		return FormatDollars(int64(math.Round(v * 1e9)))
	case UnitRate:
		return strconv.FormatFloat(v, 'g', 4, 64) + "/s"
	default:
		return fmt.Sprintf("%.6g", v)
	}
}

func share(part, whole float64) float64 {
	if whole == 0 {
		return math.NaN()
	}
	return part / whole
}

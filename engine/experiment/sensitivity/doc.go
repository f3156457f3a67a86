// Package sensitivity answers which factors of an experiment matter, and how much: Morris screening, Sobol indices, effects of one factor at a
// time, and main effects and interactions of full grids.
//
// Points come as matrices with one row per point and one column per factor, in the order of the design; values come in the same order, one
// per point, or one per point and replicate. The unit is a run. A value that is not finite is missing; each function says what it leaves out
// then. All functions are pure and deterministic. An unknown figure is NaN, and an unknown interval says why.
package sensitivity

import (
	"fmt"
	"math"

	"github.com/throng-sim/throng/engine/experiment/statistics"
)

func missing(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }

// unknown is an interval without bounds.
func unknown(note string) statistics.Interval {
	return statistics.Interval{Low: math.NaN(), High: math.NaN(), Method: statistics.None, Note: note}
}

// matrix checks that all rows have as many columns as the first, at least one, and returns that number.
func matrix(points [][]float64) (factors int, err error) {
	if len(points) == 0 || len(points[0]) == 0 {
		return 0, fmt.Errorf("no points: expected at least one point with one factor")
	}
	for i, p := range points {
		if len(p) != len(points[0]) {
			return 0, fmt.Errorf("point %d has %d factors, the first has %d", i, len(p), len(points[0]))
		}
	}
	return len(points[0]), nil
}

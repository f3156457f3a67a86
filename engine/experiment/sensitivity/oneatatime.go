package sensitivity

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/throng-sim/throng/engine/experiment/statistics"
)

// Swing is how far a measure moves when one factor changes and all others stay at the baseline: one bar of a tornado chart.
type Swing struct {
	Factor    int
	Low, High float64 // smallest and largest difference from the baseline, 0 included; NaN if no level has a difference
	Levels    []Level // in the order of the points
}

// Level is one point: the baseline with one factor changed.
type Level struct {
	Point      int     // its index
	Setting    float64 // of the factor
	Difference statistics.Difference
}

// Span returns the distance of Low and High.
func (s *Swing) Span() float64 { return s.High - s.Low }

// OneAtATime compares points that differ from the baseline, the index of a point, in one factor each. values has a row of replicates for each
// point; paired tells that replicates with the same index had the same seed. All differences are corrected for their number by
// statistics.AgainstBaseline. The result is sorted from the largest span to the smallest, unknown ones last; a factor that no point changes is
// not listed. A setting may be a number or the index of a level: it is compared for equality only.
func OneAtATime(points, values [][]float64, baseline int, kind statistics.Kind, paired bool) ([]Swing, error) {
	factors, err := matrix(points)
	switch {
	case err != nil:
		return nil, err
	case len(values) != len(points):
		return nil, fmt.Errorf("values of %d points for %d points", len(values), len(points))
	case baseline < 0 || baseline >= len(points):
		return nil, fmt.Errorf("the baseline is point %d of %d points", baseline, len(points))
	}
	var others []int
	var rows [][]float64
	for p := range points {
		if p != baseline {
			others, rows = append(others, p), append(rows, values[p])
		}
	}
	swings := make([]Swing, factors)
	for f := range swings {
		swings[f] = Swing{Factor: f, Low: math.NaN(), High: math.NaN()}
	}
	for i, d := range statistics.AgainstBaseline(values[baseline], rows, kind, paired) {
		f, err := changed(points[baseline], points[others[i]])
		if err != nil {
			return nil, fmt.Errorf("point %d: %w", others[i], err)
		}
		s := &swings[f]
		s.Levels = append(s.Levels, Level{Point: others[i], Setting: points[others[i]][f], Difference: d})
		if !math.IsNaN(d.Value) {
			if math.IsNaN(s.Low) {
				s.Low, s.High = 0, 0
			}
			s.Low, s.High = math.Min(s.Low, d.Value), math.Max(s.High, d.Value)
		}
	}
	swings = slices.DeleteFunc(swings, func(s Swing) bool { return len(s.Levels) == 0 })
	slices.SortStableFunc(swings, func(a, b Swing) int { return -cmp.Compare(a.Span(), b.Span()) })
	return swings, nil
}

// changed returns the factor in which a point differs from the baseline.
func changed(baseline, point []float64) (int, error) {
	factor := -1
	for f := range baseline {
		if point[f] == baseline[f] {
			continue
		}
		if factor >= 0 {
			return 0, fmt.Errorf("it differs from the baseline in factors %d and %d; expected one", factor, f)
		}
		factor = f
	}
	if factor < 0 {
		return 0, fmt.Errorf("it is equal to the baseline")
	}
	return factor, nil
}

package sensitivity

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/throng-sim/throng/engine/experiment/statistics"
)

// Screening is the result of Morris's method for one factor. The unit is that of the measure, for a change of the factor over its whole range.
type Screening struct {
	Factor  int
	N       int                 // elementary effects with values
	MeanAbs float64             // µ*: the mean size of the effect (Campolongo, Cariboni and Saltelli 2007)
	Mean    float64             // µ: the mean effect; near 0 with a large µ* if the effect changes its sign
	SD      float64             // σ: large if the effect depends on other factors or is not linear
	OfAbs   statistics.Interval // of µ*
	OfMean  statistics.Interval // of µ
	OfSD    statistics.Interval // of σ
}

// Morris screens factors by elementary effects (Morris 1991, "Factorial sampling plans for preliminary computational experiments"). The points,
// in units of each factor's range from 0 to 1, are trajectories of k + 1 points in order, for k factors; each point of a trajectory differs
// from the one before in one factor, and each factor changes once. An elementary effect is the change of the value, divided by the change of the
// factor. Effects next to a missing value are left out.
//
// The intervals are BCa bootstrap intervals over trajectories, drawn from the seed. They are rough below statistics.MinBootstrap
// trajectories, and their notes say so.
func Morris(points [][]float64, values []float64, seed uint64) ([]Screening, error) {
	factors, err := matrix(points)
	switch {
	case err != nil:
		return nil, err
	case len(values) != len(points):
		return nil, fmt.Errorf("%d values for %d points", len(values), len(points))
	case len(points)%(factors+1) != 0:
		return nil, fmt.Errorf("%d points are not trajectories of %d points each", len(points), factors+1)
	}
	effects := make([][]float64, factors)
	for start := 0; start < len(points); start += factors + 1 {
		if err := trajectory(points[start:start+factors+1], values[start:], effects); err != nil {
			return nil, fmt.Errorf("trajectory %d: %w", start/(factors+1), err)
		}
	}
	all := make([]Screening, factors)
	for f, e := range effects {
		all[f] = screen(f, e, seed)
	}
	return all, nil
}

// trajectory adds the elementary effects of one trajectory.
func trajectory(points [][]float64, values []float64, effects [][]float64) error {
	changed := make([]bool, len(effects))
	for step := 1; step < len(points); step++ {
		factor := -1
		for f := range effects {
			if points[step][f] == points[step-1][f] {
				continue
			}
			if factor >= 0 {
				return fmt.Errorf("factors %d and %d change in one step", factor, f)
			}
			factor = f
		}
		if factor < 0 {
			return fmt.Errorf("no factor changes in step %d", step)
		}
		if changed[factor] {
			return fmt.Errorf("factor %d changes twice", factor)
		}
		changed[factor] = true
		e := (values[step] - values[step-1]) / (points[step][factor] - points[step-1][factor])
		if !missing(e) {
			effects[factor] = append(effects[factor], e)
		}
	}
	return nil
}

func screen(factor int, effects []float64, seed uint64) Screening {
	sizes := make([]float64, len(effects))
	for i, e := range effects {
		sizes[i] = math.Abs(e)
	}
	s := Screening{Factor: factor, N: len(effects), MeanAbs: math.NaN(), Mean: math.NaN(), SD: math.NaN()}
	if len(effects) > 0 {
		s.MeanAbs, s.Mean = stat.Mean(sizes, nil), stat.Mean(effects, nil)
	}
	if len(effects) > 1 {
		s.SD = stat.StdDev(effects, nil)
	}
	s.OfAbs = overTrajectories(sizes, statistics.Mean, seed)
	s.OfMean = overTrajectories(effects, statistics.Mean, seed)
	s.OfSD = overTrajectories(effects, deviation, seed)
	return s
}

// deviation is the standard deviation of a resample.
func deviation(sorted []float64) float64 {
	if len(sorted) < 2 {
		return 0
	}
	return stat.StdDev(sorted, nil)
}

func overTrajectories(effects []float64, statistic func([]float64) float64, seed uint64) statistics.Interval {
	i := statistics.Bootstrap(effects, statistic, seed)
	switch {
	case !i.Known() && len(effects) > 2:
		i.Note = fmt.Sprintf("the effect is the same in all %d trajectories", len(effects))
	case !i.Known():
		i.Note = fmt.Sprintf("%d trajectories have an effect; a bootstrap needs at least 3", len(effects))
	case len(effects) < statistics.MinBootstrap:
		i.Note = fmt.Sprintf("rough: %d trajectories; from %d on it covers what it claims", len(effects), statistics.MinBootstrap)
	}
	return i
}

package sensitivity

import (
	"fmt"
	"math"

	"github.com/throng-sim/throng/engine/experiment/statistics"
)

// Factorial is the analysis of a full grid: effects of each factor, averaged over all others, and of each two factors together.
type Factorial struct {
	Replicates, Missing int // replicates with a value at every point, and left out
	Mean                statistics.Estimate
	Main                []Main
	Interactions        []Interaction // of factors 0 and 1, 0 and 2, ..., in order
	// Rest is the share of the variance between points that three and more factors together explain; NaN if the points do not vary.
	Rest float64
	Note string // why intervals are missing; empty if there is nothing to say
}

// Main is the main effect of a factor.
type Main struct {
	Factor int
	Means  []statistics.Estimate // of each level: the mean over all points with it
	// Effects are the differences of Means from the overall mean.
	Effects []statistics.Estimate
	Share   float64 // of the variance between points; chance included
}

// Interaction is what two factors do together beyond their main effects.
type Interaction struct {
	A, B int // factors
	// Means has the mean over all points with a level of A and a level of B; Effects what is left of it without the overall mean and both
	// main effects. Differences of Effects do not depend on how the levels are numbered.
	Means, Effects [][]statistics.Estimate
	Share          float64 // of the variance between points; chance included
}

// Grid analyzes a full grid, in which each combination of levels is one point. levels has the index of the level of each factor, for each
// point; values a row of replicates for each point. Every effect is computed for each replicate and then estimated over replicates, with
// Student's interval: this is right for replicates that share a seed, and for independent ones. A replicate without a value at some point is
// left out whole. If there is no complete replicate, effects come from the points' means, without intervals. The intervals are those of
// single effects, not corrected for their number.
func Grid(levels [][]int, values [][]float64) (Factorial, error) {
	sizes, err := gridSizes(levels)
	if err != nil {
		return Factorial{}, err
	}
	if len(values) != len(levels) {
		return Factorial{}, fmt.Errorf("values of %d points for %d points", len(values), len(levels))
	}
	var f Factorial
	blocks := f.complete(values)
	f.Mean = over(blocks, func(y []float64) float64 { return mean(y, nil) })
	for a, size := range sizes {
		m := Main{Factor: a}
		for l := range size {
			with := matching(levels, map[int]int{a: l})
			m.Means = append(m.Means, over(blocks, func(y []float64) float64 { return mean(y, with) }))
			m.Effects = append(m.Effects, over(blocks, func(y []float64) float64 { return mean(y, with) - mean(y, nil) }))
		}
		f.Main = append(f.Main, m)
	}
	for a := range sizes {
		for b := a + 1; b < len(sizes); b++ {
			f.Interactions = append(f.Interactions, interaction(levels, blocks, a, b, sizes))
		}
	}
	f.shares(blocks)
	return f, nil
}

// gridSizes returns the number of levels of each factor, and checks that the points are a full grid.
func gridSizes(levels [][]int) ([]int, error) {
	if len(levels) == 0 || len(levels[0]) == 0 {
		return nil, fmt.Errorf("no points: expected at least one point with one factor")
	}
	sizes := make([]int, len(levels[0]))
	seen := map[string]int{}
	for p, row := range levels {
		if len(row) != len(sizes) {
			return nil, fmt.Errorf("point %d has %d factors, the first has %d", p, len(row), len(sizes))
		}
		for f, l := range row {
			if l < 0 {
				return nil, fmt.Errorf("point %d: level %d of factor %d is below 0", p, l, f)
			}
			sizes[f] = max(sizes[f], l+1)
		}
		key := fmt.Sprint(row)
		if other, ok := seen[key]; ok {
			return nil, fmt.Errorf("points %d and %d have the same levels", other, p)
		}
		seen[key] = p
	}
	cells := 1
	for _, size := range sizes {
		cells *= size
		if cells > len(levels) {
			break
		}
	}
	if cells != len(levels) {
		return nil, fmt.Errorf("%d points are not a full grid of %v levels", len(levels), sizes)
	}
	return sizes, nil
}

// complete returns the values of each complete replicate, indexed by point; or the points' means if no replicate is complete.
func (f *Factorial) complete(values [][]float64) [][]float64 {
	longest := 0
	for _, row := range values {
		longest = max(longest, len(row))
	}
	var blocks [][]float64
	for r := range longest {
		block := make([]float64, 0, len(values))
		for _, row := range values {
			if r < len(row) && !missing(row[r]) {
				block = append(block, row[r])
			}
		}
		if len(block) == len(values) {
			blocks = append(blocks, block)
		}
	}
	f.Replicates, f.Missing = len(blocks), longest-len(blocks)
	switch {
	case len(blocks) == 1:
		f.Note = "one replicate is complete; intervals need at least two"
	case len(blocks) == 0:
		f.Note = "no replicate has a value at every point: effects come from the points' means, without intervals"
		block := make([]float64, len(values))
		for p, row := range values {
			block[p] = statistics.Summarize(row, statistics.Number, 0).Mean
		}
		blocks = [][]float64{block}
	}
	return blocks
}

// over estimates a figure of each block.
func over(blocks [][]float64, figure func(y []float64) float64) statistics.Estimate {
	all := make([]float64, len(blocks))
	for i, y := range blocks {
		all[i] = figure(y)
	}
	return statistics.Summarize(all, statistics.Number, 0)
}

// matching returns the points with the given levels of some factors.
func matching(levels [][]int, want map[int]int) (points []int) {
	for p, row := range levels {
		all := true
		for f, l := range want {
			all = all && row[f] == l
		}
		if all {
			points = append(points, p)
		}
	}
	return points
}

// mean returns the mean of some points' values; nil means all.
func mean(y []float64, points []int) float64 {
	sum := 0.0
	if points == nil {
		for _, x := range y {
			sum += x
		}
		return sum / float64(len(y))
	}
	for _, p := range points {
		sum += y[p]
	}
	return sum / float64(len(points))
}

func interaction(levels [][]int, blocks [][]float64, a, b int, sizes []int) Interaction {
	i := Interaction{A: a, B: b}
	for la := range sizes[a] {
		var means, effects []statistics.Estimate
		ofA := matching(levels, map[int]int{a: la})
		for lb := range sizes[b] {
			ofB, both := matching(levels, map[int]int{b: lb}), matching(levels, map[int]int{a: la, b: lb})
			means = append(means, over(blocks, func(y []float64) float64 { return mean(y, both) }))
			effects = append(effects, over(blocks, func(y []float64) float64 {
				return mean(y, both) - mean(y, ofA) - mean(y, ofB) + mean(y, nil)
			}))
		}
		i.Means, i.Effects = append(i.Means, means), append(i.Effects, effects)
	}
	return i
}

// shares sets the shares of the variance between points. The grid is balanced, so that sums of squares add up.
func (f *Factorial) shares(blocks [][]float64) {
	total, grand := 0.0, f.Mean.Mean
	for p := range blocks[0] {
		x := over(blocks, func(y []float64) float64 { return y[p] }).Mean
		total += (x - grand) * (x - grand) / float64(len(blocks[0]))
	}
	if total <= 1e-26*grand*grand {
		total = math.NaN()
	}
	f.Rest = 1 + 0*total
	for i := range f.Main {
		m := &f.Main[i]
		m.Share = squares(m.Effects) / total
		f.Rest -= m.Share
	}
	for i := range f.Interactions {
		in := &f.Interactions[i]
		for _, row := range in.Effects {
			in.Share += squares(row) / float64(len(in.Effects)) / total
		}
		f.Rest -= in.Share
	}
	f.Rest = math.Max(f.Rest, 0)
}

// squares returns the mean square of some effects.
func squares(effects []statistics.Estimate) (sum float64) {
	for _, e := range effects {
		sum += e.Mean * e.Mean / float64(len(effects))
	}
	return sum
}

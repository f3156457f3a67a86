package people

import (
	"fmt"
	"math"

	"github.com/throng-sim/throng/engine/suggest"
)

// cellOf is a combination of categories, one of each target, and the weight of its rows.
type cellOf struct {
	codes  []uint16 // the index of the category, by target
	weight float64
}

// fit is what raking found.
type fit struct {
	factors [][]float64 // of a weight, by target and category
	rounds  int
	gap     float64 // the largest remaining difference of a share
	target  int     // where it is
	code    int
	share   float64 // that the category has
}

// rake fits the weights of cells to shares by iterative proportional fitting (Deming and Stephan, 1940): each round
// scales the weights to the shares of one target after the other. The weights and the shares of each target sum to 1. It
// stops when no share is off by more than the tolerance, or after the last round.
func rake(cells []cellOf, targets [][]float64, tolerance float64, rounds int) (f fit) {
	weights := make([]float64, len(cells))
	for i, c := range cells {
		weights[i] = c.weight
	}
	f.factors = make([][]float64, len(targets))
	sums := make([][]float64, len(targets))
	for t := range targets {
		f.factors[t], sums[t] = make([]float64, len(targets[t])), make([]float64, len(targets[t]))
		for c := range f.factors[t] {
			f.factors[t][c] = 1
		}
	}
	for f.rounds < rounds {
		f.rounds++
		for t, shares := range targets {
			total(cells, weights, t, sums[t])
			for c, share := range shares {
				scale := 0.0
				if sums[t][c] > 0 {
					scale = share / sums[t][c]
				}
				f.factors[t][c] *= scale
				sums[t][c] = scale
			}
			for i := range cells {
				weights[i] *= sums[t][cells[i].codes[t]]
			}
		}
		if f.measure(cells, weights, targets, sums); f.gap <= tolerance {
			break
		}
	}
	return f
}

// total sums the weights of the cells by the categories of a target.
func total(cells []cellOf, weights []float64, target int, sums []float64) {
	clear(sums)
	for i := range cells {
		sums[cells[i].codes[target]] += weights[i]
	}
}

// measure finds the share that is off most.
func (f *fit) measure(cells []cellOf, weights []float64, targets, sums [][]float64) {
	f.gap = -1
	for t, shares := range targets {
		total(cells, weights, t, sums[t])
		for c, share := range shares {
			if gap := math.Abs(sums[t][c] - share); gap > f.gap {
				f.gap, f.target, f.code, f.share = gap, t, c, sums[t][c]
			}
		}
	}
}

// factor returns the factor of the weights of a cell.
func (f *fit) factor(codes []uint16) float64 {
	x := 1.0
	for t, c := range codes {
		x *= f.factors[t][c]
	}
	return x
}

// spread returns the smallest and the largest factor of the cells whose rows can be drawn.
func (f *fit) spread(cells []cellOf) (lowest, most float64) {
	lowest = math.Inf(1)
	for i := range cells {
		if x := f.factor(cells[i].codes); x > 0 && cells[i].weight > 0 {
			lowest, most = min(lowest, x), max(most, x)
		}
	}
	return lowest, most
}

// unmet returns the mistake of targets that contradict each other or the file.
func (f *fit) unmet(p *Sample) *Mistake {
	target := p.Targets[f.target]
	wanted := 0.0
	for _, s := range target.Shares {
		wanted += s.Part
	}
	m := &Mistake{
		Key: []string{"sample", "targets"},
		Problem: fmt.Sprintf("the targets cannot all be met: after %s, %s %s has %s of the weight, not %s",
			counted(f.rounds, "round"), target.Attribute, target.Shares[f.code].Category, percent(f.share), percent(target.Shares[f.code].Part/wanted)),
		Guess: suggest.Guess{Hint: "some combinations of categories have no row: merge categories with `values`, or leave out a target"},
	}
	return m
}

// percent formats a share.
func percent(share float64) string { return fmt.Sprintf("%.4g%%", 100*share) }

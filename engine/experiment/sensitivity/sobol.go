package sensitivity

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"

	"github.com/throng-sim/throng/engine/experiment/statistics"
)

// Indices are the Sobol indices of one factor: shares of the variance of a measure over the whole space of the factors.
type Indices struct {
	Factor  int
	First   float64             // explained by the factor alone
	Total   float64             // explained by it and all its interactions
	OfFirst statistics.Interval // of First
	OfTotal statistics.Interval // of Total
}

// Decomposition is the result of Sobol.
type Decomposition struct {
	Blocks, Missing int     // blocks used, and left out because a value is missing
	Mean, Variance  float64 // of the measure
	Factors         []Indices
}

// Sobol estimates first-order and total indices (Sobol 1993; Homma and Saltelli 1996). The values belong to N blocks of k + 2 points, for k
// factors: A, B, AB1, ..., ABk, where ABi is A with factor i taken from B. A block with a missing value is left out whole.
//
// The first order is estimated as by Saltelli et al. (2010), "Variance based sensitivity analysis of model output", table 2 (b): the mean of
// B (ABi - A); the total as by Jansen (1999): half the mean of (A - ABi)^2. Values are centered before, which lowers the variance of the
// first. The variance is that of A and B together. Estimates are not cut at 0 and 1, so that a bias would show.
//
// The intervals are BCa bootstrap intervals over blocks, drawn from the seed, and cover what they claim for independent blocks; for blocks of a
// low-discrepancy sequence they are a little too wide. With fewer than 3 blocks, or a measure that does not vary, they are unknown.
func Sobol(values []float64, factors int, seed uint64) (Decomposition, error) {
	size := factors + 2
	if factors < 1 {
		return Decomposition{}, fmt.Errorf("%d factors: expected at least one", factors)
	}
	if len(values) == 0 || len(values)%size != 0 {
		return Decomposition{}, fmt.Errorf("%d values are not blocks of %d: A, B and one point for each factor", len(values), size)
	}
	var blocks [][]float64
	var outer []float64 // A and B
	for start := 0; start < len(values); start += size {
		block, complete := values[start:start+size], true
		for _, x := range block {
			complete = complete && !missing(x)
		}
		if complete {
			blocks, outer = append(blocks, block), append(outer, block[0], block[1])
		}
	}
	d := Decomposition{Blocks: len(blocks), Missing: len(values)/size - len(blocks), Mean: math.NaN(), Variance: math.NaN()}
	if len(blocks) > 0 {
		d.Mean, d.Variance = stat.PopMeanVariance(outer, nil)
	}
	for f := range factors {
		d.Factors = append(d.Factors, Indices{Factor: f, First: math.NaN(), Total: math.NaN()})
	}
	if note := d.unusable(outer); note != "" {
		for f := range d.Factors {
			d.Factors[f].OfFirst, d.Factors[f].OfTotal = unknown(note), unknown(note)
		}
		return d, nil
	}
	d.estimate(blocks, seed)
	return d, nil
}

// unusable says why there are no indices.
func (d *Decomposition) unusable(outer []float64) string {
	largest := 0.0
	for _, x := range outer {
		largest = math.Max(largest, math.Abs(x))
	}
	switch {
	case d.Blocks == 0:
		return "no block has all its values"
	case math.Sqrt(d.Variance) <= 1e-13*largest:
		return "the measure does not vary"
	}
	return ""
}

// terms are the sums from which all indices follow; the first two belong to the variance, then two for each factor.
type terms []float64

// first and total return the indices of a factor, from the sums over n blocks.
func (t terms) first(f int, n float64) float64 { return t[2+2*f] / n / t.variance(n) }
func (t terms) total(f int, n float64) float64 { return t[3+2*f] / (2 * n) / t.variance(n) }

func (t terms) variance(n float64) float64 {
	mean := t[0] / (2 * n)
	return t[1]/(2*n) - mean*mean
}

// estimate computes the indices and their intervals.
func (d *Decomposition) estimate(blocks [][]float64, seed uint64) {
	n, factors := float64(len(blocks)), len(d.Factors)
	rows, all := make([]terms, len(blocks)), make(terms, 2+2*factors)
	for i, block := range blocks {
		row := make(terms, 2+2*factors)
		a, b := block[0]-d.Mean, block[1]-d.Mean
		row[0], row[1] = a+b, a*a+b*b
		for f, x := range block[2:] {
			ab := x - d.Mean
			row[2+2*f], row[3+2*f] = b*(ab-a), (a-ab)*(a-ab)
		}
		rows[i] = row
		all.add(row, 1)
	}
	resamples := resample(rows, seed)
	replicates, jackknife := make([]float64, len(resamples)), make([]float64, len(rows))
	without := make([]terms, len(rows))
	for i, row := range rows {
		without[i] = append(terms(nil), all...)
		without[i].add(row, -1)
	}
	interval := func(index func(t terms, n float64) float64) (float64, statistics.Interval) {
		if len(rows) < 3 {
			return index(all, n), unknown(fmt.Sprintf("%d blocks have all their values; a bootstrap needs at least 3", len(rows)))
		}
		for i, t := range resamples {
			replicates[i] = index(t, n)
		}
		for i, t := range without {
			jackknife[i] = index(t, n-1)
		}
		return index(all, n), statistics.BCa(index(all, n), replicates, jackknife)
	}
	for f := range d.Factors {
		x := &d.Factors[f]
		x.First, x.OfFirst = interval(func(t terms, n float64) float64 { return t.first(f, n) })
		x.Total, x.OfTotal = interval(func(t terms, n float64) float64 { return t.total(f, n) })
	}
}

func (t terms) add(row terms, sign float64) {
	for i, x := range row {
		t[i] += sign * x
	}
}

// resample returns the sums of statistics.Resamples resamples of the blocks.
func resample(rows []terms, seed uint64) []terms {
	source, all := rand.NewPCG(seed, 0xd1b54a32d192ed03), make([]terms, statistics.Resamples)
	for b := range all {
		all[b] = make(terms, len(rows[0]))
		for range rows {
			i, _ := bits.Mul64(source.Uint64(), uint64(len(rows)))
			all[b].add(rows[i], 1)
		}
	}
	return all
}

package statistics

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// maxExactRanks is the largest number of runs, of both points together, for which the rank test is exact.
const maxExactRanks = 40

// Ranks compares two independent samples by the test of Mann and Whitney (1947), with the estimate and interval of Hodges and Lehmann
// (1963): the median of all differences between a run of the point and one of the baseline. It is made for timings, whose outliers
// would dominate a mean.
//
// Up to 40 runs P is exact, with ties too: it uses the distribution of the rank sum over all splits of the runs (the shift algorithm of
// Streitberg and Röhmel 1986). Above that it uses the normal distribution, corrected for ties and continuity. The interval is exact
// without ties and a little too wide with them. It is unknown if the samples are so small that no interval has Level: it needs at
// least 4 and 4, 3 and 5, or 2 and 8 runs. The effect size is the probability that a run of the point is larger (ties count half; Vargha and Delaney 2000).
func Ranks(baseline, point []float64) Difference {
	c := ranks(baseline, point)
	return c.Difference
}

func ranks(baseline, point []float64) contrast {
	x, y := present(baseline), present(point)
	c := blank(MannWhitney, "")
	c.Baseline, c.Point, c.Missing = len(x), len(y), len(baseline)-len(x)+len(point)-len(y)
	c.interval = func(float64) Interval { return unknown(c.Note) }
	if len(x) == 0 || len(y) == 0 {
		c.Note = fmt.Sprintf("%d and %d runs have a value; the rank test needs at least one of each", len(x), len(y))
		c.finish()
		return c
	}
	shifts := shifts(x, y)
	doubled, ties := doubledRanks(x, y)
	u := 0.0
	for _, r := range doubled[len(x):] {
		u += float64(r) / 2
	}
	u -= float64(len(y)) * float64(len(y)+1) / 2
	c.Value = quantile(shifts, 0.5)
	c.Effect = Effect{Name: "probability of superiority", Value: u / float64(len(x)*len(y))}
	c.P = rankP(doubled, len(x), ties)
	switch scale := scaleOf(x, y); {
	case len(x) == 1 && len(y) == 1:
		c.P, c.Note = math.NaN(), "one run of each has a value, which says nothing about chance"
	case constant(x, scale) && constant(y, scale):
		c.unvaried(math.Abs(c.Value) <= rounding*scale, c.P)
	default:
		index := shiftIndex(len(x), len(y))
		c.interval = func(err float64) Interval {
			k := index(err)
			if k < 1 {
				return unknown(fmt.Sprintf("%d and %d runs are too few for a rank interval at this level", len(x), len(y)))
			}
			return bounded(shifts[k-1], shifts[len(shifts)-k], MannWhitney)
		}
	}
	c.finish()
	return c
}

// shifts returns all differences y - x, sorted.
func shifts(x, y []float64) []float64 {
	all := make([]float64, 0, len(x)*len(y))
	for _, a := range x {
		for _, b := range y {
			all = append(all, b-a)
		}
	}
	slices.Sort(all)
	return all
}

// doubledRanks returns twice the ranks of all values, x first, so that the mean rank of ties is whole; and the sum of t^3 - t over groups of
// t tied values.
func doubledRanks(x, y []float64) (ranks []int, ties float64) {
	all := append(slices.Clone(x), y...)
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(all[a], all[b]) })
	ranks = make([]int, len(all))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && all[order[j]] == all[order[i]] {
			j++
		}
		for _, at := range order[i:j] {
			ranks[at] = i + j + 1
		}
		t := float64(j - i)
		ties += t*t*t - t
		i = j
	}
	return ranks, ties
}

// rankP returns the two-sided p-value of the rank sum of the values from n on.
func rankP(doubled []int, n int, ties float64) float64 {
	all, m := len(doubled), len(doubled)-n
	sum := 0
	for _, r := range doubled[n:] {
		sum += r
	}
	expected := m * (all + 1) // of the doubled ranks
	if all <= maxExactRanks {
		counts := splits(doubled, m)
		var extreme, total float64
		for s, c := range counts {
			total += c
			if abs(s-expected) >= abs(sum-expected) {
				extreme += c
			}
		}
		return math.Min(1, extreme/total)
	}
	big := float64(all)
	variance := float64(n) * float64(m) / 12 * (big + 1 - ties/(big*(big-1)))
	if variance <= 0 {
		return 1
	}
	z := math.Max(0, math.Abs(float64(sum-expected)/2)-0.5) / math.Sqrt(variance)
	return math.Erfc(z / math.Sqrt2)
}

func abs(i int) int { return max(i, -i) }

// splits returns how many choices of m ranks have each sum.
func splits(ranks []int, m int) []float64 {
	sorted := slices.Clone(ranks)
	slices.Sort(sorted)
	highest := 0
	for _, r := range sorted[len(sorted)-m:] {
		highest += r
	}
	counts := make([][]float64, m+1)
	for k := range counts {
		counts[k] = make([]float64, highest+1)
	}
	counts[0][0] = 1
	reached := 0
	for i, r := range sorted {
		reached = min(reached+r, highest)
		for k := min(i+1, m); k > 0; k-- {
			to, from := counts[k], counts[k-1]
			for s := reached; s >= r; s-- {
				to[s] += from[s-r]
			}
		}
	}
	return counts[m]
}

// shiftIndex returns the function from an error to the index, from 1, of the lower bound among the sorted shifts: the largest k with
// P(U < k) at most half the error; 0 if there is no such k.
func shiftIndex(n, m int) func(err float64) int {
	if n+m <= maxExactRanks {
		ranks := make([]int, n+m)
		for i := range ranks {
			ranks[i] = i + 1
		}
		counts := splits(ranks, m)[m*(m+1)/2:]
		total := 0.0
		for _, c := range counts {
			total += c
		}
		return func(err float64) int {
			k, sum := 0, 0.0
			for ; k < len(counts); k++ {
				if sum += counts[k]; sum/total > err/2 {
					break
				}
			}
			return k
		}
	}
	size := float64(n) * float64(m)
	deviation := math.Sqrt(size * float64(n+m+1) / 12)
	return func(err float64) int {
		return max(0, int(math.Floor(size/2+0.5+distuv.UnitNormal.Quantile(err/2)*deviation)))
	}
}

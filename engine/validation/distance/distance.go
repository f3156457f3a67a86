// Package distance measures how far two samples are apart, and how likely such a distance is by chance. Its functions are pure and
// deterministic.
package distance

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Smirnov returns the two-sample statistic of Kolmogorov and Smirnov (Smirnov 1939), the largest distance of the two empirical
// distribution functions, and its two-sided p-value. Both samples must be sorted and not empty.
//
// Up to [ExactPaths] pairs of values the p-value is exact, with ties too: it counts the lattice paths that stay below the statistic
// (Hodges 1958; Schröer and Trenkler 1995 for ties), as psmirnov of R does. With more pairs it is that of Kolmogorov's limit, which is
// too large if there are ties.
func Smirnov(x, y []float64) (d, p float64) {
	n, m := len(x), len(y)
	last := make([]bool, n+m+1) // whether the k-th of all values is the last one of its ties
	for i, j := 0, 0; i < n || j < m; {
		v := math.Inf(1)
		if i < n {
			v = x[i]
		}
		if j < m {
			v = min(v, y[j])
		}
		for i < n && x[i] == v {
			i++
		}
		for j < m && y[j] == v {
			j++
		}
		last[i+j] = true
		d = max(d, math.Abs(float64(i)/float64(n)-float64(j)/float64(m)))
	}
	if d == 0 {
		return 0, 1
	}
	if n*m <= ExactPaths {
		return d, exactSmirnov(d, n, m, last)
	}
	root := math.Sqrt(float64(n) * float64(m) / float64(n+m))
	return d, kolmogorov(root * d)
}

// ExactPaths is the largest product of the sizes of two samples for which [Smirnov] is exact.
const ExactPaths = 4_000_000

// exactSmirnov returns the probability of a statistic of at least d among all splits of the values.
func exactSmirnov(d float64, n, m int, last []bool) float64 {
	a, b := float64(n), float64(m)
	// The statistic is a multiple of 1/(nm); half a step below d is between two of them, whatever the rounding.
	bound := (math.Floor(d*a*b-1e-7) + 0.5) / (a * b)
	outside := func(i, j int) bool {
		return last[i+j] && math.Abs(float64(i)/a-float64(j)/b) >= bound
	}
	inside := make([]float64, m+1) // the probability to reach (i, j) and to stay below the bound
	inside[0] = 1
	for j := 1; j <= m; j++ {
		inside[j] = inside[j-1]
		if outside(0, j) {
			inside[j] = 0
		}
	}
	for i := 1; i <= n; i++ {
		if outside(i, 0) {
			inside[0] = 0
		}
		for j := 1; j <= m; j++ {
			fromX := float64(i) / float64(i+j)
			inside[j] = fromX*inside[j] + (1-fromX)*inside[j-1]
			if outside(i, j) {
				inside[j] = 0
			}
		}
	}
	return math.Min(1, math.Max(0, 1-inside[m]))
}

// kolmogorov returns the upper tail of Kolmogorov's distribution. It uses the theta series that converges fast for small arguments, and
// the alternating one for others (Marsaglia, Tsang and Wang 2003).
func kolmogorov(x float64) float64 {
	if x < 1 {
		sum := 0.0
		for k := 1.0; k < 40; k += 2 {
			sum += math.Exp(-k * k * math.Pi * math.Pi / (8 * x * x))
		}
		return math.Min(1, math.Max(0, 1-math.Sqrt(2*math.Pi)/x*sum))
	}
	sum, sign := 0.0, 1.0
	for k := 1.0; k < 40; k++ {
		sum += sign * math.Exp(-2*k*k*x*x)
		sign = -sign
	}
	return math.Min(1, math.Max(0, 2*sum))
}

// Wasserstein returns the Wasserstein-1 distance of two samples, in the unit of their values: the area between the two empirical
// distribution functions (Vallender 1974), which is the least average distance that values must move to turn one into the other. Both
// must be sorted and not empty.
func Wasserstein(x, y []float64) float64 {
	area, before := 0.0, 0.0
	for i, j := 0, 0; i < len(x) || j < len(y); {
		v := math.Inf(1)
		if i < len(x) {
			v = x[i]
		}
		if j < len(y) {
			v = min(v, y[j])
		}
		if gap := math.Abs(float64(i)/float64(len(x)) - float64(j)/float64(len(y))); gap > 0 {
			area += gap * (v - before)
		}
		for i < len(x) && x[i] == v {
			i++
		}
		for j < len(y) && y[j] == v {
			j++
		}
		before = v
	}
	return area
}

// JensenShannon returns the divergence of Jensen and Shannon (Lin 1991) of two lists of counts of the same categories, in bits: 0 if their
// shares are equal, 1 if they have no category in common. NaN if one of the lists has no counts.
func JensenShannon(x, y []int) float64 {
	n, m := sum(x), sum(y)
	if n == 0 || m == 0 {
		return math.NaN()
	}
	total := 0.0
	for i := range x {
		p, q := float64(x[i])/n, float64(y[i])/m
		middle := (p + q) / 2
		if p > 0 {
			total += p * math.Log2(p/middle) / 2
		}
		if q > 0 {
			total += q * math.Log2(q/middle) / 2
		}
	}
	return math.Min(1, math.Max(0, total))
}

// TotalVariation returns the total variation distance of two lists of counts of the same categories: half the sum of the differences of their
// shares, 0 if these are equal, 1 if they have no category in common. NaN if one of the lists has no counts.
func TotalVariation(x, y []int) float64 {
	n, m := sum(x), sum(y)
	if n == 0 || m == 0 {
		return math.NaN()
	}
	total := 0.0
	for i := range x {
		total += math.Abs(float64(x[i])/n-float64(y[i])/m) / 2
	}
	return math.Min(1, total)
}

func sum(counts []int) (n float64) {
	for _, c := range counts {
		n += float64(c)
	}
	return n
}

// Expected is the smallest count that the chi-square test may expect in a cell (Cochran 1954).
const Expected = 5

// Chi is the result of the chi-square test. P is NaN if there is nothing to test.
type Chi struct {
	Statistic, P float64
	Freedom      int
	Pooled       int     // the categories that were too rare, and were counted as one
	CramersV     float64 // the effect size, from 0 to 1 (Cramér 1946)
}

// ChiSquare tests whether two lists of counts of the same categories come from the same shares: Pearson's test of homogeneity (Pearson
// 1911) without a correction for continuity. The rarest categories are counted as one as long as a cell expects less than [Expected].
func ChiSquare(x, y []int) Chi {
	nan := math.NaN()
	n, m := sum(x), sum(y)
	if n == 0 || m == 0 {
		return Chi{Statistic: nan, P: nan, CramersV: nan}
	}
	type cell struct{ x, y float64 }
	cells := make([]cell, 0, len(x))
	for i := range x {
		if x[i]+y[i] > 0 {
			cells = append(cells, cell{float64(x[i]), float64(y[i])})
		}
	}
	slices.SortFunc(cells, func(a, b cell) int { return int(a.x + a.y - b.x - b.y) })
	c := Chi{}
	for len(cells) > 1 && (cells[0].x+cells[0].y)*min(n, m)/(n+m) < Expected {
		c.Pooled += 1 + map[bool]int{true: 1}[c.Pooled == 0]
		cells[1] = cell{cells[0].x + cells[1].x, cells[0].y + cells[1].y}
		cells = cells[1:]
		// The sum stays in front: if it is still too rare, it takes in the next rarest.
	}
	c.Freedom = len(cells) - 1
	if c.Freedom == 0 {
		c.Statistic, c.P, c.CramersV = nan, nan, nan
		return c
	}
	for _, of := range cells {
		row := of.x + of.y
		a, b := row*n/(n+m), row*m/(n+m)
		c.Statistic += (of.x-a)*(of.x-a)/a + (of.y-b)*(of.y-b)/b
	}
	c.P = distuv.ChiSquared{K: float64(c.Freedom)}.Survival(c.Statistic)
	c.CramersV = math.Sqrt(c.Statistic / (n + m)) // of two rows
	return c
}

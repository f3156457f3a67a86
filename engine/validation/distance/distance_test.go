package distance_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/throng-sim/throng/engine/validation/distance"
)

func near(t *testing.T, name string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*math.Max(1, math.Abs(want)) {
		t.Errorf("%s is %.12g, want %.12g", name, got, want)
	}
}

// TestSmirnovByEnumeration compares exact p-values with a count over all splits of the values, with and without ties.
func TestSmirnovByEnumeration(t *testing.T) {
	for _, c := range []struct{ x, y []float64 }{
		{[]float64{1, 2, 3}, []float64{4, 5, 6}},
		{[]float64{1, 2, 5}, []float64{3, 4, 6, 7}},
		{[]float64{1, 1, 2, 3}, []float64{1, 2, 2, 4, 4}},
		{[]float64{0, 0, 0, 1}, []float64{0, 1, 1, 1}},
		{[]float64{2, 2, 2}, []float64{2, 2}},
	} {
		d, p := distance.Smirnov(c.x, c.y)
		all := append(slices.Clone(c.x), c.y...)
		wantD := statistic(c.x, c.y)
		hits, splits := 0, 0
		for mask := range 1 << len(all) {
			var x, y []float64
			for i, v := range all {
				if mask>>i&1 == 1 {
					x = append(x, v)
				} else {
					y = append(y, v)
				}
			}
			if len(x) != len(c.x) {
				continue
			}
			splits++
			if statistic(x, y) >= wantD-1e-9 {
				hits++
			}
		}
		near(t, "D", d, wantD)
		near(t, "p", p, float64(hits)/float64(splits))
	}
}

// statistic is the definition: the largest distance of the two distribution functions.
func statistic(x, y []float64) (d float64) {
	share := func(of []float64, v float64) float64 {
		n := 0
		for _, w := range of {
			if w <= v {
				n++
			}
		}
		return float64(n) / float64(len(of))
	}
	for _, v := range append(slices.Clone(x), y...) {
		d = max(d, math.Abs(share(x, v)-share(y, v)))
	}
	return d
}

// TestSmirnovOfLargeSamples compares with the table of Smirnov (1948): the 50%, 5% and 1% points of the limit are 0.8276, 1.3581 and 1.6276.
func TestSmirnovOfLargeSamples(t *testing.T) {
	const n = 3000
	for ranks, want := range map[int]float64{64: 0.50, 105: 0.05, 126: 0.01} { // ranks / n * sqrt(n/2) is close to the points
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], y[i] = float64(i), float64(i+ranks)-0.5
		}
		d, p := distance.Smirnov(x, y)
		near(t, "D", d, float64(ranks)/n)
		if math.Abs(p-want) > 0.003 {
			t.Errorf("p of %d ranks is %.4f, want %.2f", ranks, p, want)
		}
	}
}

// TestWassersteinByHand: areas between step functions, computed by hand.
func TestWassersteinByHand(t *testing.T) {
	near(t, "a shift", distance.Wasserstein([]float64{0, 1, 3}, []float64{5, 6, 8}), 5) // the example of scipy.stats.wasserstein_distance
	near(t, "equal samples", distance.Wasserstein([]float64{1, 2}, []float64{1, 1, 2, 2}), 0)
	near(t, "one of two moved", distance.Wasserstein([]float64{0, 10}, []float64{0, 4}), 3)
	near(t, "sizes differ", distance.Wasserstein([]float64{-2}, []float64{0, 1, 2}), 3)
}

// TestJensenShannonByHand: nothing in common is one bit; the third is H(3/8, 5/8) - (H(1/2) + H(1/4)) / 2.
func TestJensenShannonByHand(t *testing.T) {
	entropy := func(p float64) float64 { return -p*math.Log2(p) - (1-p)*math.Log2(1-p) }
	near(t, "nothing in common", distance.JensenShannon([]int{3, 0}, []int{0, 7}), 1)
	near(t, "equal shares", distance.JensenShannon([]int{1, 2}, []int{10, 20}), 0)
	near(t, "shares of 1/2 and 1/4", distance.JensenShannon([]int{1, 1}, []int{1, 3}), entropy(3.0/8)-(1+entropy(1.0/4))/2)
	if got := distance.JensenShannon([]int{0, 0}, []int{1, 1}); !math.IsNaN(got) {
		t.Errorf("the divergence from nothing is %v, want NaN", got)
	}
}

// TestChiSquareOfPartyIdentification reproduces the example of R's chisq.test: party by gender (Agresti 2007, page 39), with
// X-squared = 30.07, df = 2 and p = 2.954e-07.
func TestChiSquareOfPartyIdentification(t *testing.T) {
	c := distance.ChiSquare([]int{762, 327, 468}, []int{484, 239, 477})
	if math.Abs(c.Statistic-30.0701) > 1e-3 || c.Freedom != 2 || math.Abs(c.P-2.954e-07) > 1e-10 || c.Pooled != 0 {
		t.Errorf("got %+v, want 30.07 with 2 degrees of freedom and p = 2.954e-07", c)
	}
	near(t, "Cramér's V", c.CramersV, math.Sqrt(c.Statistic/2757))
}

func TestChiSquareOfRareCategories(t *testing.T) {
	c := distance.ChiSquare([]int{50, 40, 1, 2, 7}, []int{50, 41, 2, 1, 6})
	if c.Pooled != 3 || c.Freedom != 2 { // the rarest expect 1.5 each, together 3, and 9.5 with the next one
		t.Errorf("got %+v, want three categories as one and 2 degrees of freedom", c)
	}
	for _, counts := range [][2][]int{{{1, 0}, {0, 1}}, {{10}, {10}}, {{}, {}}, {{0, 0}, {3, 4}}} {
		if got := distance.ChiSquare(counts[0], counts[1]); !math.IsNaN(got.P) {
			t.Errorf("%v has p = %v, want NaN: there is nothing to test", counts, got.P)
		}
	}
}

// TestErrors: without a difference the tests find one in about 5% of 2,000 pairs of samples, with ties in at most as many.
func TestErrors(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const pairs = 2000
	var smirnov, tied, chi int
	for range pairs {
		x, y, a, b := make([]float64, 40), make([]float64, 60), make([]float64, 40), make([]float64, 60)
		counts := [2][]int{make([]int, 4), make([]int, 4)}
		for i := range x {
			x[i], a[i] = r.NormFloat64(), float64(r.IntN(5))
			counts[0][r.IntN(4)]++
		}
		for i := range y {
			y[i], b[i] = r.NormFloat64(), float64(r.IntN(5))
			counts[1][r.IntN(4)]++
		}
		for _, s := range [][]float64{x, y, a, b} {
			slices.Sort(s)
		}
		if _, p := distance.Smirnov(x, y); p < 0.05 {
			smirnov++
		}
		if _, p := distance.Smirnov(a, b); p < 0.05 {
			tied++
		}
		if distance.ChiSquare(counts[0], counts[1]).P < 0.05 {
			chi++
		}
	}
	for name, found := range map[string]int{"Smirnov": smirnov, "Smirnov with ties": tied, "chi-square": chi} {
		share := float64(found) / pairs
		t.Logf("%s: %.3f", name, share)
		if share > 0.065 || share < 0.02 {
			t.Errorf("%s finds a difference in %.3f of samples without one, want about 0.05", name, share)
		}
	}
}

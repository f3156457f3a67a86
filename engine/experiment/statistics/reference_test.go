package statistics

import (
	"math"
	"slices"
	"testing"
)

// Student's sleep data: extra hours of sleep of ten patients under two drugs (Student 1908; data set "sleep" of R).
var (
	sleep1 = []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	sleep2 = []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
)

// near fails the test unless got is want to six digits.
func near(t *testing.T, name string, got, want float64) {
	t.Helper()
	if math.IsNaN(got) != math.IsNaN(want) || math.Abs(got-want) > 5e-7*math.Max(math.Abs(want), 1e-3) {
		t.Errorf("%s: got %.10g, want %.10g", name, got, want)
	}
}

// TestPairedTOfSleep reproduces the paired t-test in the documentation of R's t.test (?sleep): t = -4.0621, df = 9, p = 0.002833. More digits
// are from R 4.2.2.
func TestPairedTOfSleep(t *testing.T) {
	c := paireds(sleep2, sleep1)
	near(t, "t", c.Value/c.deviation, -4.062127683382)
	near(t, "p", twoSided(c.Value/c.deviation, c.freedom), 0.00283289019738)
	i := c.student(alpha)
	near(t, "low", i.Low, -2.459885763276982)
	near(t, "high", i.High, -0.700114236723018)
	near(t, "mean difference", c.Value, -1.58)
	near(t, "margin of t", c.student(2*alpha).Low, -2.293005267029284)
	near(t, "dz", c.Effect.Value, -1.28455756259105)
	near(t, "correlation", c.Pairing.Correlation, 0.795170205833578)
	// permutation_test((x, y), permutation_type="samples", n_resamples=inf) of SciPy 1.10.1
	near(t, "sign-flip p", c.P, 0.00390625)
	if c.Test != SignFlip || c.Interval.Method != SignFlip {
		t.Errorf("10 pairs: test %q, interval %q, want %q", c.Test, c.Interval.Method, SignFlip)
	}
}

// TestWelchOfSleep reproduces t.test(extra ~ group, data = sleep) of R's documentation: t = -1.8608, df = 17.776, p = 0.07939. More digits are
// from R 4.2.2, Hedges' g from its definition in R.
func TestWelchOfSleep(t *testing.T) {
	d := Welch(sleep2, sleep1)
	near(t, "p", d.P, 0.0793941401873582)
	near(t, "low", d.Interval.Low, -3.36548323071171)
	near(t, "high", d.Interval.High, 0.20548323071171)
	near(t, "margin", d.Margin, 3.053381497331606)
	near(t, "g", d.Effect.Value, -0.796935239191122)
	c := welch(sleep2, sleep1)
	near(t, "degrees of freedom", c.freedom, 17.7764735161785)
	e := Summarize(sleep1, Number, 1)
	near(t, "low of a mean", e.Interval.Low, -0.529780413526232)
	near(t, "high of a mean", e.Interval.High, 2.029780413526232)
}

// TestSignFlipInterval compares the subset means with an inversion of the test, by bisection over all 128 sign vectors (NumPy 1.24.2).
func TestSignFlipInterval(t *testing.T) {
	d := Paired(make([]float64, 7), []float64{1.31, 0.42, 2.17, -0.35, 1.08, 0.93, 1.77})
	near(t, "p", d.P, 0.03125)
	near(t, "low", d.Interval.Low, 0.29)
	near(t, "high", d.Interval.High, 1.77)
}

// TestRanksOfWilcox reproduces the example of R's wilcox.test, permeability of the placenta (Hollander and Wolfe 1973, page 69): W = 35,
// two-sided p = 0.2544. Interval and estimate are from R 4.2.2, conf.int = TRUE.
func TestRanksOfWilcox(t *testing.T) {
	term := []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46}
	early := []float64{1.15, 0.88, 0.90, 0.74, 1.21}
	d := Ranks(early, term)
	near(t, "p", d.P, 0.254412254412254)
	near(t, "estimate", d.Value, 0.305)
	near(t, "low", d.Interval.Low, -0.15)
	near(t, "high", d.Interval.High, 0.76)
	near(t, "superiority", d.Effect.Value, 35.0/50)
}

// TestRanksOfSciPy reproduces the example of scipy.stats.mannwhitneyu: U = 17, exact p = 0.1111.
func TestRanksOfSciPy(t *testing.T) {
	males, females := []float64{19, 22, 16, 29, 24}, []float64{20, 11, 17, 12}
	d := Ranks(females, males)
	near(t, "p", d.P, 1.0/9)
	near(t, "U", d.Effect.Value*20, 17)
}

// TestRanksWithTies compares with wilcox_test(distribution = "exact") of the R package coin 1.4-2, and with wilcox.test(exact = FALSE) of R 4.2.2
// for a sample too large to be exact.
func TestRanksWithTies(t *testing.T) {
	near(t, "exact", Ranks([]float64{1, 2, 2, 3, 5, 5, 6}, []float64{2, 4, 5, 5, 7, 8}).P, 0.207459207459207)
	x := []float64{8, 9, 1, -8, -10, -3, 7, 10, 4, -5, -10, -5, 4, 10, 7, -3, -10, -8, 1, 9, 8, 0, -8, -9, -1}
	y := []float64{12, 12, 3, -6, -7, 1, 11, 13, 6, -3, -7, -1, 8, 13, 9, -1, -7, -4, 5, 12, 10, 2, -6, -6, 3}
	near(t, "normal", Ranks(x, y).P, 0.12017073029368)
}

// TestRankIndex compares the position of the bound with qwilcox(0.025, n, m) of R 4.2.2; above 40 runs the normal distribution may differ by one.
func TestRankIndex(t *testing.T) {
	for _, c := range []struct{ n, m, want, slack int }{
		{4, 4, 1, 0}, {3, 5, 1, 0}, {2, 8, 1, 0}, {3, 4, 0, 0}, {10, 12, 30, 0}, {20, 20, 128, 0}, {25, 25, 212, 1}, {40, 40, 597, 1}, {10, 60, 184, 1},
	} {
		if got := shiftIndex(c.n, c.m)(alpha); abs(got-c.want) > c.slack {
			t.Errorf("%d and %d: index %d, want %d", c.n, c.m, got, c.want)
		}
	}
}

// TestDunnettOfBloodCounts reproduces the example of Dunnett (1955), also in the documentation of scipy.stats.dunnett, which prints p-values
// of 0.6200 and 0.0058. The p-values are from glht(aov(y ~ g), mcp(g = "Dunnett")) of multcomp 1.4-22; the intervals use the quantile that
// uniroot finds in pmvt of mvtnorm 1.1-3, 2.5134829036, as the one of multcomp is exact to three digits only.
func TestDunnettOfBloodCounts(t *testing.T) {
	all := Dunnett([]float64{7.40, 8.50, 7.20, 8.24, 9.84, 8.32}, [][]float64{{9.76, 8.80, 7.68, 9.36}, {12.80, 9.68, 12.16, 9.20, 10.55}})
	for i, want := range []struct{ p, low, high float64 }{
		{0.62010198001845418, -1.25630414, 2.55630414},
		{0.00582536084794694, 0.83972821, 4.41627179},
	} {
		near(t, "p", all[i].Adjusted, want.p)
		near(t, "low", all[i].Joint.Low, want.low)
		near(t, "high", all[i].Joint.High, want.high)
	}
}

// TestMultivariateT compares the distribution of the largest |t| with pmvt of the R package mvtnorm 1.1-3, and for unequal correlations with
// a double integral by scipy.integrate.quad 1.10.1.
func TestMultivariateT(t *testing.T) {
	for _, c := range []struct {
		at, freedom float64
		loads       []float64
		want        float64
	}{
		{2, 9, []float64{0.5, 0.5}, 0.1319962703},
		{3, 5, []float64{0.3, 0.3, 0.3}, 0.0740941308},
		{12, 1, []float64{0.5, 0.5}, 0.0722667342},
		{2, 7, []float64{0.2, 0.5, 0.8}, 0.1936061628},
		{2.8, 20, []float64{0.2, 0.5, 0.8}, 0.0292020094},
	} {
		j := joint{shared: true}
		for _, l := range c.loads {
			j.add(l, c.freedom)
		}
		near(t, "P", j.smallest(twoSided(c.at, c.freedom)), c.want)
	}
}

// TestBCaOfAllResamples compares with _bca_interval of SciPy 1.10.1, for all 3,125 resamples of five values.
func TestBCaOfAllResamples(t *testing.T) {
	sorted := []float64{0.5, 1.2, 2.2, 3.4, 7.9}
	for _, c := range []struct {
		name      string
		statistic func([]float64) float64
		low, high float64
	}{
		{"mean", Mean, 1.36, 6.42},
		{"median", Quantile(0.5), 0.5, 7.9},
	} {
		var replicates []float64
		for code := range 3125 {
			var resample []float64
			for range 5 {
				resample = append(resample, sorted[code%5])
				code /= 5
			}
			slices.Sort(resample)
			replicates = append(replicates, c.statistic(resample))
		}
		slices.Sort(replicates)
		i := accelerated(c.statistic(sorted), replicates, jackknife(sorted, c.statistic), 1.959963984540054)
		near(t, c.name+": low", i.Low, c.low)
		near(t, c.name+": high", i.High, c.high)
	}
}

// TestHolmOfR compares with p.adjust(p, "holm") of R 4.2.2.
func TestHolmOfR(t *testing.T) {
	for _, c := range []struct{ p, want []float64 }{
		{[]float64{0.01, 0.02, 0.03, 0.04, 0.05}, []float64{0.05, 0.08, 0.09, 0.09, 0.09}},
		{[]float64{0.3, 0.001, 0.04, 0.01, 0.02}, []float64{0.3, 0.005, 0.08, 0.04, 0.06}},
	} {
		for i, got := range Holm(c.p) {
			near(t, "adjusted p", got, c.want[i])
		}
	}
}

// TestPowerOfR reproduces the examples of R's power.t.test: power.t.test(n = 20, delta = 1, sd = 1) finds 0.8689528, and power = 0.90 needs
// n = 22.02110. The other figures are from R 4.2.2 with strict = TRUE.
func TestPowerOfR(t *testing.T) {
	for _, c := range []struct {
		n      int
		effect float64
		paired bool
		want   float64
	}{
		{20, 1, false, 0.868953027724586},
		{8, 1 / 1.2, true, 0.52829966023508},
		{2, 3, false, 0.387400128526177},
		{3, 3, true, 0.745268007006682},
		{200, 0.1, false, 0.169480924625557},
		{50, 2, true, 1},
	} {
		near(t, "power", Power(c.n, c.effect, c.paired), c.want)
	}
	for _, c := range []struct {
		difference, power float64
		paired            bool
		want              int
	}{{1, 0.9, false, 23}, {0.5, 0.8, true, 34}, {0.5, 0.8, false, 64}} {
		if got := Replicates(c.difference, 1, c.power, c.paired); got != c.want {
			t.Errorf("replicates for %v: got %d, want %d", c, got, c.want)
		}
	}
}

// TestQuantilesOfT compares critical values with qt of R 4.2.2, far into the tail.
func TestQuantilesOfT(t *testing.T) {
	for _, c := range []struct{ p, freedom, want float64 }{
		{1e-12, 1, 636619772368}, {1e-12, 3.7, 2607.44949729}, {1e-6, 2, 999.99925}, {0.01, 10, 3.16927267262}, {0.05, 100, 1.98397151852},
	} {
		near(t, "critical", critical(c.p, c.freedom), c.want)
		near(t, "p", math.Log(twoSided(c.want, c.freedom)), math.Log(c.p))
	}
}

// TestAnytimeP compares with the ratio of the noncentral t density, averaged over normal effect sizes, to that of t, by scipy.integrate.quad 1.10.1.
func TestAnytimeP(t *testing.T) {
	for _, c := range []struct {
		n     int
		t     float64
		ratio float64
	}{{5, 2.5, 2.4060171396171786}, {10, 2.5, 3.1010286531522198}, {30, 3.3, 17.90077051661353}} {
		// Values with mean t / sqrt(n) and deviation 1. The outermost come first, in pairs, so that the evidence is largest at the end.
		values := make([]float64, c.n)
		for i := range values {
			values[i] = float64(i / 2)
			if i%2 == 1 {
				values[i] = float64(c.n - 1 - i/2)
			}
		}
		mean, sd := moments(values)
		for i, x := range values {
			values[i] = (x-mean)/sd + c.t/math.Sqrt(float64(c.n))
		}
		near(t, "p", AnytimeP(values), 1/c.ratio)
	}
}

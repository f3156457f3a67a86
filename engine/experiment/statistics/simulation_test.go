package statistics

import (
	"math"
	"math/rand/v2"
	"testing"
)

// These tests hold the claims of the package over synthetic experiments with a known truth. Each has its own fixed seed; more experiments than
// 2,000 are used where they are cheap, because the share of 2,000 has a standard error of 0.5% itself.

const experiments = 2000

// share returns in which share of experiments something holds.
func share(seed uint64, count int, holds func(r *rand.Rand) bool) float64 {
	r, n := rand.New(rand.NewPCG(seed, 25)), 0
	for range count {
		if holds(r) {
			n++
		}
	}
	return float64(n) / float64(count)
}

// between fails the test unless a share is within bounds.
func between(t *testing.T, name string, got, low, high float64) {
	t.Helper()
	t.Logf("%s: %.2f%%", name, 100*got)
	if got < low || got > high {
		t.Errorf("%s: %.2f%%, want %.0f to %.0f%%", name, 100*got, 100*low, 100*high)
	}
}

func draw(n int, f func() float64) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = f()
	}
	return all
}

// together returns n pairs of normal values with a correlation; the second has a mean of shift.
func together(r *rand.Rand, n int, correlation, shift float64) (x, y []float64) {
	x = draw(n, r.NormFloat64)
	for _, a := range x {
		y = append(y, shift+correlation*a+math.Sqrt(1-correlation*correlation)*r.NormFloat64())
	}
	return x, y
}

// binomial returns the share of hits among m agents.
func binomial(r *rand.Rand, m int, p float64) float64 {
	hits := 0
	for range m {
		if r.Float64() < p {
			hits++
		}
	}
	return float64(hits) / float64(m)
}

func TestSimulationMean(t *testing.T) {
	for _, n := range []int{2, 3, 10, 40} {
		got := share(uint64(n), 10000, func(r *rand.Rand) bool {
			return Summarize(draw(n, r.NormFloat64), Number, 0).Interval.Contains(0)
		})
		between(t, "Student's interval covers", got, 0.93, 0.97)
	}
}

func TestSimulationBootstrap(t *testing.T) {
	for _, c := range []struct {
		name string
		kind Kind
		mean float64
		draw func(r *rand.Rand) float64
	}{
		{"exponential cost", Cost, 1, func(r *rand.Rand) float64 { return r.ExpFloat64() }},
		{"log-normal percentile", Percentile, math.Exp(0.125), func(r *rand.Rand) float64 { return math.Exp(0.5 * r.NormFloat64()) }},
		{"share of 2%", Share, 0.02, func(r *rand.Rand) float64 { return binomial(r, 100, 0.02) }},
		{"share of 97%", Share, 0.97, func(r *rand.Rand) float64 { return binomial(r, 50, 0.97) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			seed := uint64(0)
			got := share(7, experiments, func(r *rand.Rand) bool {
				seed++
				i := Summarize(draw(MinBootstrap, func() float64 { return c.draw(r) }), c.kind, seed).Interval
				if i.Method != BootstrapBCa {
					t.Fatalf("method %q", i.Method)
				}
				return i.Contains(c.mean)
			})
			between(t, "the bootstrap interval covers", got, 0.93, 0.97)
		})
	}
}

func TestSimulationPaired(t *testing.T) {
	for _, n := range []int{3, 5, 6, 8, 11, 12, 30} {
		rejected, missed := 0, 0
		share(uint64(100+n), 4000, func(r *rand.Rand) bool {
			x, y := together(r, n, 0.9, 0)
			d := Differ(x, y, Number, true)
			if d.P < alpha {
				rejected++
			}
			if !d.Interval.Contains(0) {
				missed++
			}
			return true
		})
		// With 6 pairs the exact interval covers 1 - 2/64 = 96.9%: the bound is that, with four standard errors.
		between(t, "the paired interval covers", 1-float64(missed)/4000, 0.93, 0.98)
		between(t, "false positives of pairs", float64(rejected)/4000, 0, 0.06)
	}
}

// TestSimulationFallback shows why Differ keeps the paired test when the correlation is at most 0: the choice by the sign of the correlation
// would reject too often.
func TestSimulationFallback(t *testing.T) {
	for _, correlation := range []float64{0, -0.5} {
		switched := 0
		got := share(31, 10000, func(r *rand.Rand) bool {
			x, y := together(r, 12, correlation, 0)
			d := Differ(x, y, Number, true)
			p := d.P
			if d.Pairing.Correlation <= 0 {
				w := Welch(x, y)
				p = w.P
			}
			if p < alpha {
				switched++
			}
			return d.P < alpha
		})
		between(t, "false positives of the paired test", got, 0.04, 0.06)
		between(t, "false positives of the choice by correlation", float64(switched)/10000, 0.055, 1)
		if correlation < 0 && switched < 900 {
			t.Errorf("with a correlation of %v the choice rejected %d of 10,000: the reason for the rule is gone", correlation, switched)
		}
	}
}

func TestSimulationWelch(t *testing.T) {
	for _, c := range []struct {
		n, m int
		sd   float64
	}{{5, 5, 1}, {10, 5, 3}, {20, 8, 0.2}} {
		rejected := 0
		got := share(41, 10000, func(r *rand.Rand) bool {
			x, y := draw(c.n, r.NormFloat64), draw(c.m, func() float64 { return 2 + c.sd*r.NormFloat64() })
			if w := Welch(x, draw(c.m, func() float64 { return c.sd * r.NormFloat64() })); w.P < alpha {
				rejected++
			}
			w := Welch(x, y)
			return w.Interval.Contains(2)
		})
		between(t, "Welch's interval covers", got, 0.93, 0.97)
		between(t, "false positives of Welch's test", float64(rejected)/10000, 0, 0.06)
	}
}

func TestSimulationRanks(t *testing.T) {
	for _, c := range []struct{ n, m, count int }{{5, 6, 4000}, {10, 12, 4000}, {25, 25, experiments}} {
		rejected := 0
		got := share(51, c.count, func(r *rand.Rand) bool {
			latency := func() float64 { return 100 + 40*r.ExpFloat64() }
			x, y := draw(c.n, latency), draw(c.m, latency)
			if d := Differ(x, y, Timing, true); d.P < alpha {
				rejected++
			}
			for i := range y {
				y[i] += 25
			}
			d := Ranks(x, y)
			return d.Interval.Contains(25)
		})
		between(t, "the rank interval covers", got, 0.93, 0.975)
		between(t, "false positives of ranks", float64(rejected)/float64(c.count), 0, 0.06)
	}
}

// TestSimulationEquivalence checks "no difference larger than X": the true difference is larger in at most 5%, with room for chance.
func TestSimulationEquivalence(t *testing.T) {
	for _, shift := range []float64{0, 0.1, 2} {
		got := share(61, 10000, func(r *rand.Rand) bool {
			x, y := together(r, 15, 0.8, shift)
			d := Paired(x, y)
			return shift > d.Margin
		})
		between(t, "the difference is larger than the margin", got, 0, 0.06)
	}
	got := share(62, 4000, func(r *rand.Rand) bool {
		x, y := together(r, 9, 0.8, 2)
		d := Paired(x, y)
		return 2 > d.Margin
	})
	between(t, "the difference is larger than the margin of few pairs", got, 0.03, 0.06)
}

func TestSimulationPower(t *testing.T) {
	for _, c := range []struct {
		n      int
		effect float64
		paired bool
	}{{12, 0.9, true}, {20, 0.6, true}, {10, 1.2, false}, {30, 0.5, false}} {
		got := share(71, 10000, func(r *rand.Rand) bool {
			x, y := make([]float64, c.n), draw(c.n, func() float64 { return c.effect + r.NormFloat64() })
			if !c.paired {
				x = draw(c.n, r.NormFloat64)
			}
			d := Differ(x, y, Number, c.paired)
			return d.P < alpha
		})
		want := Power(c.n, c.effect, c.paired)
		between(t, "power", got, want-0.02, want+0.02)
	}
}

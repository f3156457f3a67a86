package statistics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// sample draws values that are far enough apart for rounding not to matter.
func sample(t *rapid.T, name string, least, most int) []float64 {
	whole := rapid.SliceOfN(rapid.IntRange(-5000, 5000), least, most).Draw(t, name)
	all := make([]float64, len(whole))
	for i, x := range whole {
		all[i] = float64(x) / 16
	}
	return all
}

func mapped(values []float64, f func(float64) float64) []float64 {
	all := make([]float64, len(values))
	for i, x := range values {
		all[i] = f(x)
	}
	return all
}

// alikeFigures fails unless two figures are equal up to rounding, or both unknown.
func alikeFigures(t *rapid.T, name string, got, want float64) {
	t.Helper()
	if math.IsNaN(got) && math.IsNaN(want) || got == want {
		return
	}
	if !(math.Abs(got-want) <= 1e-9*(1+math.Abs(got)+math.Abs(want))) {
		t.Fatalf("%s: got %v, want %v", name, got, want)
	}
}

// tests are the comparisons, by name.
var tests = map[string]func(baseline, point []float64) Difference{"paired": Paired, "Welch": Welch, "ranks": Ranks}

// TestShiftAndScale: a shift of the point shifts estimate and interval; a scale of both scales them; both leave p-values as they are.
func TestShiftAndScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 14).Draw(t, "n")
		x, y := sample(t, "x", n, n), sample(t, "y", n, n)
		shift, scale := float64(rapid.IntRange(-100, 100).Draw(t, "shift")), float64(rapid.IntRange(1, 64).Draw(t, "scale"))/8
		for name, test := range tests {
			d, moved := test(x, y), test(x, mapped(y, func(a float64) float64 { return a + shift }))
			alikeFigures(t, name+": shifted value", moved.Value, d.Value+shift)
			if d.Interval.Known() && moved.Interval.Known() {
				alikeFigures(t, name+": shifted low", moved.Interval.Low, d.Interval.Low+shift)
				alikeFigures(t, name+": shifted high", moved.Interval.High, d.Interval.High+shift)
			}
			times := func(a float64) float64 { return a * scale }
			scaled := test(mapped(x, times), mapped(y, times))
			alikeFigures(t, name+": scaled value", scaled.Value, d.Value*scale)
			alikeFigures(t, name+": scaled low", scaled.Interval.Low, d.Interval.Low*scale)
			alikeFigures(t, name+": scaled margin", scaled.Margin, d.Margin*scale)
			alikeFigures(t, name+": scaled p", scaled.P, d.P)
			alikeFigures(t, name+": scaled effect", scaled.Effect.Value, d.Effect.Value)
		}
		s := Summarize(x, Number, 1)
		moved := Summarize(mapped(x, func(a float64) float64 { return a*scale + shift }), Number, 1)
		alikeFigures(t, "median", moved.Median, s.Median*scale+shift)
		alikeFigures(t, "deviation", moved.SD, s.SD*scale)
		alikeFigures(t, "low", moved.Interval.Low, s.Interval.Low*scale+shift)
	})
}

// TestOrderAndSign: the order of pairs or runs makes no difference, missing pairs make none, and swapping the points turns the signs.
func TestOrderAndSign(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 14).Draw(t, "n")
		x, y := sample(t, "x", n, n), sample(t, "y", n, n)
		order := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0)).Perm(n)
		px, py := make([]float64, 0, n+2), make([]float64, 0, n+2)
		for _, i := range order {
			px, py = append(px, x[i]), append(py, y[i])
		}
		px, py = append(px, math.NaN(), math.Inf(1)), append(py, math.NaN(), math.NaN())
		for name, test := range tests {
			d, other, swapped := test(x, y), test(px, py), test(y, x)
			alikeFigures(t, name+": value in another order", other.Value, d.Value)
			alikeFigures(t, name+": p in another order", other.P, d.P)
			alikeFigures(t, name+": low in another order", other.Interval.Low, d.Interval.Low)
			if other.Missing != 4 {
				t.Fatalf("%s: %d runs are missing, want 4", name, other.Missing)
			}
			alikeFigures(t, name+": swapped value", swapped.Value, -d.Value)
			alikeFigures(t, name+": swapped p", swapped.P, d.P)
			alikeFigures(t, name+": swapped bound", swapped.Interval.Low, -d.Interval.High)
			alikeFigures(t, name+": swapped margin", swapped.Margin, d.Margin)
		}
	})
}

// TestConsistent: an interval holds its estimate, and excludes zero exactly if its test rejects; the margin is no smaller than the estimate.
func TestConsistent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 16).Draw(t, "n")
		x, y := sample(t, "x", n, n), sample(t, "y", n, n)
		for name, test := range tests {
			d := test(x, y)
			if !math.IsNaN(d.P) && (d.P <= 0 || d.P > 1) {
				t.Fatalf("%s: p = %v", name, d.P)
			}
			if !d.Interval.Known() {
				continue
			}
			slack := 1e-9 * (1 + math.Abs(d.Value))
			if d.Value < d.Interval.Low-slack || d.Value > d.Interval.High+slack || math.Abs(d.Value) > d.Margin+slack {
				t.Fatalf("%s: value %v, interval %+v, margin %v", name, d.Value, d.Interval, d.Margin)
			}
			// Ties may make the rank interval wider than its test, and few pairs have an interval of another test.
			if name != "ranks" && d.Interval.Method == d.Test {
				if excludes := d.Interval.Low > slack || d.Interval.High < -slack; excludes && d.P > alpha {
					t.Fatalf("%s: the interval %+v excludes 0, but p = %v", name, d.Interval, d.P)
				}
			}
		}
	})
}

func TestHolmProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 12).Draw(t, "p")
		all := Holm(p)
		for i, a := range all {
			if a < p[i] || a > math.Min(1, p[i]*float64(len(p)))+1e-15 && a > slices.Max(all) {
				t.Fatalf("%v became %v", p[i], a)
			}
			for j, b := range all {
				if p[i] < p[j] && a > b {
					t.Fatalf("%v < %v, but %v > %v", p[i], p[j], a, b)
				}
			}
		}
		with := Holm(append([]float64{math.NaN()}, p...))
		if !math.IsNaN(with[0]) || !slices.Equal(with[1:], all) {
			t.Fatalf("an unknown value changed %v to %v", all, with)
		}
		// A row of equal values counts once, as its values are corrected for each other already.
		rows := make([][]float64, len(p))
		for i, x := range p {
			rows[i] = []float64{x, x, x}
		}
		for i, row := range HolmRows(rows) {
			if row[0] != all[i] || row[2] > all[i] && row[2] > slices.Max(all) {
				t.Fatalf("rows of %v: %v, want %v", p, row, all)
			}
		}
	})
}

// TestJointProperties: a joint p-value is between the single one and Bonferroni's, and rises with the single one; the level is its inverse.
func TestJointProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := joint{shared: rapid.Bool().Draw(t, "shared")}
		freedom := float64(rapid.IntRange(1, 60).Draw(t, "freedom"))
		count := rapid.IntRange(1, 8).Draw(t, "points")
		for range count {
			if !j.shared {
				freedom = float64(rapid.IntRange(1, 60).Draw(t, "freedom"))
			}
			j.add(float64(rapid.IntRange(0, 19).Draw(t, "load"))/20, freedom)
		}
		p := math.Exp(rapid.Float64Range(-12, 0).Draw(t, "log p"))
		q, less := j.smallest(p), j.smallest(p*0.9)
		if q < p || q > math.Min(1, p*float64(count))*(1+1e-3) || less > q*(1+1e-6) {
			t.Fatalf("single %v, joint %v of %d; %v at nine tenths", p, q, count, less)
		}
		if got := j.smallest(j.level(alpha)); math.Abs(got-alpha) > 1e-6 {
			t.Fatalf("at the level of %v the joint error is %v", alpha, got)
		}
	})
}

// TestBootstrapProperties: the same seed returns the same interval, whatever the order; it stays within the values.
func TestBootstrapProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := sample(t, "x", 3, 30)
		seed := rapid.Uint64().Draw(t, "seed")
		i := Bootstrap(x, Mean, seed)
		turned := slices.Clone(x)
		slices.Reverse(turned)
		if j := Bootstrap(turned, Mean, seed); i != j && (i.Known() || j.Known()) {
			t.Fatalf("in reverse order: %+v, want %+v", j, i)
		}
		if i.Known() && (i.Low < slices.Min(x) || i.High > slices.Max(x) || i.Low > i.High) {
			t.Fatalf("interval %+v of %v", i, x)
		}
		if !i.Known() && i.Note == "" {
			t.Fatalf("unknown without a note: %+v", i)
		}
	})
}

func TestPowerProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, effect, paired := rapid.IntRange(2, 200).Draw(t, "n"), rapid.Float64Range(0.01, 5).Draw(t, "effect"), rapid.Bool().Draw(t, "paired")
		p := Power(n, effect, paired)
		if p < alpha-1e-9 || p > 1 || Power(n+1, effect, paired) < p-1e-9 || Power(n, effect*1.1, paired) < p-1e-9 {
			t.Fatalf("power %v of %d runs", p, n)
		}
		power := rapid.Float64Range(0.1, 0.99).Draw(t, "power")
		r := Replicates(effect, 1, power, paired)
		if Power(r, effect, paired) < power || r > 2 && !paired && Power(r-1, effect, paired) >= power {
			t.Fatalf("%d runs have a power of %v, one less of %v; wanted %v", r, Power(r, effect, paired), Power(r-1, effect, paired), power)
		}
	})
}

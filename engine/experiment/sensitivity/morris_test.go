package sensitivity

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// trajectories returns the points of r trajectories over k factors, as the design of Morris (1991): levels of a grid, steps of delta.
func trajectories(r *rand.Rand, count, k, levels int) (points [][]float64) {
	delta := float64(levels) / (2 * float64(levels-1))
	for range count {
		at := make([]float64, k)
		for f := range at {
			at[f] = float64(r.IntN(levels/2)) / float64(levels-1)
		}
		up := make([]bool, k)
		for f := range up {
			if up[f] = r.IntN(2) == 0; !up[f] {
				at[f] += delta
			}
		}
		points = append(points, append([]float64(nil), at...))
		for _, f := range r.Perm(k) {
			if up[f] {
				at[f] += delta
			} else {
				at[f] -= delta
			}
			points = append(points, append([]float64(nil), at...))
		}
	}
	return points
}

func values(points [][]float64, f func(x []float64) float64) []float64 {
	all := make([]float64, len(points))
	for i, x := range points {
		all[i] = f(x)
	}
	return all
}

// morris1991 is the test function of Morris (1991), section 5, with 20 inputs; the small coefficients come from a fixed seed.
func morris1991() func(x []float64) float64 {
	r := rand.New(rand.NewPCG(1991, 0))
	first, second := make([]float64, 20), make([][]float64, 20)
	for i := range first {
		if first[i] = r.NormFloat64(); i < 10 {
			first[i] = 20
		}
		second[i] = make([]float64, 20)
		for j := range i {
			if second[i][j] = r.NormFloat64(); i < 6 {
				second[i][j] = -15
			}
		}
	}
	return func(x []float64) (y float64) {
		w := make([]float64, 20)
		for i, a := range x {
			if w[i] = 2 * (a - 0.5); i == 2 || i == 4 || i == 6 {
				w[i] = 2 * (1.1*a/(a+0.1) - 0.5)
			}
		}
		for i := range w {
			y += first[i] * w[i]
			for j := range i {
				y += second[i][j] * w[i] * w[j]
				for l := range j {
					if i < 5 {
						y -= 10 * w[i] * w[j] * w[l]
					}
					for s := range l {
						if i < 4 {
							y += 5 * w[i] * w[j] * w[l] * w[s]
						}
					}
				}
			}
		}
		return y
	}
}

// TestMorrisFunction reproduces what Morris (1991) finds in his figure 1 with four trajectories, here with 20 so that it does not hang on luck:
// the first ten inputs matter; 8, 9 and 10 have large means and small deviations, the first seven depend on others or bend, and the last
// ten are near zero.
func TestMorrisFunction(t *testing.T) {
	points := trajectories(rand.New(rand.NewPCG(3, 4)), 20, 20, 4)
	all, err := Morris(points, values(points, morris1991()), 1)
	if err != nil {
		t.Fatal(err)
	}
	for f, s := range all {
		switch {
		case s.Factor != f || s.N != 20:
			t.Errorf("input %d: factor %d, %d effects", f+1, s.Factor, s.N)
		case f < 7 && (s.MeanAbs < 25 || s.SD < 18):
			t.Errorf("input %d matters and depends on others: µ* = %.1f, σ = %.1f", f+1, s.MeanAbs, s.SD)
		case f >= 7 && f < 10 && (math.Abs(s.Mean-40) > 8 || s.SD > 12):
			t.Errorf("input %d has an effect near 40 alone: µ = %.1f, σ = %.1f", f+1, s.Mean, s.SD)
		case f >= 10 && (s.MeanAbs > 8 || s.MeanAbs <= 0):
			t.Errorf("input %d does not matter: µ* = %.1f", f+1, s.MeanAbs)
		}
		if !s.OfAbs.Contains(s.MeanAbs) || !s.OfMean.Contains(s.Mean) || !s.OfSD.Known() || s.OfAbs.Note != "" {
			t.Errorf("input %d: intervals %+v, %+v, %+v", f+1, s.OfAbs, s.OfMean, s.OfSD)
		}
	}
}

// TestMorrisLinear: a linear function's elementary effects are its coefficients, and have no interval; a missing value costs its two effects.
func TestMorrisLinear(t *testing.T) {
	points := trajectories(rand.New(rand.NewPCG(5, 6)), 4, 3, 6)
	y := values(points, func(x []float64) float64 { return 3*x[0] - 2*x[1] + 7 })
	all, err := Morris(points, y, 1)
	if err != nil {
		t.Fatal(err)
	}
	for f, want := range []float64{3, -2, 0} {
		s := all[f]
		if math.Abs(s.Mean-want) > 1e-12 || math.Abs(s.MeanAbs-math.Abs(want)) > 1e-12 || s.SD > 1e-12 || s.N != 4 {
			t.Errorf("factor %d: %+v, want effects of %v", f, s, want)
		}
		if s.OfAbs.Known() && s.OfAbs.HalfWidth() > 1e-12 || !s.OfAbs.Known() && !strings.Contains(s.OfAbs.Note, "4 trajectories") {
			t.Errorf("factor %d: interval %+v", f, s.OfAbs)
		}
	}
	y[1], y[7] = math.NaN(), math.Inf(1)
	all, err = Morris(points, y, 1)
	if err != nil {
		t.Fatal(err)
	}
	if n := all[0].N + all[1].N + all[2].N; n != 12-3 {
		t.Errorf("%d effects are left, want 9", n)
	}
}

func TestMorrisRough(t *testing.T) {
	points := trajectories(rand.New(rand.NewPCG(7, 8)), 6, 2, 4)
	all, err := Morris(points, values(points, func(x []float64) float64 { return x[0] * x[1] }), 1)
	if err != nil {
		t.Fatal(err)
	}
	if i := all[0].OfAbs; !i.Known() || !strings.Contains(i.Note, "rough: 6 trajectories") {
		t.Errorf("interval %+v", i)
	}
}

func TestMorrisMistakes(t *testing.T) {
	for _, c := range []struct {
		name   string
		points [][]float64
		values []float64
		want   string
	}{
		{"empty", nil, nil, "no points"},
		{"ragged", [][]float64{{0, 1}, {1}, {1, 1}}, make([]float64, 3), "point 1 has 1 factors"},
		{"values", [][]float64{{0}, {1}}, make([]float64, 3), "3 values for 2 points"},
		{"length", [][]float64{{0}, {1}, {0}}, make([]float64, 3), "not trajectories of 2"},
		{"two change", [][]float64{{0, 0}, {1, 1}, {0, 1}}, make([]float64, 3), "trajectory 0: factors 0 and 1 change in one step"},
		{"none changes", [][]float64{{0, 0}, {0, 0}, {0, 1}}, make([]float64, 3), "no factor changes in step 1"},
		{"twice", [][]float64{{0, 0}, {0, 1}, {0, 0}}, make([]float64, 3), "factor 1 changes twice"},
	} {
		if _, err := Morris(c.points, c.values, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

package calibrate

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// pointsOf returns repeated points of a curve with relative noise of a given standard deviation.
func pointsOf(c Curve, levels []int, repeats int, noise float64, seed uint64) []point {
	rng := rand.New(rand.NewPCG(seed, 1))
	var all []point
	for _, n := range levels {
		for range repeats {
			all = append(all, point{n: float64(n), x: c.At(float64(n)) * (1 + noise*rng.NormFloat64())})
		}
	}
	return all
}

var doubling = []int{1, 2, 4, 8, 16, 32, 64}

// TestFitFindsTheCurve checks that the fit recovers any curve from exact points.
func TestFitFindsTheCurve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Curve{
			Lambda: rapid.Float64Range(0.01, 1e5).Draw(t, "lambda"),
			Sigma:  rapid.Float64Range(0, 0.5).Draw(t, "sigma"),
			Kappa:  rapid.Float64Range(0, 0.01).Draw(t, "kappa"),
		}
		got, _, ok := fit(pointsOf(want, doubling, 1, 0, 0))
		if !ok {
			t.Fatal("no curve")
		}
		for _, n := range doubling {
			if e := got.At(float64(n))/want.At(float64(n)) - 1; math.Abs(e) > 1e-6 {
				t.Errorf("at %d the curve %v is off by %g from %v", n, got, e, want)
			}
		}
	})
}

// TestFitIsTheBest checks that no curve nearby has a smaller sum of squares, also on the bounds, for any noise.
func TestFitIsTheBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		truth := Curve{100, rapid.Float64Range(0, 0.3).Draw(t, "sigma"), rapid.Float64Range(0, 0.01).Draw(t, "kappa")}
		var points []point
		for _, n := range doubling {
			points = append(points, point{n: float64(n), x: truth.At(float64(n)) * rapid.Float64Range(0.6, 1.6).Draw(t, "noise")})
		}
		c, _, ok := fit(points)
		if !ok || !(c.Lambda > 0) || c.Sigma < 0 || c.Kappa < 0 {
			t.Fatalf("the curve is %v, %v", c, ok)
		}
		points = scaled(points)
		least := side{}.cost(points, c)
		for _, by := range []float64{-1e-3, 1e-3} {
			for _, near := range []Curve{
				{c.Lambda * (1 + by), c.Sigma, c.Kappa},
				{c.Lambda, max(c.Sigma+by*max(c.Sigma, 1e-3), 0), c.Kappa},
				{c.Lambda, c.Sigma, max(c.Kappa+by*max(c.Kappa, 1e-4), 0)},
			} {
				if cost := (side{}).cost(points, near); cost < least*(1-1e-6) {
					t.Errorf("%v costs %g, less than %v with %g", near, cost, c, least)
				}
			}
		}
	})
}

func TestFitNeedsTwoLevels(t *testing.T) {
	for _, points := range [][]point{nil, {{n: 4, x: 100}}, {{n: 4, x: 100}, {n: 4, x: 110}}} {
		if c, _, ok := fit(points); ok {
			t.Errorf("%v = %v", points, c)
		}
	}
	c, free, ok := fit([]point{{n: 1, x: 100}, {n: 4, x: 400}})
	if !ok || math.Abs(c.Lambda-100) > 1e-6 || c.Sigma > 1e-9 || free > 2 {
		t.Errorf("two points on a line: %v with %d parameters, %v", c, free, ok)
	}
}

// TestOneDisturbedMeasurement makes one point far too low, at any level, and checks that the curve hardly changes.
func TestOneDisturbedMeasurement(t *testing.T) {
	truth := Curve{450, 0.05, 0.0005}
	for i := range 3 * len(doubling) {
		points := pointsOf(truth, doubling, 3, 0.03, 6)
		points[i].x *= 0.005
		c, _, ok := fit(points)
		if !ok {
			t.Fatal("no curve")
		}
		for _, n := range doubling {
			if share := c.At(float64(n)) / truth.At(float64(n)); share < 0.6 || share > 1.4 {
				t.Errorf("with measurement %d of level %v disturbed, at %d the curve is %.2f of the true value", i, points[i].n, n, share)
			}
		}
	}
}

func TestPeak(t *testing.T) {
	tests := []struct {
		curve Curve
		want  float64
	}{
		{Curve{100, 0.1, 0}, math.Inf(1)},
		{Curve{100, 0.19, 0.01}, 9},
		{Curve{100, 2, 0.01}, 0},
	}
	for _, tt := range tests {
		if got := tt.curve.Peak(); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("the peak of %v is at %v, want %v", tt.curve, got, tt.want)
		}
	}
}

// TestBestIsTheSmallestThatIsEnough compares the best level with the result of trying all levels.
func TestBestIsTheSmallestThatIsEnough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Curve{100, rapid.Float64Range(0, 1.5).Draw(t, "sigma"), rapid.Float64Range(0, 0.05).Draw(t, "kappa")}
		lowest := rapid.IntRange(1, 20).Draw(t, "lowest")
		highest := lowest + rapid.IntRange(0, 200).Draw(t, "more")
		top := 0.0
		for n := lowest; n <= highest; n++ {
			top = max(top, c.At(float64(n)))
		}
		want := lowest
		for c.At(float64(want)) < 0.95*top*(1-1e-12) {
			want++
		}
		if got := c.Best(lowest, highest, 0.95); got != want {
			t.Errorf("the best of %v from %d to %d is %d, want %d", c, lowest, highest, got, want)
		}
	})
}

func BenchmarkEvaluate(b *testing.B) {
	samples := samplesOf(Curve{100, 0.02, 0.0005}, doubling, 3, 0.05, 1)
	for b.Loop() {
		Evaluate(Plan{}, samples)
	}
}

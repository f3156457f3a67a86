package calibrate

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestResidualsAreCentered checks that resampled errors have no bias, and are larger than the observed ones.
func TestResidualsAreCentered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Curve{100, 0.05, 0.001}
		points := pointsOf(c, doubling, 3, 0.05, rapid.Uint64().Draw(t, "seed"))
		errs := residuals(points, c, 3)
		sum, square, seen := 0.0, 0.0, 0.0
		for i, e := range errs {
			sum += e
			square += e * e
			own := points[i].x/c.At(points[i].n) - 1
			seen += own * own
		}
		if math.Abs(sum) > 1e-9 {
			t.Errorf("the sum is %v", sum)
		}
		mean := 0.0
		for _, p := range points {
			mean += (p.x/c.At(p.n) - 1) / float64(len(points))
		}
		if seen -= mean * mean * float64(len(points)); !(square > seen) {
			t.Errorf("the sum of squares is %v, of the observed ones %v", square, seen)
		}
	})
}

func TestNoErrorsAreKnown(t *testing.T) {
	c := Curve{100, 0, 0}
	for n := range 4 {
		points := pointsOf(c, doubling[:n], 1, 0.05, 1)
		if errs := residuals(points, c, 3); errs != nil {
			t.Errorf("%d points and 3 parameters leave %v", n, errs)
		}
		if _, ok := bootstrap(points, c, 3, 1, 4, 4, 1); ok {
			t.Errorf("%d points and 3 parameters have an interval", n)
		}
	}
}

// TestWithoutNoiseIntervalsAreNarrow checks each shape of curve.
func TestWithoutNoiseIntervalsAreNarrow(t *testing.T) {
	for _, tt := range curves {
		r := Evaluate(Plan{}, samplesOf(tt.curve, doubling, 2, 0, 1))
		if want := tt.curve.Best(1, 64, enough); r.Low < want-1 || r.High > want+1 || r.Level < want-1 || r.Level > want+1 {
			t.Errorf("%s: recommends %d, from %d to %d, want %d", tt.name, r.Level, r.Low, r.High, want)
		}
		for _, b := range r.Band {
			if b.High/b.Low > 1.01 {
				t.Errorf("%s: at %v the interval goes from %v to %v", tt.name, b.Level, b.Low, b.High)
			}
		}
	}
}

// TestMoreNoiseIsWider compares the same sweep with little and with much noise.
func TestMoreNoiseIsWider(t *testing.T) {
	width := func(noise float64) float64 {
		r := Evaluate(Plan{}, samplesOf(Curve{100, 0.05, 0.001}, doubling, 3, noise, 3))
		sum := 0.0
		for _, b := range r.Band {
			sum += (b.High - b.Low) / b.PerSecond
		}
		return sum / float64(len(r.Band))
	}
	if little, much := width(0.01), width(0.1); !(much > 4*little) {
		t.Errorf("widths are %v with little noise and %v with ten times as much", little, much)
	}
}

// TestTheBandContainsItsCurve checks that the band contains its curve, starts at the lowest level, ends at the highest
// one measured, and ascends.
func TestTheBandContainsItsCurve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Curve{100, rapid.Float64Range(0, 0.3).Draw(t, "sigma"), rapid.Float64Range(0, 0.005).Draw(t, "kappa")}
		noise := rapid.Float64Range(0, 0.1).Draw(t, "noise")
		r := Evaluate(Plan{}, samplesOf(c, []int{2, 4, 8, 16}, 2, noise, rapid.Uint64().Draw(t, "seed")))
		if n := len(r.Band); n != bandPoints || math.Abs(r.Band[0].Level-2) > 1e-9 || math.Abs(r.Band[n-1].Level-16) > 1e-9 {
			t.Fatalf("the band is %v", r.Band)
		}
		for i, b := range r.Band {
			if b.Low > b.High || i > 0 && b.Level <= r.Band[i-1].Level || math.Abs(b.PerSecond-r.Curve.At(b.Level)) > 1e-9 {
				t.Errorf("place %d is %+v", i, b)
			}
		}
		if r.Lambda.Low > r.Lambda.High || r.Sigma.Low < 0 || r.Kappa.Low < 0 {
			t.Errorf("λ %v, σ %v, κ %v", r.Lambda, r.Sigma, r.Kappa)
		}
	})
}

// TestACurveWithoutAnInterval checks that with as many points as parameters there is a curve but no interval.
func TestACurveWithoutAnInterval(t *testing.T) {
	r := Evaluate(Plan{}, samplesOf(Curve{100, 0.1, 0.01}, []int{1, 4, 16}, 1, 0, 1))
	if !r.Fitted || r.Spread || len(r.Band) != bandPoints || r.Band[5].Low != r.Band[5].High || r.Low != r.Level || r.High != r.Level {
		t.Errorf("%+v", r)
	}
	if law := r.Law(); law != "X(n) = λn / (1 + σ(n−1) + κn(n−1)) with λ 100, σ 0.1, κ 0.01" {
		t.Errorf("got %q", law)
	}
}

func TestPlaces(t *testing.T) {
	if got := places(5, 5); len(got) != 1 || got[0] != 5 {
		t.Errorf("for one level there are %v", got)
	}
	got := places(1, 64)
	if len(got) != bandPoints || got[0] != 1 || math.Abs(got[bandPoints/2]-8) > 1e-9 || math.Abs(got[bandPoints-1]-64) > 1e-9 {
		t.Errorf("from 1 to 64 there are %v", got)
	}
}

package calibrate

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// samplesOf returns samples of five seconds of a service with a curve, with relative noise of a given standard deviation.
func samplesOf(c Curve, levels []int, repeats int, noise float64, seed uint64) []Sample {
	rng := rand.New(rand.NewPCG(seed, 2))
	var all []Sample
	for round := range repeats {
		for _, n := range levels {
			x := c.At(float64(n)) * (1 + noise*rng.NormFloat64())
			all = append(all, sample(n, round+1, x, nil))
		}
	}
	return all
}

// sample returns a sample of a level with x sessions per second, on an idle machine.
func sample(level, round int, x float64, change func(*Sample)) Sample {
	s := Sample{
		Level: level, Round: round, Span: 1000 * time.Second, Ended: int64(1000 * x), P95: time.Duration(float64(level) / x * 1e9),
		CPU: 20, OwnCPU: 15, Memory: 0.3, Clients: -1, MaxClients: -1, InFlight: float64(level),
	}
	if change != nil {
		change(&s)
	}
	return s
}

// curves are the possible shapes, with the best level up to 64.
var curves = []struct {
	name  string
	curve Curve
}{
	{"linear", Curve{100, 0, 0}},
	{"saturated", Curve{100, 0.1, 0}},
	{"bent", Curve{100, 0.02, 0.0005}},
	{"retrograde", Curve{100, 0.03, 0.004}},
	{"steeply retrograde", Curve{100, 0.2, 0.02}},
}

// TestIntervalsContainTheTruth counts over many seeds how often the intervals of the curve, of its parameters and of the recommendation
// contain the true values, and how far the recommendation is from the best level in throughput.
func TestIntervalsContainTheTruth(t *testing.T) {
	const sweeps = 40
	for _, tt := range curves {
		t.Run(tt.name, func(t *testing.T) {
			truth := tt.curve.Best(1, 64, enough)
			var curve, places, level, lambda int
			worst := 1.0
			for seed := range uint64(sweeps) {
				r := Evaluate(Plan{Seed: seed}, samplesOf(tt.curve, doubling, 3, 0.05, seed))
				if !r.Fitted || !r.Spread {
					t.Fatalf("seed %d: no curve", seed)
				}
				for _, b := range r.Band {
					places++
					if x := tt.curve.At(b.Level); b.Low <= x && x <= b.High {
						curve++
					}
				}
				if r.Low <= truth && truth <= r.High {
					level++
				}
				if r.Lambda.Low <= tt.curve.Lambda && tt.curve.Lambda <= r.Lambda.High {
					lambda++
				}
				worst = min(worst, tt.curve.At(float64(r.Level))/tt.curve.At(float64(truth)))
			}
			t.Logf("contains the curve %.3f, λ %.3f, the level %.3f; the worst recommendation has %.3f of the best throughput",
				float64(curve)/float64(places), float64(lambda)/sweeps, float64(level)/sweeps, worst)
			if share := float64(curve) / float64(places); share < 0.88 || share > 0.995 {
				t.Errorf("the interval holds the curve in %.3f of the cases", share)
			}
			if share := float64(level) / sweeps; share < 0.88 {
				t.Errorf("the interval holds the best level in %.3f of the cases", share)
			}
			if share := float64(lambda) / sweeps; share < 0.8 {
				t.Errorf("the interval holds λ in %.3f of the cases", share)
			}
			if worst < 0.9 {
				t.Errorf("a recommendation has only %.3f of the best throughput", worst)
			}
		})
	}
}

func TestRecommendations(t *testing.T) {
	tests := []struct {
		name      string
		samples   []Sample
		low, high int // of the recommendation
		bound     Bound
		why       string
	}{
		{"nothing measured", nil, 0, 0, "", "nothing was measured"},
		{"one level", []Sample{sample(8, 1, 500, nil), sample(8, 2, 510, nil)}, 8, 8, Nothing, "only 8 was measured"},
		{"linear", samplesOf(Curve{100, 0, 0}, doubling, 3, 0.01, 1), 58, 64, Nothing, "still grew at 64, the highest level"},
		{"the backend gets slower", with(samplesOf(Curve{100, 0.03, 0.004}, doubling, 3, 0.01, 1), func(s *Sample) {
			s.Asked, s.Service = 5*s.Ended, time.Duration(s.Level)*time.Millisecond
		}), 9, 14, Backend, "a request took 64 ms at 64, 1 ms at 1"},
		{"unknown cause", samplesOf(Curve{100, 0.1, 0.002}, doubling, 3, 0.01, 1), 10, 20, Unknown, "no measured figure explains why"},
		{"429s", with(samplesOf(Curve{100, 0.1, 0.002}, doubling, 3, 0.01, 1), func(s *Sample) {
			s.Asked, s.Refused = s.Ended, s.Ended/10
		}), 10, 20, Provider, "9.1% of the requests were refused (429)"},
		{"held by a rate", with(samplesOf(Curve{100, 0.3, 0}, doubling, 3, 0.01, 1), func(s *Sample) {
			s.Paced = 0.5
		}), 8, 40, Provider, "50% of their time waiting for the rate"},
		{"held by a pool", with(samplesOf(Curve{100, 0.3, 0}, doubling, 3, 0.01, 1), func(s *Sample) {
			s.Bounded = 0.5
		}), 8, 40, Calls, "waiting for a slot"},
		{"connections", with(samplesOf(Curve{100, 0.3, 0}, doubling, 3, 0.01, 1), func(s *Sample) {
			s.Clients, s.MaxClients = 58, 60
		}), 8, 40, Connections, "58 clients of 60"},
		{"too few agents", with(samplesOf(Curve{100, 0.3, 0}, doubling, 3, 0.01, 1), func(s *Sample) {
			s.InFlight = min(s.InFlight, 20)
		}), 8, 40, Crowd, "only 20 sessions were in flight"},
		{"the CPU ends it", with(samplesOf(Curve{100, 0, 0}, doubling[:5], 3, 0.01, 1), func(s *Sample) {
			s.CPU = min(6*float64(s.Level), 100)
			s.OwnCPU = s.CPU - 5
		}), 7, 8, CPU, "at 16, the CPU was at 96%"},
		{"others use the CPU", with(samplesOf(Curve{100, 0, 0}, doubling[:5], 3, 0.01, 1), func(s *Sample) {
			s.CPU, s.OwnCPU = 92, 10
		}), 0, 0, "", "measured under load, other programs used up to 77% of the CPU; close them"},
		{"memory ends it", with(samplesOf(Curve{100, 0, 0}, doubling[:5], 3, 0.01, 1), func(s *Sample) {
			s.Memory = 0.06 * float64(s.Level)
		}), 7, 8, Memory, "at 16, 96% of the memory was in use"},
		{"too many fail at 32", with(samplesOf(Curve{100, 0, 0}, doubling[:6], 3, 0.01, 1), func(s *Sample) {
			if s.Level == 32 {
				s.Failed = s.Ended / 10
			}
		}), 15, 16, Backend, "at 32, 10.0% of the sessions failed"},
		{"all failed", with(samplesOf(Curve{100, 0, 0}, doubling[:1], 1, 0, 1), func(s *Sample) {
			s.Failed = s.Ended
		}), 0, 0, Failures, "then calibrate again"},
		{"no session ended", with(samplesOf(Curve{100, 0, 0}, doubling[:3], 1, 0, 1), func(s *Sample) {
			s.Ended = 0
		}), 0, 0, "", "measure for longer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := Evaluate(Plan{}, tt.samples)
			if r.Level < tt.low || r.Level > tt.high || r.Bound != tt.bound || !strings.Contains(r.Why, tt.why) {
				t.Errorf("got %d, %q: %s\nwant %d to %d, %q: %s", r.Level, r.Bound, r.Why, tt.low, tt.high, tt.bound, tt.why)
			}
			if r.Low > r.Level || r.High < r.Level {
				t.Errorf("%d lies outside of %d to %d", r.Level, r.Low, r.High)
			}
			if _, err := json.Marshal(r); err != nil {
				t.Errorf("the result cannot be encoded: %v", err)
			}
		})
	}
}

func with(samples []Sample, change func(*Sample)) []Sample {
	for i := range samples {
		change(&samples[i])
	}
	return samples
}

// TestTheMixDoesNotMatter compares two sweeps of the same service. In one of them, the high levels ran while most sessions leave
// immediately; such sessions must count for less.
func TestTheMixDoesNotMatter(t *testing.T) {
	curve := Curve{1000, 0.05, 0.001}
	requests := samplesOf(curve, doubling, 3, 0.01, 4) // per second
	for i := range requests {
		s := &requests[i]
		s.Asked = s.Ended
		s.Ended = s.Asked / 5
		if s.Level > 8 {
			s.Ended *= 10 // nine of ten send no requests
		}
	}
	r := Evaluate(Plan{}, requests)
	want := curve.Best(1, 64, enough)
	if math.Abs(float64(r.Level-want)) > 3 {
		t.Errorf("recommends %d, want about %d", r.Level, want)
	}
}

func TestResultInWords(t *testing.T) {
	r := Evaluate(Plan{}, samplesOf(Curve{100, 0, 0}, doubling, 3, 0.01, 1))
	text := r.String()
	for _, want := range []string{"61 concurrent sessions", "in 19 of 20 such sweeps", "sessions per second", "Limited by nothing within the cap"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q does not say %q", text, want)
		}
	}
	none := Evaluate(Plan{}, nil)
	if got := none.String(); got != "No recommendation: nothing was measured." {
		t.Errorf("without measurements: got %q", got)
	}
}

// TestTheSameSeedGivesTheSameIntervals checks that a result can be recomputed.
func TestTheSameSeedGivesTheSameIntervals(t *testing.T) {
	samples := samplesOf(Curve{100, 0.03, 0.004}, doubling, 3, 0.1, 5)
	a, b := Evaluate(Plan{Seed: 1}, samples), Evaluate(Plan{Seed: 1}, samples)
	if a.Lambda != b.Lambda || a.Low != b.Low || a.High != b.High {
		t.Errorf("%v and %v", a, b)
	}
	if c := Evaluate(Plan{Seed: 2}, samples); a.Lambda == c.Lambda {
		t.Error("another seed draws the same")
	}
}

func TestFigure(t *testing.T) {
	for v, want := range map[float64]string{999.7: "1,000", 0.01234: "0.0123", 98.76: "98.8", 999.4: "999", 1234.5: "1,230", 51_678: "51,700", 9_999: "10,000"} {
		if got := Figure(v); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
}

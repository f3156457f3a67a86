package calibrate

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestUsableSamples checks which samples count.
func TestUsableSamples(t *testing.T) {
	for _, tt := range []struct {
		name   string
		sample Sample
		want   bool
	}{
		{"nothing", Sample{}, false},
		{"some", Sample{Ended: 3, Span: time.Second}, true},
		{"no time", Sample{Ended: 3}, false},
		{"a few failed", Sample{Ended: 100, Failed: 5, Span: time.Second}, true},
		{"too many failed", Sample{Ended: 100, Failed: 6, Span: time.Second}, false},
		{"all failed", Sample{Ended: 1, Failed: 1, Span: time.Second}, false},
	} {
		if got := tt.sample.counts(); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestTheRateOfASample(t *testing.T) {
	ask := func(ended, asked int64) Sample { return Sample{Ended: ended, Asked: asked, Span: 2 * time.Second} }
	for _, tt := range []struct {
		name    string
		samples []Sample
		want    []float64
	}{
		{"none", nil, nil},
		{"sessions that ask nothing", []Sample{ask(100, 0), ask(200, 0)}, []float64{50, 100}},
		{"hardly anything", []Sample{ask(100, 1), ask(200, 3)}, []float64{50, 100}},
		{"the same mix", []Sample{ask(100, 500), ask(200, 1000)}, []float64{50, 100}},
		{"another mix", []Sample{ask(300, 500), ask(0, 0), ask(100, 500)}, []float64{100, 0, 100}},
		{"failures count for nothing", []Sample{ask(100, 100), {Ended: 100, Failed: 100, Asked: 9000, Span: time.Second}}, []float64{50, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			mix := mixOf(tt.samples)
			for i := range tt.samples {
				if got := mix.rate(&tt.samples[i]); math.Abs(got-tt.want[i]) > 1e-9 {
					t.Errorf("sample %d ends %v sessions per second, want %v", i, got, tt.want[i])
				}
			}
		})
	}
}

// TestTheMixAddsUp checks that the work of all samples equals their number of sessions, for any distribution.
func TestTheMixAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var samples []Sample
		var ended, counted float64
		for range rapid.IntRange(1, 20).Draw(t, "samples") {
			s := Sample{Ended: rapid.Int64Range(1, 1e6).Draw(t, "ended"), Asked: rapid.Int64Range(0, 1e7).Draw(t, "asked"), Span: time.Second}
			ended += float64(s.Ended)
			samples = append(samples, s)
		}
		mix := mixOf(samples)
		for i := range samples {
			counted += mix.rate(&samples[i])
		}
		if math.Abs(counted/ended-1) > 1e-9 {
			t.Errorf("%v sessions became %v", ended, counted)
		}
	})
}

func TestALevelIsTheSumOfItsSamples(t *testing.T) {
	samples := []Sample{
		{Level: 4, Span: time.Second, Ended: 90, P95: 30 * time.Millisecond, CPU: 40, OwnCPU: 30, Memory: 0.5},
		{Level: 4, Span: time.Second, Ended: 110, Failed: 2, P95: 0, CPU: -1, OwnCPU: -1, Memory: -1},
		{Level: 4, Span: time.Second, Ended: 100, P95: 50 * time.Millisecond, CPU: 60, OwnCPU: 40, Memory: 0.7},
		{Level: 8, Span: time.Second, Ended: 100, Failed: 50, CPU: -1, Memory: -1},
	}
	levels := levelsOf([]int{2, 4, 8}, samples)
	if l := levels[0]; l.Level != 2 || len(l.Samples) > 0 || l.CPU >= 0 || l.PerSecond != 0 || l.Over != "" {
		t.Errorf("without measurements: got %+v", l)
	}
	l := levels[1]
	if len(l.Samples) != 3 || math.Abs(l.PerSecond-100) > 1e-9 || math.Abs(l.Spread-10) > 1e-9 || l.P95 != 40*time.Millisecond {
		t.Errorf("%v ± %v per second, p95 %v", l.PerSecond, l.Spread, l.P95)
	}
	if l.CPU != 50 || l.OwnCPU != 35 || math.Abs(l.Memory-0.6) > 1e-9 || math.Abs(l.Errors-2.0/300) > 1e-9 || l.Over != "" {
		t.Errorf("%+v", l)
	}
	if l := levels[2]; l.Over != Failures || l.PerSecond != 0 || l.CPU >= 0 {
		t.Errorf("where half failed: %+v", l)
	}
}

// TestBoundsOfALevel checks which bound counts if a level exceeds several.
func TestBoundsOfALevel(t *testing.T) {
	for _, tt := range []struct {
		cpu, memory float64
		failed      int64
		want        Bound
	}{
		{90, 0.85, 5, ""},
		{90.1, 0.85, 5, CPU},
		{90, 0.86, 5, Memory},
		{95, 0.9, 6, Failures},
		{95, 0.9, 0, CPU},
		{-1, -1, 0, ""},
	} {
		levels := levelsOf([]int{1}, []Sample{{Level: 1, Span: time.Second, Ended: 100, Failed: tt.failed, CPU: tt.cpu, Memory: tt.memory}})
		if got := levels[0].Over; got != tt.want {
			t.Errorf("CPU %v, memory %v, %d failed: %q, want %q", tt.cpu, tt.memory, tt.failed, got, tt.want)
		}
	}
}

func TestMeanAndSpread(t *testing.T) {
	for _, tt := range []struct {
		values         []float64
		center, spread float64
	}{
		{nil, 0, 0},
		{[]float64{7}, 7, 0},
		{[]float64{2, 4}, 3, math.Sqrt2},
		{[]float64{5, 5, 5}, 5, 0},
	} {
		center, spread := meanAndSpread(tt.values)
		if math.Abs(center-tt.center) > 1e-12 || math.Abs(spread-tt.spread) > 1e-12 {
			t.Errorf("%v has %v ± %v, want %v ± %v", tt.values, center, spread, tt.center, tt.spread)
		}
	}
}

package calibrate

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"
)

// loaded returns a measurement of a level: own is Throng's CPU for each session per second, and backend that of a service on the machine.
func loaded(level int, own, backend, others float64) Sample {
	const span = 5 * time.Second
	ended := int64(10 * level * int(span.Seconds()))
	rate := float64(ended) / span.Seconds()
	s := Sample{Level: level, Span: span, Ended: ended, Asked: ended, OwnCPU: own * rate, Memory: 0.3, Clients: -1, P95: 100 * time.Millisecond}
	s.CPU = s.OwnCPU + backend*rate + others
	return s
}

// TestForeignLoad checks that no limit is recommended if other programs disturbed a level, that one disturbed sample of several is left out,
// and that a service on this machine is not taken for another program.
func TestForeignLoad(t *testing.T) {
	sweep := func(others func(level, round int) float64, backend float64) (all []Sample) {
		for round := range 3 {
			for _, level := range []int{1, 2, 4, 8} {
				all = append(all, loaded(level, 0.1, backend, others(level, round)))
			}
		}
		return all
	}
	always := func(percent float64) func(int, int) float64 { return func(int, int) float64 { return percent } }
	for _, tt := range []struct {
		name      string
		before    float64
		samples   []Sample
		underLoad bool
		load      float64
		left      int // samples of level 4 that count
	}{
		{"quiet", 4, sweep(always(4), 0), false, 4, 3},
		{"loaded before", 45, sweep(always(45), 0), true, 45, 3},
		{"loaded later", 4, sweep(always(45), 0), true, 40, 3},
		{"one sample", 4, sweep(func(level, round int) float64 {
			if level == 4 && round == 1 {
				return 60
			}
			return 4
		}, 0), false, 60, 2},
		{"a level", 4, sweep(func(level, _ int) float64 {
			if level == 4 {
				return 60
			}
			return 4
		}, 0), true, 60, 3},
		{"a backend here", 4, sweep(always(4), 0.7), false, 4, 3},
		{"a backend here, and others", 4, sweep(func(_, round int) float64 {
			if round == 2 {
				return 40
			}
			return 4
		}, 0.4), false, 40, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := Evaluate(Plan{Levels: []int{1, 2, 4, 8}, Foreign: tt.before}, tt.samples)
			if r.UnderLoad != tt.underLoad || (r.Level == 0) != tt.underLoad || math.Abs(r.Foreign-tt.load) > 1 || len(r.Levels[2].Samples) != tt.left {
				t.Errorf("under load %t (%.0f%%), recommended %d, level 4 with %d samples", r.UnderLoad, r.Foreign, r.Level, len(r.Levels[2].Samples))
			}
			if said := strings.Contains(r.String(), "measured under load"); said != tt.underLoad {
				t.Errorf("it says %q", r.String())
			}
		})
	}
}

// TestForeignLoadEndsNoBranch checks that other programs that fill the CPU for a moment do not keep higher levels from being measured.
func TestForeignLoadEndsNoBranch(t *testing.T) {
	measured := 0
	r, err := Sweep(t.Context(), Plan{Levels: []int{1, 2, 4, 8}, Repeats: 3, Foreign: 4}, func(_ context.Context, level int) (Sample, error) {
		others := 4.
		if measured++; measured == 3 {
			others = 95
		}
		return loaded(level, 0.1, 0, others), nil
	}, nil)
	if err != nil || r.UnderLoad || r.Level == 0 || r.Foreign < 90 {
		t.Errorf("recommended %d, %v: %s", r.Level, err, r.String())
	}
	samples := 0
	for _, l := range r.Levels {
		samples += len(l.Samples)
	}
	if samples != 11 {
		t.Errorf("%d of 12 measurements count, want 11", samples)
	}
}

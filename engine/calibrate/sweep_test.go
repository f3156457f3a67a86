package calibrate

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
)

// plant simulates measurements from a curve.
type plant struct {
	curve  Curve
	change func(*Sample)
	asked  []int
}

func (p *plant) measure(_ context.Context, level int) (Sample, error) {
	p.asked = append(p.asked, level)
	return sample(level, 0, p.curve.At(float64(level)), p.change), nil
}

func TestSweepMeasuresEveryLevelInEveryRound(t *testing.T) {
	p := plant{curve: Curve{100, 0.02, 0.0005}}
	r, err := Sweep(t.Context(), Plan{Seed: 7}, p.measure, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.asked) != 21 {
		t.Fatalf("measured %d times", len(p.asked))
	}
	for round := range 3 {
		got := slices.Clone(p.asked[7*round : 7*round+7])
		if slices.IsSorted(got) {
			t.Errorf("round %d is in order: %v", round, got)
		}
		if slices.Sort(got); !slices.Equal(got, doubling) {
			t.Errorf("round %d measured %v", round, got)
		}
	}
	for _, l := range r.Levels {
		if len(l.Samples) != 3 || l.Samples[0].Round != 1 || l.Samples[2].Round != 3 {
			t.Errorf("level %d has %v", l.Level, l.Samples)
		}
	}
	again := plant{curve: p.curve}
	if _, err := Sweep(t.Context(), Plan{Seed: 7}, again.measure, nil); err != nil || !slices.Equal(p.asked, again.asked) {
		t.Errorf("the same seed measures in another order: %v and %v (%v)", p.asked, again.asked, err)
	}
}

// TestABranchEnds checks that levels above one beyond its bounds are skipped from then on, and that a level with too many failures is not
// repeated.
func TestABranchEnds(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Sample)
		at     int // levels from here on are beyond the bounds
		again  bool
	}{
		{"errors", func(s *Sample) {
			if s.Level >= 8 {
				s.Failed = s.Ended / 10
			}
		}, 8, false},
		{"CPU", func(s *Sample) { s.CPU, s.OwnCPU = 12*float64(s.Level), 12*float64(s.Level) }, 8, true},
		{"memory", func(s *Sample) { s.Memory = 0.12 * float64(s.Level) }, 8, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := plant{curve: Curve{100, 0, 0}, change: tt.change}
			r, err := Sweep(t.Context(), Plan{Seed: 3}, p.measure, nil)
			if err != nil {
				t.Fatal(err)
			}
			first := slices.Index(p.asked, tt.at)
			for i, n := range p.asked {
				if i > first && n > tt.at || i > first && n == tt.at && !tt.again {
					t.Errorf("measured %d after %d was beyond its bounds: %v", n, tt.at, p.asked)
				}
			}
			count := 0
			for _, n := range p.asked {
				if n == 4 {
					count++
				}
			}
			if count != 3 {
				t.Errorf("a sound level was measured %d times", count)
			}
			if r.Level != 4 {
				t.Errorf("recommends %d", r.Level)
			}
			last := r.Levels[len(r.Levels)-1]
			if last.Note != "left out" && last.Note != "beyond 8" {
				t.Errorf("level 64: got %q", last.Note)
			}
		})
	}
}

// TestACanceledSweep checks the result of a canceled sweep.
func TestACanceledSweep(t *testing.T) {
	stop := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	p := plant{curve: Curve{100, 0, 0}}
	r, err := Sweep(ctx, Plan{}, func(ctx context.Context, level int) (Sample, error) {
		if len(p.asked) == 9 {
			cancel(stop)
		}
		return p.measure(ctx, level)
	}, nil)
	if !errors.Is(err, stop) || r.Level == 0 {
		t.Errorf("%v, recommends %d", err, r.Level)
	}
	broken := errors.New("no disk")
	r, err = Sweep(t.Context(), Plan{}, func(context.Context, int) (Sample, error) { return Sample{}, broken }, nil)
	if !errors.Is(err, broken) || r.Level != 0 || len(r.Levels) != 7 {
		t.Errorf("%v, %+v", err, r)
	}
}

// TestProgress checks the reported progress in virtual time. Each measurement takes a minute.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plant{curve: Curve{100, 0, 0}, change: func(s *Sample) { s.CPU = 50 * float64(s.Level) }}
		var all []Progress
		_, err := Sweep(t.Context(), Plan{Levels: []int{1, 2, 4}, Repeats: 2, Seed: 1}, func(ctx context.Context, level int) (Sample, error) {
			time.Sleep(time.Minute)
			return p.measure(ctx, level)
		}, func(p Progress) { all = append(all, p) })
		if err != nil {
			t.Fatal(err)
		}
		for i := range all {
			if all[i].Total != 6 || all[i].Measuring != (i%2 == 0) || i > 0 && all[i].Done < all[i-1].Done {
				t.Errorf("report %d is %+v", i, all[i])
			}
			if all[i].Done > 0 && all[i].Left != time.Duration(all[i].Total-all[i].Done)*time.Minute {
				t.Errorf("after %d measurements %v are left", all[i].Done, all[i].Left)
			}
		}
		if all[0].Left != 0 || all[0].Done != 0 {
			t.Errorf("the first is %+v", all[0])
		}
	})
}

func TestPlans(t *testing.T) {
	for _, tt := range []struct {
		plan Plan
		want []int
	}{
		{Plan{}, doubling},
		{Plan{Max: 50}, []int{1, 2, 4, 8, 16, 32, 50}},
		{Plan{Max: 1}, []int{1}},
		{Plan{Max: 128}, append(slices.Clone(doubling), 128)},
		{Plan{Levels: []int{9, 3, 3}}, []int{3, 9}},
	} {
		if got := tt.plan.All(); !slices.Equal(got, tt.want) {
			t.Errorf("%+v has %v, want %v", tt.plan, got, tt.want)
		}
		if err := tt.plan.Validate(); err != nil {
			t.Errorf("%+v: %v", tt.plan, err)
		}
	}
	for _, p := range []Plan{{Levels: []int{0}}, {Levels: []int{5}, Max: 4}, {Max: -1}, {Repeats: -1}, {Repeats: 101}, {Levels: []int{engine.MaxLimit + 1}}} {
		err := p.Validate()
		if _, ok := errors.AsType[*engine.FieldError](err); !ok {
			t.Errorf("%+v: %v", p, err)
		}
		if _, err := Sweep(t.Context(), p, nil, nil); err == nil {
			t.Errorf("%+v was accepted", p)
		}
	}
	above := Plan{Levels: []int{1, 4}, Max: 2}
	if err := above.Validate(); err == nil || err.Error() != "levels: 4 is above the maximum, 2 (use limits from 1 to 2)" {
		t.Errorf("a limit above the maximum: %v", err)
	}
}

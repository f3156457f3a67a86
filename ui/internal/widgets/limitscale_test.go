package widgets

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestLimitScaleReachesItsNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newLimitScale(rapid.IntRange(-1, 300).Draw(t, "floor"), rapid.IntRange(0, 10_000).Draw(t, "ceiling"))
		if got := s.at(0); got != s.floor {
			t.Fatalf("%+v: the left end is %d", s, got)
		}
		if got := s.at(1); s.floor < s.ceiling && got != s.ceiling {
			t.Fatalf("%+v: the right end is %d", s, got)
		}
		n := rapid.IntRange(s.floor, s.ceiling).Draw(t, "n")
		got := s.at(s.share(n))
		if n < 100 && got != n {
			t.Fatalf("%+v: %d is at %v, where %d is", s, n, s.share(n), got)
		}
		if off := max(got-n, n-got); 20*off > n {
			t.Fatalf("%+v: %d is at %v, where %d is", s, n, s.share(n), got)
		}
		a, b := rapid.Float64Range(-1, 2).Draw(t, "a"), rapid.Float64Range(-1, 2).Draw(t, "b")
		if x, y := s.at(min(a, b)), s.at(max(a, b)); x > y || x < s.floor || y > s.ceiling {
			t.Fatalf("%+v: %d is left of %d", s, x, y)
		}
	})
}

func TestLimitScaleSteps(t *testing.T) {
	s := newLimitScale(1, 1250)
	var up []int
	for n := 1; len(up) == 0 || n != up[len(up)-1]; n = s.up(n) {
		up = append(up, n)
	}
	if len(up) != 100+90+3 || up[98] != 99 || up[100] != 110 || up[189] != 1000 || up[190] != 1100 || up[192] != 1250 {
		t.Errorf("%d steps up: %v", len(up), up)
	}
	down := []int{1250}
	for n := s.down(1250); n != down[len(down)-1]; n = s.down(n) {
		down = append(down, n)
	}
	slices.Reverse(down)
	if !slices.Equal(down, up) {
		t.Errorf("down moves by %v, up by %v", down, up)
	}
	if got := []int{s.up(137), s.down(137), s.up(100), s.down(100), s.down(101)}; !slices.Equal(got, []int{140, 130, 110, 99, 100}) {
		t.Errorf("next to the steps: %v", got)
	}
}

func TestLimitScaleTicks(t *testing.T) {
	for _, c := range []struct {
		floor, ceiling int
		want           []int
	}{
		{1, 1, []int{1}},
		{1, 372, []int{1, 372, 10, 100, 5, 50, 2, 20, 200}},
		{1, 1000, []int{1, 1000, 10, 100, 5, 50, 500, 2, 20, 200}},
		{3, 12, []int{3, 12, 10, 5}},
	} {
		if got := newLimitScale(c.floor, c.ceiling).ticks(); !slices.Equal(got, c.want) {
			t.Errorf("ticks from %d to %d: %v, want %v", c.floor, c.ceiling, got, c.want)
		}
	}
}

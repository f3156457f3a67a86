package chart

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var nan = math.NaN()

func ticksOf(a *axis) string {
	var all []string
	for i := range a.ticks() {
		all = append(all, string(a.unit.appendTick(nil, a.tick(i))))
	}
	return strings.Join(all, ", ")
}

func TestAxisTicks(t *testing.T) {
	tests := []struct {
		name    string
		axis    axis
		highest float64
		limit   float64
		parts   int
		want    string
	}{
		{"percent, tall", axis{unit: Percent, ceiling: 100}, 80, nan, 4, "0, 25%, 50%, 75%, 100%"},
		{"percent, low", axis{unit: Percent, ceiling: 100}, 2, nan, 2, "0, 1%, 2%"},
		{"percent that follows", axis{unit: Percent}, 4.2, nan, 4, "0, 2%, 4%, 6%"},
		{"gigabytes", axis{unit: Bytes}, 1.3e9, nan, 4, "0, 500 MB, 1 GB, 1.5 GB"},
		{"milliseconds", axis{unit: Duration}, 0.31, nan, 4, "0, 100 ms, 200 ms, 300 ms, 400 ms"},
		{"minutes", axis{unit: Duration}, 100, nan, 4, "0, 30 s, 60 s, 90 s, 2 min"},
		{"a round maximum is the top", axis{unit: Count}, 80, nan, 4, "0, 20, 40, 60, 80"},
		{"counts are whole", axis{unit: Count}, 1, nan, 4, "0, 1, 2"},
		{"zeros", axis{unit: PerSecond}, 0, nan, 4, "0, 5/s, 10/s"},
		{"no data", axis{unit: Bytes}, nan, nan, 4, "0, 50 MB, 100 MB"},
		{"a limit", axis{unit: Count}, 30, 60, 4, "0, 20, 40, 60"},
		{"a limit without data", axis{unit: Count}, nan, 60, 4, "0, 20, 40, 60"},
		{"a limit far above", axis{unit: Count}, 15, 60, 4, "0, 5, 10, 15"},
		{"a floor", axis{unit: PerSecond, floor: 90}, 99, nan, 4, "90/s, 95/s, 100/s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.axis.fit(tt.highest, tt.limit, 0, tt.parts)
			if got := ticksOf(&tt.axis); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestAxisHasThreeToFiveTicksAboveAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := axis{unit: Unit(rapid.IntRange(0, len(units)-1).Draw(t, "unit"))}
		highest := math.Pow(10, rapid.Float64Range(-5, 12).Draw(t, "power"))
		a.fit(highest, nan, 0, 4)
		if n := a.ticks(); n < 3 || n > 5 {
			t.Fatalf("%d ticks up to %v: %s", n, highest, ticksOf(&a))
		}
		if a.top < highest*(1-1e-8) || a.bottom != 0 {
			t.Fatalf("%v is outside %v to %v", highest, a.bottom, a.top)
		}
	})
}

func TestAxisGrowsAtOnceAndShrinksLate(t *testing.T) {
	a := axis{unit: Count}
	var tops []float64
	for _, s := range []struct{ highest, now float64 }{
		{95, 0}, {101, 1}, // grows
		{95, 2}, {90, 60}, // above 40 and near half of 150: stays
		{70, 61}, {80, 65}, {70, 66}, {70, 75}, // under half, but not for ten seconds on end
		{70, 76},             // now it is
		{30, 77}, {1000, 78}, // far under: immediately
	} {
		a.fit(s.highest, nan, s.now, 4)
		tops = append(tops, a.top)
	}
	want := []float64{100, 150, 150, 150, 150, 150, 150, 150, 80, 30, 1000}
	if !slices.Equal(tops, want) {
		t.Errorf("got %v, want %v", tops, want)
	}
}

func TestAxisFollowsItsHeightAndItsFirstData(t *testing.T) {
	a := axis{unit: Count}
	var ticks []string
	for _, s := range []struct {
		highest float64
		parts   int
	}{{nan, 4}, {6, 4}, {6, 2}} {
		a.fit(s.highest, nan, 0, s.parts)
		ticks = append(ticks, ticksOf(&a))
	}
	want := []string{"0, 5, 10", "0, 2, 4, 6", "0, 5, 10"}
	if !slices.Equal(ticks, want) {
		t.Errorf("got %q, want %q", ticks, want)
	}
}

func TestAxisKeepsALimitThatIsShown(t *testing.T) {
	a := axis{unit: Count}
	var shown []bool
	for _, highest := range []float64{15, 19, 21, 19, 16, 14, 16} {
		a.fit(highest, 60, 0, 4)
		shown = append(shown, a.limitShown)
	}
	// Shown from a third of the limit on, left under a quarter.
	want := []bool{false, false, true, true, true, false, false}
	if !slices.Equal(shown, want) {
		t.Errorf("got %v, want %v", shown, want)
	}
	if a.top >= 60 {
		t.Errorf("the top is %v with the limit out of view", a.top)
	}
}

func TestAxisAlwaysShowsALimitThatIsWanted(t *testing.T) {
	a := axis{unit: Count, always: true}
	for _, highest := range []float64{math.NaN(), 2, 70, 2} {
		a.fit(highest, 60, 0, 4)
		if !a.limitShown || a.top < 60 {
			t.Errorf("with %v the top is %v and the limit shown %v, want 60 in view", highest, a.top, a.limitShown)
		}
	}
	a.fit(2, math.NaN(), 0, 4)
	if a.limitShown {
		t.Error("a limit is shown where there is none")
	}
}

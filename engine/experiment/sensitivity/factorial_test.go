package sensitivity

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine/experiment/statistics"
)

// grid returns the levels of all points of a full grid; the last factor changes fastest.
func grid(sizes ...int) [][]int {
	all := [][]int{{}}
	for _, size := range sizes {
		var next [][]int
		for _, row := range all {
			for l := range size {
				next = append(next, append(append([]int(nil), row...), l))
			}
		}
		all = next
	}
	return all
}

func replicated(levels [][]int, n int, f func(level []int, replicate int) float64) [][]float64 {
	all := make([][]float64, len(levels))
	for p, row := range levels {
		for r := range n {
			all[p] = append(all[p], f(row, r))
		}
	}
	return all
}

func same(t *testing.T, name string, got, want float64) {
	t.Helper()
	if math.IsNaN(got) != math.IsNaN(want) || math.Abs(got-want) > 1e-9 {
		t.Errorf("%s: got %v, want %v", name, got, want)
	}
}

// TestGridWithoutNoise: y = 10 + 3 a + 2 b + a b for levels -1 and 1, plus c that does nothing.
func TestGridWithoutNoise(t *testing.T) {
	levels := grid(2, 2, 3)
	sign := func(l int) float64 { return float64(2*l - 1) }
	f, err := Grid(levels, replicated(levels, 4, func(l []int, r int) float64 {
		a, b := sign(l[0]), sign(l[1])
		return 10 + 3*a + 2*b + a*b + 100*float64(r) // the replicate's luck is shared by all points
	}))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "mean", f.Mean.Mean, 160)
	same(t, "mean of a high", f.Main[0].Means[1].Mean, 163)
	same(t, "effect of a", f.Main[0].Effects[1].Mean, 3)
	same(t, "effect of a low", f.Main[0].Effects[0].Mean, -3)
	same(t, "effect of b", f.Main[1].Effects[1].Mean, 2)
	same(t, "effect of c", f.Main[2].Effects[2].Mean, 0)
	same(t, "share of a", f.Main[0].Share, 9.0/14)
	same(t, "share of b", f.Main[1].Share, 4.0/14)
	same(t, "share of c", f.Main[2].Share, 0)
	if len(f.Interactions) != 3 || f.Interactions[0].A != 0 || f.Interactions[0].B != 1 {
		t.Fatalf("interactions %+v", f.Interactions)
	}
	same(t, "interaction of a and b", f.Interactions[0].Effects[1][1].Mean, 1)
	same(t, "interaction of a low and b high", f.Interactions[0].Effects[0][1].Mean, -1)
	same(t, "mean of a and b high", f.Interactions[0].Means[1][1].Mean, 166)
	same(t, "share of a and b", f.Interactions[0].Share, 1.0/14)
	same(t, "interaction of a and c", f.Interactions[1].Effects[1][2].Mean, 0)
	same(t, "rest", f.Rest, 0)
	if f.Replicates != 4 || f.Missing != 0 || f.Note != "" || f.Mean.N != 4 || f.Mean.SD < 100 {
		t.Errorf("%d replicates, %d missing, note %q, mean %+v", f.Replicates, f.Missing, f.Note, f.Mean)
	}
	if e := f.Main[0].Effects[1]; e.SD > 1e-9 {
		t.Errorf("the luck of a replicate is in the effect: %+v", e)
	}
}

// TestGridOfR compares with summary(aov(yield ~ N * P * K, npk)) of R 4.2.2: yields of peas under nitrogen, phosphate and potassium (data set npk
// of R, from Venables and Ripley 2002).
func TestGridOfR(t *testing.T) {
	levels := grid(2, 2, 2) // N, P, K
	f, err := Grid(levels, [][]float64{
		{46.8, 51.5, 56},
		{55.5, 55, 45.5},
		{56, 62.8, 44.2},
		{49.5, 48.8, 53.2},
		{59.8, 69.5, 62},
		{57, 49.8, 57.2},
		{62.8, 52, 59},
		{58.5, 55.8, 48.8},
	})
	if err != nil {
		t.Fatal(err)
	}
	total := 384.785
	for i, want := range []float64{189.281666666667, 8.40166666666667, 95.2016666666667} {
		same(t, "sum of squares of a factor", f.Main[i].Share*total, want)
	}
	for i, want := range []float64{21.2816666666667, 33.135, 0.481666666666667} {
		same(t, "sum of squares of an interaction", f.Interactions[i].Share*total, want)
	}
	same(t, "sum of squares of all three", f.Rest*total, 37.0016666666667)
	same(t, "N", f.Main[0].Effects[1].Mean-f.Main[0].Effects[0].Mean, 5.61666666666667)
}

func TestGridWithMissingValues(t *testing.T) {
	levels := grid(2, 2)
	y := replicated(levels, 3, func(l []int, r int) float64 { return float64(l[0]*2+l[1]) + float64(r*r*(1+l[0])) })
	y[2][1] = math.NaN()
	y[3] = append(y[3], 99)
	f, err := Grid(levels, y)
	if err != nil {
		t.Fatal(err)
	}
	if f.Replicates != 2 || f.Missing != 2 || !f.Main[0].Effects[1].Interval.Known() {
		t.Errorf("%d replicates, %d missing, effect %+v", f.Replicates, f.Missing, f.Main[0].Effects[1])
	}
	for p := range y {
		y[p][p%3] = math.NaN()
	}
	if f, err = Grid(levels, y); err != nil {
		t.Fatal(err)
	}
	if f.Replicates != 0 || !strings.Contains(f.Note, "no replicate") || f.Main[0].Effects[1].Interval.Known() || math.IsNaN(f.Main[0].Effects[1].Mean) {
		t.Errorf("without a complete replicate: %q, %+v", f.Note, f.Main[0].Effects[1])
	}
	if f, err = Grid(levels, replicated(levels, 1, func([]int, int) float64 { return 5 })); err != nil {
		t.Fatal(err)
	}
	if f.Note == "" || !math.IsNaN(f.Main[0].Share) || !math.IsNaN(f.Rest) {
		t.Errorf("one replicate of equal values: note %q, share %v, rest %v", f.Note, f.Main[0].Share, f.Rest)
	}
}

func TestGridMistakes(t *testing.T) {
	for _, c := range []struct {
		name   string
		levels [][]int
		rows   int
		want   string
	}{
		{"empty", nil, 0, "no points"},
		{"ragged", [][]int{{0, 1}, {1}}, 2, "point 1 has 1 factors"},
		{"negative", [][]int{{-1}}, 1, "below 0"},
		{"twice", [][]int{{0}, {0}}, 2, "points 0 and 1 have the same levels"},
		{"gap", [][]int{{0, 0}, {1, 1}, {0, 1}}, 3, "not a full grid"},
		{"huge", [][]int{{1 << 40, 1 << 40}, {0, 0}}, 2, "not a full grid"},
		{"values", [][]int{{0}, {1}}, 1, "values of 1 points for 2 points"},
	} {
		if _, err := Grid(c.levels, make([][]float64, c.rows)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

// TestSimulationGrid holds the coverage of main effects and interactions, over replicates that share their luck.
func TestSimulationGrid(t *testing.T) {
	levels := grid(2, 3)
	r := rand.New(rand.NewPCG(17, 18))
	const experiments = 2000
	main, both := 0, 0
	for range experiments {
		luck := make([]float64, 8)
		for i := range luck {
			luck[i] = 5 * r.NormFloat64()
		}
		f, err := Grid(levels, replicated(levels, len(luck), func(l []int, i int) float64 {
			return luck[i] + float64(l[0]) + float64(l[0]*l[1]) + (1+float64(l[1]))*r.NormFloat64()
		}))
		if err != nil {
			t.Fatal(err)
		}
		if f.Main[0].Effects[1].Interval.Contains(1) {
			main++
		}
		if f.Interactions[0].Effects[1][2].Interval.Contains(0.5) {
			both++
		}
	}
	for name, n := range map[string]int{"main effect": main, "interaction": both} {
		share := float64(n) / experiments
		t.Logf("the interval of a %s covers %.1f%%", name, 100*share)
		if share < 0.93 || share > 0.97 {
			t.Errorf("the interval of a %s covers %.1f%%, want 93 to 97%%", name, 100*share)
		}
	}
}

func TestOneAtATime(t *testing.T) {
	points := [][]float64{{1, 10, 0}, {2, 10, 0}, {1, 20, 0}, {0, 10, 0}, {1, 30, 0}}
	luck := []float64{3, 1, 4, 1, 5, 9, 2, 6}
	row := func(shift float64) (all []float64) {
		for i, x := range luck {
			all = append(all, x+shift+0.01*float64(i%3))
		}
		return all
	}
	rows := [][]float64{row(0), row(1), row(5), row(-2), row(7)}
	rows[0][7], rows[1][7] = 6, 7 // no equal differences
	swings, err := OneAtATime(points, rows, 0, statistics.Number, true)
	if err != nil {
		t.Fatal(err)
	}
	if len(swings) != 2 || swings[0].Factor != 1 || swings[1].Factor != 0 {
		t.Fatalf("swings %+v, want factor 1, then 0; factor 2 never changes", swings)
	}
	if s := swings[0]; s.Low != 0 || math.Abs(s.High-7) > 0.01 || len(s.Levels) != 2 || s.Levels[1].Setting != 30 || s.Levels[1].Point != 4 {
		t.Errorf("factor 1: %+v", s)
	}
	if s := swings[1]; math.Abs(s.Low+2) > 0.01 || math.Abs(s.Span()-3) > 0.02 {
		t.Errorf("factor 0: %+v", s)
	}
	if d := swings[0].Levels[0].Difference; !d.Clear() || d.Test != statistics.SignFlip || d.Adjusted < d.P {
		t.Errorf("difference %+v", d)
	}
	lost := [][]float64{row(0), row(1), {math.NaN()}, row(-2), nil}
	if swings, err = OneAtATime(points, lost, 0, statistics.Number, true); err != nil {
		t.Fatal(err)
	}
	if s := swings[1]; s.Factor != 1 || !math.IsNaN(s.Span()) || s.Levels[0].Difference.Note == "" {
		t.Errorf("without values: %+v", s)
	}
}

func TestOneAtATimeMistakes(t *testing.T) {
	points := [][]float64{{1, 1}, {2, 1}}
	for _, c := range []struct {
		name     string
		points   [][]float64
		rows     int
		baseline int
		want     string
	}{
		{"empty", nil, 0, 0, "no points"},
		{"values", points, 3, 0, "values of 3 points for 2 points"},
		{"baseline", points, 2, 2, "the baseline is point 2 of 2"},
		{"two factors", [][]float64{{1, 1}, {2, 2}}, 2, 0, "point 1: it differs from the baseline in factors 0 and 1"},
		{"equal", [][]float64{{1, 1}, {1, 1}}, 2, 0, "point 1: it is equal to the baseline"},
	} {
		if _, err := OneAtATime(c.points, make([][]float64, c.rows), c.baseline, statistics.Number, true); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

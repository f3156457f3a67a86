package people

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// cellsOf returns the cells of a table of weights with two attributes.
func cellsOf(rows [][]float64) (cells []cellOf) {
	sum := 0.0
	for _, row := range rows {
		for _, w := range row {
			sum += w
		}
	}
	for i, row := range rows {
		for j, w := range row {
			cells = append(cells, cellOf{[]uint16{uint16(i), uint16(j)}, w / sum})
		}
	}
	return cells
}

// TestRakeByHand compares raking with tables that were computed by hand.
func TestRakeByHand(t *testing.T) {
	third := 1.0 / 3
	tests := []struct {
		name    string
		table   [][]float64
		targets [][]float64
		want    [][]float64 // fitted shares of the cells
	}{
		// An independent table stays independent, so that a cell is the product of its marginals.
		{"2x2, independent", [][]float64{{10, 20}, {30, 60}}, [][]float64{{0.5, 0.5}, {0.6, 0.4}}, [][]float64{{0.3, 0.2}, {0.3, 0.2}}},
		// Raking keeps the odds ratio, here 9. With all marginals at 1/2 the cells are x, 1/2-x, and x²/(1/2-x)² = 9, so x = 3/8.
		{"2x2, odds ratio 9", [][]float64{{9, 3}, {3, 9}}, [][]float64{{0.5, 0.5}, {0.5, 0.5}}, [][]float64{{0.375, 0.125}, {0.125, 0.375}}},
		// Odds ratio 4, rows 1/2 and 1/2, columns 2/3 and 1/3. With x the first cell: x(x-1/6) = 4(1/2-x)(2/3-x), so
		// 3x² - 9x/2 + 4/3 = 0 and x = (27 - √153)/36.
		{"2x2, odds ratio 4", [][]float64{{4, 1}, {1, 1}}, [][]float64{{0.5, 0.5}, {2 * third, third}}, func() [][]float64 {
			x := (27 - math.Sqrt(153)) / 36
			return [][]float64{{x, 0.5 - x}, {2*third - x, x - 1.0/6}}
		}()},
		{"2x3, independent", [][]float64{{1, 2, 3}, {2, 4, 6}}, [][]float64{{0.25, 0.75}, {0.5, 0.3, 0.2}}, [][]float64{{0.125, 0.075, 0.05}, {0.375, 0.225, 0.15}}},
		// An empty cell stays empty, which determines this table.
		{"2x3, an empty cell", [][]float64{{0, 5, 5}, {5, 5, 0}}, [][]float64{{0.5, 0.5}, {0.3, 0.4, 0.3}}, [][]float64{{0, 0.2, 0.3}, {0.3, 0.2, 0}}},
		{"a target of 0", [][]float64{{1, 1}, {1, 1}}, [][]float64{{1, 0}, {0.25, 0.75}}, [][]float64{{0.25, 0.75}, {0, 0}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cells := cellsOf(tt.table)
			f := rake(cells, tt.targets, 1e-12, 10_000)
			if !(f.gap <= 1e-12) {
				t.Fatalf("after %d rounds a gap of %g", f.rounds, f.gap)
			}
			for _, c := range cells {
				if got, want := c.weight*f.factor(c.codes), tt.want[c.codes[0]][c.codes[1]]; math.Abs(got-want) > 1e-9 {
					t.Errorf("cell %v: %.12g, want %.12g", c.codes, got, want)
				}
			}
		})
	}
}

// TestRakeMeetsMarginals checks with random full tables that raking meets the marginals of another random table, and that it
// keeps odds ratios.
func TestRakeMeetsMarginals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weight := rapid.Float64Range(0.1, 10)
		rows := rapid.SliceOfN(rapid.SliceOfN(weight, 3, 3), 2, 4).Draw(t, "weights")
		other := cellsOf(rapid.SliceOfN(rapid.SliceOfN(weight, 3, 3), len(rows), len(rows)).Draw(t, "others"))
		targets := [][]float64{make([]float64, len(rows)), make([]float64, 3)}
		for _, c := range other {
			targets[0][c.codes[0]] += c.weight
			targets[1][c.codes[1]] += c.weight
		}
		cells := cellsOf(rows)
		f := rake(cells, targets, 1e-10, 100_000)
		if !(f.gap <= 1e-10) {
			t.Fatalf("a gap of %g after %d rounds", f.gap, f.rounds)
		}
		fitted := func(i, j int) float64 { c := cells[3*i+j]; return c.weight * f.factor(c.codes) }
		before := rows[0][0] * rows[1][1] / rows[0][1] / rows[1][0]
		if after := fitted(0, 0) * fitted(1, 1) / fitted(0, 1) / fitted(1, 0); math.Abs(after/before-1) > 1e-6 {
			t.Fatalf("the odds ratio was %g and is %g", before, after)
		}
	})
}

// TestRakeWithoutSolution checks that contradictory targets end after the last round with the share that is off most.
func TestRakeWithoutSolution(t *testing.T) {
	f := rake(cellsOf([][]float64{{1, 0}, {0, 1}}), [][]float64{{0.5, 0.5}, {0.8, 0.2}}, 1e-6, 50)
	if f.rounds != 50 || math.Abs(f.gap-0.3) > 1e-12 {
		t.Errorf("%d rounds, a gap of %g", f.rounds, f.gap)
	}
	m := f.unmet(&Sample{Targets: []Target{{"a", []Share{{"x", 5}, {"y", 5}}}, {"b", []Share{{"u", 8}, {"v", 2}}}}})
	if want := "sample.targets: the targets cannot all be met: after 50 rounds, a x has 80% of the weight, not 50%"; !slices.Equal(m.Key, []string{"sample", "targets"}) || m.Error()[:len(want)] != want {
		t.Errorf("got %v", m)
	}
}

package sensitivity_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/throng-sim/throng/engine/experiment/design"
	"github.com/throng-sim/throng/engine/experiment/sensitivity"
)

// factors are the three inputs of the function of Ishigami and Homma (1990).
func factors() (all []design.Factor) {
	for i := range 3 {
		all = append(all, design.Factor{Name: fmt.Sprintf("x%d", i), Range: design.Range{From: -math.Pi, To: math.Pi}})
	}
	return all
}

// TestPlannedSobol: blocks of the design package are in the order that Sobol expects, and lead to the analytic indices.
func TestPlannedSobol(t *testing.T) {
	points, err := design.Sobol(factors(), 1024, 1)
	if err != nil {
		t.Fatal(err)
	}
	values := make([]float64, len(points))
	for i, p := range points {
		values[i] = math.Sin(p[0].Value) + 7*math.Sin(p[1].Value)*math.Sin(p[1].Value) + 0.1*math.Pow(p[2].Value, 4)*math.Sin(p[0].Value)
	}
	d, err := sensitivity.Sobol(values, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	for f, want := range [][2]float64{{0.3139, 0.5576}, {0.4424, 0.4424}, {0, 0.2437}} {
		x := d.Factors[f]
		if math.Abs(x.First-want[0]) > 0.03 || math.Abs(x.Total-want[1]) > 0.03 || !x.OfTotal.Contains(want[1]) || !x.OfFirst.Contains(want[0]) {
			t.Errorf("factor %d: %.4f and %.4f, want %v", f, x.First, x.Total, want)
		}
	}
}

// TestPlannedMorris: trajectories of the design package are in the order that Morris expects.
func TestPlannedMorris(t *testing.T) {
	points, err := design.Morris(factors(), 20, design.MorrisLevels, 1)
	if err != nil {
		t.Fatal(err)
	}
	units, values := make([][]float64, len(points)), make([]float64, len(points))
	for i, p := range points {
		for _, c := range p {
			units[i] = append(units[i], c.Unit)
		}
		values[i] = 5*units[i][0] - 3*units[i][1]
	}
	all, err := sensitivity.Morris(units, values, 1)
	if err != nil {
		t.Fatal(err)
	}
	for f, want := range []float64{5, -3, 0} {
		if s := all[f]; s.N != 20 || math.Abs(s.Mean-want) > 1e-9 || math.Abs(s.MeanAbs-math.Abs(want)) > 1e-9 {
			t.Errorf("factor %d: %+v, want an effect of %v", f, s, want)
		}
	}
}

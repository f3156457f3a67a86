package experiments_test

import (
	"math"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app/experiments"
	"github.com/throng-sim/throng/engine/experiment/findings"
)

// TestSensitivity analyzes dice with each design that allows it. The mean of a throw is (sides + 1) / 2 + bonus, so sides from 2 to 20
// matter far more than a bonus of 0 or 1, and the two do not interact.
func TestSensitivity(t *testing.T) {
	for design, want := range map[string]struct {
		method findings.SensitivityKind
		check  func(sides, bonus []float64) bool
	}{
		"grid":          {"main effects and interactions", func(s, b []float64) bool { return s[0] > 0.95 && b[0] < 0.05 }},
		"one-at-a-time": {"one factor at a time", func(s, b []float64) bool { return s[1] > 6 && math.Abs(b[1]-1) < 1e-9 }},
		"{morris: 8}":   {"Morris", func(s, b []float64) bool { return s[0] > 6 && math.Abs(b[0]-1) < 0.2 && b[2] < 0.2 }},
		"{sobol: 32}":   {"Sobol", func(s, b []float64) bool { return s[1] > 0.8 && b[1] < 0.2 }},
		"{lhs: 5}":      {"", nil},
		"{points: [{params.sides: 6, params.bonus: 0}]}": {"", nil},
	} {
		t.Run(design, func(t *testing.T) {
			vary := "params.sides: [2, 6, 20]"
			if strings.Contains(design, "morris") || strings.Contains(design, "sobol") || strings.Contains(design, "lhs") {
				vary = "params.sides: {from: 2, to: 20}"
			}
			l := newLaboratory(t, strings.NewReplacer("params.sides: [4, 6, 20]", vary, "  params.bonus: [0, 1]\n", "  params.bonus: [0, 1]\ndesign: "+design+"\n", "seeds: 4", "seeds: 2", "cycles: 3", "cycles: 5", "parallel: 1", "parallel: 2").Replace(diceExperiment))
			l.execute()
			l.open(func(x *experiments.Experiment) {
				s, err := x.Status(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				table, err := x.Table(t.Context(), s)
				if err != nil {
					t.Fatal(err)
				}
				got, err := findings.Analyze(x.Findings(table), 2)
				if err != nil {
					t.Fatal(err)
				}
				if want.method == "" {
					if got != nil {
						t.Errorf("the design has an analysis: %+v", got)
					}
					return
				}
				figures := map[string][]float64{}
				for _, f := range got.Factors {
					for _, v := range f.Figures {
						figures[f.Name] = append(figures[f.Name], v.Value)
					}
				}
				if got.Method != want.method || !want.check(figures["params.sides"], figures["params.bonus"]) {
					t.Errorf("%s: %v", got.Method, figures)
				}
			})
		})
	}
}

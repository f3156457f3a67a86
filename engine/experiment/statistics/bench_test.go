package statistics

import (
	"math"
	"math/rand/v2"
	"testing"
)

func BenchmarkBootstrapOf10000(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	values := draw(10000, r.ExpFloat64)
	for b.Loop() {
		if !Bootstrap(values, Mean, 1).Known() {
			b.Fatal("unknown interval")
		}
	}
}

func BenchmarkSignFlipOf11(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	x, y := together(r, MaxSignFlip, 0.9, 0.1)
	for b.Loop() {
		if d := Paired(x, y); math.IsNaN(d.P) {
			b.Fatal("no p-value")
		}
	}
}

func BenchmarkRanksOf20(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	x, y := draw(20, r.ExpFloat64), draw(20, r.ExpFloat64)
	for b.Loop() {
		if d := Ranks(x, y); math.IsNaN(d.P) {
			b.Fatal("no p-value")
		}
	}
}

// BenchmarkTable is a table of 50 points, 20 measures and 40 replicates: paired, independent, and with the bootstrap for all estimates.
func BenchmarkTable(b *testing.B) {
	for _, c := range []struct {
		name   string
		kind   Kind
		paired bool
	}{{"paired", Number, true}, {"independent", Number, false}, {"costs", Cost, true}, {"timings", Timing, true}} {
		b.Run(c.name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			measures := make([]Measure, 20)
			for m := range measures {
				measures[m].Kind = c.kind
				for p := range 50 {
					sd := math.Pow(2, float64(p%5-2))
					measures[m].Values = append(measures[m].Values, draw(40, func() float64 { return 10 + 0.02*float64(p) + sd*r.NormFloat64() }))
				}
			}
			for b.Loop() {
				if rows := Table(measures, 0, c.paired, 1); len(rows) != 20 {
					b.Fatal(len(rows))
				}
			}
		})
	}
}

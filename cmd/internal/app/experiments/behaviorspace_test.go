package experiments_test

import (
	"encoding/csv"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app/experiments"
)

// herd is a model as NetLogo's library has them, without chance: five herds grow logistically, each from its own size.
const herd = `
title: Herds
parameters:
  rate: {default: 0.5, min: 0, max: 3}
  capacity: {default: 100, min: 1, max: 1000}
population: {count: 5}
chain grow:
  step size:
    kind: remember
    set: {size: "${(agent.memory.size or agent.index + 1.0) * (1 + params.rate * (1 - (agent.memory.size or agent.index + 1.0) / params.capacity))}"}
`

// reference computes the mean size after some cycles.
func reference(rate, capacity float64, cycles int) float64 {
	sum := 0.0
	for agent := range 5 {
		size := float64(agent) + 1
		for range cycles {
			size *= 1 + rate*(1-size/capacity)
		}
		sum += size
	}
	return sum / 5
}

// TestBehaviorSpace does three designs of NetLogo's BehaviorSpace and compares each value with a reference: a range of a variable as in
// ["density" [40 5 80]], sub-experiments as in [["rate" 0.2] ["capacity" 50]] [["rate" 0.9] ["capacity" 200]], and a measure at
// every step.
func TestBehaviorSpace(t *testing.T) {
	for _, c := range []struct {
		name, design   string
		points         int
		executed       int // cycles, over all runs; every step takes 78 if no run continues another
		rate, capacity string
	}{
		{"range", "vary: {params.rate: {from: 0.2, to: 1.8, step: 0.2}}\nsettings: {cycles: 6}\n", 9, 54, "params.rate", ""},
		{"sub-experiments", "vary: {params.rate: [0.2, 0.9], params.capacity: [50, 200]}\ndesign: {points: [{params.rate: 0.2, params.capacity: 50}, {params.rate: 0.9, params.capacity: 200}]}\nsettings: {cycles: 6}\n", 2, 12, "params.rate", "params.capacity"},
		{"every step", "params: {rate: 0.7}\nvary: {settings.cycles: {from: 1, to: 12, step: 1}}\n", 12, 23, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLaboratory(t, "title: Herds\nscenario: herd.yaml\n"+c.design+"replicates: {seeds: 1}\nmeasures: [memory.size.mean]\n")
			l.write("herd.yaml", herd)
			table, done := l.execute()
			rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
			if err != nil || done != c.points || len(rows) != c.points+1 {
				t.Fatalf("%d runs, %v:\n%s", done, err, table)
			}
			value := func(row []string, name string, usual float64) float64 {
				for i, column := range rows[0] {
					if column == name {
						x, err := strconv.ParseFloat(row[i], 64)
						if err != nil {
							t.Fatal(err)
						}
						return x
					}
				}
				return usual
			}
			for _, row := range rows[1:] {
				rate := value(row, c.rate, map[bool]float64{true: 0.7, false: 0.5}[c.rate == ""])
				cycles := int(value(row, "settings.cycles", 6))
				want := reference(rate, value(row, c.capacity, 100), cycles)
				if got := value(row, "memory.size.mean", math.NaN()); !(math.Abs(got-want) <= 1e-12*want) {
					t.Errorf("%v: the mean size is %v, want %v", row, got, want)
				}
			}
			l.open(func(x *experiments.Experiment) {
				s, err := x.Status(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				cycles := 0
				for _, r := range s.Runs {
					cycles += r.Record.Cycle - r.Record.ForkCycle
				}
				if cycles != c.executed {
					t.Errorf("%d cycles were executed, want %d", cycles, c.executed)
				}
			})
		})
	}
}

package govern

import "testing"

// Each plant has room for about 40 sessions by one signal, and more by the others.
func TestAdaptiveKnee(t *testing.T) {
	for _, c := range []trial{
		{name: "knee 40, and more CPU and connections", knee: 40, plant: func() *plant {
			return &plant{agents: 372, mean: 1, knee: constant(40), cpu: machine(constant(10), 1), own: 0.5, others: constant(10), most: 60}
		}},
		{name: "CPU 80% at 40, knee 60", knee: 40, plant: func() *plant {
			return &plant{agents: 372, mean: 1, knee: constant(60), cpu: machine(constant(20), 1.5), own: 0.3, others: constant(10), most: 60}
		}},
		{name: "50 of 60 connections at 40, knee 60", knee: 40, plant: func() *plant {
			return &plant{agents: 372, mean: 1, knee: constant(60), cpu: machine(constant(10), 0.8), own: 0.75, others: constant(20), most: 60}
		}},
		{name: "5% fail at 42, knee 60", knee: 42, plant: func() *plant {
			return &plant{agents: 372, mean: 1, knee: constant(60), fails: failsAbove(40), cpu: machine(constant(10), 0.8)}
		}},
	} {
		for _, start := range []int{50, 100} {
			c.governor, c.start, c.seeds, c.seconds, c.from, c.distance, c.oscillation = "adaptive", start, 10, 3600, 900, 0.10, 0.12
			c.run(t)
		}
	}
}

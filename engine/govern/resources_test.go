package govern

import "testing"

// machine takes other percent of CPU and each percent for every session at work.
func machine(other func(float64) float64, each float64) func(t, n float64) float64 {
	return func(t, n float64) float64 { return other(t) + each*n }
}

func TestResourcesKnee(t *testing.T) {
	for _, start := range []int{1, 5, 50, 100} {
		c := trial{
			name: "CPU 80 % at 40", governor: "resources", start: start, seeds: 20, seconds: 1800, from: 300, knee: 40,
			plant:    func() *plant { return &plant{agents: 372, mean: 1, cpu: machine(constant(20), 1.5)} },
			distance: 0.10, oscillation: 0.10,
		}
		c.run(t)
	}
}

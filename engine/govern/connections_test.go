package govern

import "testing"

func TestConnectionsKnee(t *testing.T) {
	for _, start := range []int{1, 5, 50, 100} {
		c := trial{
			name: "50 of 60 at 40", governor: "connections", start: start, seeds: 20, seconds: 1800, from: 300, knee: 40,
			plant:    func() *plant { return &plant{agents: 372, mean: 1, own: 0.75, others: constant(20), most: 60} },
			distance: 0.10, oscillation: 0.10,
		}
		c.run(t)
	}
}

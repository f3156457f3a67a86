package govern

import "testing"

// failsAbove lets as many sessions succeed as a backend bears at once.
func failsAbove(bears float64) func(float64, int) float64 {
	return func(_ float64, n int) float64 { return max(0, 1-bears/float64(n)) }
}

func TestSuccessKnee(t *testing.T) {
	for _, start := range []int{1, 5, 50, 100} {
		c := trial{
			name: "5 % fail at 42", governor: "success", start: start, seeds: 20, seconds: 3600, from: 900, knee: 42,
			plant:    func() *plant { return &plant{agents: 372, mean: 1, fails: failsAbove(40)} },
			distance: 0.10, oscillation: 0.10,
		}
		c.run(t)
	}
}

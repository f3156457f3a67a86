package statistics_test

import (
	"fmt"

	"github.com/throng-sim/throng/engine/experiment/statistics"
)

// Orders of eight runs at the baseline and at a point. Runs in the same position had the same seed.
func ExampleDiffer() {
	baseline := []float64{212, 187, 240, 198, 225, 176, 231, 204}
	point := []float64{219, 195, 246, 207, 229, 187, 240, 209}
	d := statistics.Differ(baseline, point, statistics.Number, true)
	fmt.Printf("difference %.1f, 95%% interval %.1f to %.1f (%s), p = %.3f\n", d.Value, d.Interval.Low, d.Interval.High, d.Interval.Method, d.P)
	fmt.Printf("no difference larger than %.1f; correlation %.2f\n", d.Margin, d.Pairing.Correlation)
	// Output:
	// difference 7.4, 95% interval 5.3 to 9.3 (exact sign-flip), p = 0.008
	// no difference larger than 9.0; correlation 1.00
}

// The first five runs determine how many are needed for a half width of 5%.
func ExampleUntil() {
	rule := statistics.Until{HalfWidth: 0.05, Relative: true, First: 5, AtMost: 40}
	d := rule.Decide([]float64{0.62, 0.58, 0.66, 0.61, 0.55})
	fmt.Println(d.Runs, d.Done, d.Reason)
	// Output: 15 false 5 of 15 runs have a value
}

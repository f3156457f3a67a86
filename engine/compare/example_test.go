package compare_test

import (
	"fmt"

	"github.com/throng-sim/throng/engine/compare"
)

// Of 372 shoppers 95 ordered: what share is that, and how sure is it?
func ExampleWilson() {
	i := compare.Wilson(95, 372)
	fmt.Printf("%.3f, with 95%% between %.3f and %.3f\n", i.Mean, i.Low, i.High)
	// Output: 0.255, with 95% between 0.214 and 0.302
}

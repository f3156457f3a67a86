package compare_test

import (
	"fmt"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/compare"
)

// Do shoppers order more with the second setup? Twelve seeds of each answer.
func ExampleTable() {
	var groups [2]compare.Group
	for seed := range 12 {
		for setup := range groups {
			s := &compare.Sample{}
			for agent := range 40 {
				// Every tenth agent more orders at the second setup; all others follow the luck of the seed.
				orders := (agent+seed)%4 == 0 || setup == 1 && (agent+seed)%10 == 1
				s.Add(&engine.SessionRow{Place: engine.Place{Agent: agent}, Acted: orders})
			}
			s.Close()
			groups[setup] = append(groups[setup], s)
		}
	}
	for _, row := range compare.Table(groups[:], compare.Units{Paired: true}) {
		if row.Name == "acted" {
			fmt.Println(row.Value(0), row.Difference(0), row.Chance(0))
		}
	}
	// Output: 25.00% +10.00 points 0.001
}

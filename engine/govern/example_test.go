package govern_test

import (
	"fmt"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/govern"
)

// A governor receives a reading of the run every second and returns the limit. It depends on nothing else: no clock, no goroutine.
func Example() {
	governor, err := govern.New(engine.Steering{Governor: "success", Floor: 1, Ceiling: 100}, govern.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	limit, at := 40, time.Date(2026, 1, 2, 8, 0, 0, 0, time.UTC)
	for range 60 {
		at = at.Add(time.Second)
		orders := governor.Steer(engine.Reading{
			At: at, Span: time.Second, Phase: engine.Running, Limit: limit, InFlight: limit, Busy: 1,
			Ended: 50, Failed: 15, CycleTotal: 100_000,
		})
		if orders.Limit != limit {
			fmt.Println(orders.By, "says", orders.Why)
			return
		}
	}
	// Output: success says 40 → 29: 30.0% of 50 sessions failed, above 10%
}

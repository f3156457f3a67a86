package run_test

import (
	"context"
	"fmt"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
)

// greeter is a program that defines what one agent does in one cycle.
type greeter struct{}

// Session fills in the session's row. Many sessions run concurrently.
func (greeter) Session(s *engine.Session) {
	s.Row.Outcome = engine.OK
	if s.Agent == 3 { // the fourth agent stays at home
		s.Row.Outcome = engine.Stopped
	}
}

// This example runs ten agents for three cycles. Most programs come from a scenario file; see package scenario.
func Example() {
	settings := engine.DefaultSettings()
	settings.Seed, settings.Cycles, settings.Limit = 7, 3, 4 // at most 4 concurrent sessions
	run, err := run.Start(context.Background(), run.Config{ID: "greetings", Program: greeter{}, Agents: 10, Settings: settings})
	if err != nil {
		fmt.Println(err)
		return
	}
	result := run.Wait()
	snap := run.Snapshot()
	fmt.Println(result.Ending, "after", snap.Ended, "sessions")
	fmt.Println(snap.Outcomes[engine.OK], "ok,", snap.Outcomes[engine.Stopped], "stopped")
	// Output:
	// finished after 30 sessions
	// 27 ok, 3 stopped
}

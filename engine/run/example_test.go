package run_test

import (
	"context"
	"fmt"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
)

// greeters is a program: what one agent does in one cycle.
type greeters struct{}

// Session fills the session's row; many sessions go on at once.
func (greeters) Session(s *engine.Session) {
	s.Row.Outcome = engine.OK
	if s.Agent == 3 { // the fourth agent stays at home
		s.Row.Outcome = engine.Stopped
	}
}

// A run of ten agents for three cycles. Programs are mostly made of a scenario file; see package scenario.
func Example() {
	settings := engine.DefaultSettings()
	settings.Seed, settings.Cycles, settings.Limit = 7, 3, 4 // at most 4 sessions at once
	run, err := run.Start(context.Background(), run.Config{ID: "greetings", Program: greeters{}, Agents: 10, Settings: settings})
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

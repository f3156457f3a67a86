package history

import (
	"testing"

	"github.com/throng-sim/throng/engine"
)

// TestStateOfThoseWhoAreNotInFlight in a run that this process does not work on.
func TestStateOfThoseWhoAreNotInFlight(t *testing.T) {
	ended := &engine.AgentView{Sessions: []engine.AgentTurn{{SessionRow: engine.SessionRow{Place: engine.Place{Cycle: 4}, Outcome: engine.Stopped}}}}
	gone := hands{engine.Resumption{Retired: map[int]int{0: 4}}}
	for _, tt := range []struct {
		cycle  int // open
		ending engine.Ending
		hands  hands
		view   *engine.AgentView
		want   engine.AgentState
	}{
		{4, engine.NotEnded, hands{}, ended, engine.AgentStopped},
		{5, engine.NotEnded, hands{}, ended, engine.AgentWaiting},
		{5, engine.EndFinished, hands{}, ended, engine.AgentStopped},
		{6, engine.EndFinished, hands{}, ended, engine.AgentResting},
		{5, engine.EndStopped, hands{}, ended, engine.AgentWaiting},
		{5, engine.EndFinished, gone, &engine.AgentView{}, engine.AgentRetired},
		{5, engine.EndFinished, gone, &engine.AgentView{Index: 1}, engine.AgentResting},
		{3, engine.NotEnded, gone, &engine.AgentView{}, engine.AgentWaiting},
	} {
		if got := tt.hands.state(&engine.RunRecord{Cycle: tt.cycle, Ending: tt.ending}, tt.view); got != tt.want {
			t.Errorf("%+v: got %s, want %s", tt, got, tt.want)
		}
	}
}

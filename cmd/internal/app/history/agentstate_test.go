package history

import (
	"testing"

	"github.com/throng-sim/throng/engine"
)

// TestStateOutsideOfSessions checks agents that are not in flight, in a run of another process.
func TestStateOutsideOfSessions(t *testing.T) {
	ended := &engine.AgentView{Sessions: []engine.AgentTurn{{SessionRow: engine.SessionRow{Place: engine.Place{Cycle: 4}, Outcome: engine.Stopped}}}}
	gone := userOrders{engine.Resumption{Retired: map[int]int{0: 4}}}
	for _, tt := range []struct {
		cycle  int // open
		ending engine.Ending
		orders userOrders
		view   *engine.AgentView
		want   engine.AgentState
	}{
		{4, engine.NotEnded, userOrders{}, ended, engine.AgentStopped},
		{5, engine.NotEnded, userOrders{}, ended, engine.AgentWaiting},
		{5, engine.EndFinished, userOrders{}, ended, engine.AgentStopped},
		{6, engine.EndFinished, userOrders{}, ended, engine.AgentResting},
		{5, engine.EndStopped, userOrders{}, ended, engine.AgentWaiting},
		{5, engine.EndFinished, gone, &engine.AgentView{}, engine.AgentRetired},
		{5, engine.EndFinished, gone, &engine.AgentView{Index: 1}, engine.AgentResting},
		{3, engine.NotEnded, gone, &engine.AgentView{}, engine.AgentWaiting},
	} {
		if got := tt.orders.state(&engine.RunRecord{Cycle: tt.cycle, Ending: tt.ending}, tt.view); got != tt.want {
			t.Errorf("%+v: got %s, want %s", tt, got, tt.want)
		}
	}
}

package history

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

var noon = time.Date(2030, 3, 1, 12, 0, 0, 0, time.UTC)

func afterNoon(seconds float64) time.Time {
	return noon.Add(time.Duration(seconds * float64(time.Second)))
}

// took returns a session that started seconds after noon and lasted seconds.
func took(agent, take int, from, seconds float64, how engine.Outcome) engine.SessionRow {
	return engine.SessionRow{
		Place: engine.Place{Cycle: 3, Agent: agent, Take: take}, Outcome: how, Started: afterNoon(from), Total: time.Duration(seconds * float64(time.Second)),
	}
}

// requeued and retired return the journal rows of such orders.
func requeued(at float64, agent, take int) engine.ChangeRow {
	return engine.ChangeRow{At: afterNoon(at), What: engine.RequeueChange, New: fmt.Sprintf(`{"cycle":3,"agent":%d,"take":%d}`, agent, take)}
}

func retired(at float64, agent, from int) engine.ChangeRow {
	return engine.ChangeRow{At: afterNoon(at), What: engine.RetireChange, New: fmt.Sprintf(`{"cycle":%d,"agent":%d}`, from, agent)}
}

// TestStatesAtAMoment checks agent 0 of two at moments of a cycle. A resumed run has sessions of the earlier process and,
// hours later, of the next.
func TestStatesAtAMoment(t *testing.T) {
	type shown map[float64]engine.AgentState
	for _, c := range []struct {
		name    string
		rows    []engine.SessionRow
		changes []engine.ChangeRow
		rests   bool
		want    shown
	}{
		{"ok", []engine.SessionRow{took(0, 0, 10, 5, engine.OK)}, nil, false, shown{
			0: engine.AgentWaiting, 9.999: engine.AgentWaiting, 10: engine.AgentInFlight, 14.999: engine.AgentInFlight, 15: engine.AgentOK, 90: engine.AgentOK,
		}},
		{"stopped", []engine.SessionRow{took(0, 0, 10, 5, engine.Stopped)}, nil, false, shown{15: engine.AgentStopped}},
		{"timed out", []engine.SessionRow{took(0, 0, 10, 5, engine.TimedOut)}, nil, false, shown{12: engine.AgentInFlight, 15: engine.AgentTimedOut}},
		{"in no time", []engine.SessionRow{took(0, 0, 10, 0, engine.OK)}, nil, false, shown{9: engine.AgentWaiting, 10: engine.AgentOK}},
		{"requeued", []engine.SessionRow{took(0, 0, 10, 5, engine.Failed), took(0, 1, 30, 5, engine.OK)}, []engine.ChangeRow{requeued(20, 0, 1)}, false, shown{
			12: engine.AgentInFlight, 15: engine.AgentFailed, 19: engine.AgentFailed, 20: engine.AgentWaiting, 29: engine.AgentWaiting,
			30: engine.AgentInFlight, 35: engine.AgentOK,
		}},
		{
			"requeued twice",
			[]engine.SessionRow{took(0, 0, 1, 1, engine.Failed), took(0, 1, 10, 5, engine.Failed), took(0, 2, 30, 5, engine.Failed)},
			[]engine.ChangeRow{requeued(5, 0, 1), requeued(20, 0, 2)},
			false,
			shown{
				2: engine.AgentFailed, 6: engine.AgentWaiting, 11: engine.AgentInFlight, 16: engine.AgentFailed, 21: engine.AgentWaiting, 36: engine.AgentFailed,
			},
		},
		{"requeued and cut", []engine.SessionRow{took(0, 0, 10, 5, engine.Failed)}, []engine.ChangeRow{requeued(20, 0, 1)}, false, shown{
			16: engine.AgentFailed, 21: engine.AgentWaiting, 90: engine.AgentWaiting,
		}},
		{"another was requeued", []engine.SessionRow{took(0, 0, 10, 5, engine.Failed)}, []engine.ChangeRow{requeued(20, 1, 1)}, false, shown{21: engine.AgentFailed}},
		{"resumed", []engine.SessionRow{took(1, 0, 1, 1, engine.OK), took(0, 0, 7200, 5, engine.OK)}, nil, false, shown{
			5: engine.AgentWaiting, 3600: engine.AgentWaiting, 7201: engine.AgentInFlight, 7205: engine.AgentOK,
		}},
		{"retired in flight", []engine.SessionRow{took(0, 0, 10, 5, engine.Canceled)}, []engine.ChangeRow{retired(15, 0, 4)}, false, shown{
			5: engine.AgentWaiting, 12: engine.AgentInFlight, 16: engine.AgentCanceled,
		}},
		{"retired before", nil, []engine.ChangeRow{retired(-10, 0, 3)}, false, shown{0: engine.AgentRetired}},
		{"retired from the next cycle on", nil, []engine.ChangeRow{retired(5, 0, 4)}, false, shown{0: engine.AgentWaiting, 6: engine.AgentWaiting}},
		{"not warmed up", nil, nil, true, shown{0: engine.AgentResting, 90: engine.AgentResting}},
		{"nothing is known", nil, nil, false, shown{0: engine.AgentWaiting, 90: engine.AgentWaiting}},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := newTurns(3, 2)
			for i := range c.rows {
				all.add(&c.rows[i])
			}
			for second, want := range c.want {
				o, err := ordered(c.changes, 3, afterNoon(second))
				if err != nil {
					t.Fatal(err)
				}
				if got := all.crowd(afterNoon(second), func(int) bool { return c.rests }, o).States[0]; got != want {
					t.Errorf("after %v s: %s, want %s", second, got, want)
				}
			}
		})
	}
}

// TestEventsUpToAMoment checks the events, failures and sessions in flight of a cycle.
func TestEventsUpToAMoment(t *testing.T) {
	all := newTurns(3, 100)
	for i := range 60 {
		r := took(i, 0, float64(60-i), 100, engine.OK) // the last one started first
		r.Events = []engine.Event{{Path: fmt.Sprintf("fill[%d].add", i), Name: "added"}}
		all.add(&r)
	}
	bad := took(70, 0, 5, 1, engine.Failed)
	bad.Class, bad.Path, bad.Error = engine.ServerError, "pay", "503"
	all.add(&bad)
	worse := took(71, 0, 8, 1, engine.Failed)
	worse.Class, worse.Path, worse.Error = engine.ServerError, "pay", "504"
	all.add(&worse)

	c := all.crowd(afterNoon(40.5), func(int) bool { return false }, orders{})
	oldest := all.oldest(c)
	var agents []int
	for i := range oldest {
		agents = append(agents, oldest[i].Agent)
	}
	if len(oldest) != shownOldest || !slices.Equal(agents[:3], []int{59, 58, 57}) {
		t.Errorf("the oldest are %v", agents)
	}
	for second, want := range map[float64]string{5: "", 6: "503", 8.5: "503", 9: "504"} {
		if got := all.failed(afterNoon(second))[engine.ServerError].Message; got != want {
			t.Errorf("after %v s the last error is %q, want %q", second, got, want)
		}
	}
	newest, count := all.emitted(afterNoon(103))
	if count != 3 || len(newest) != 3 || newest[0].Agent != 59 || newest[2].Agent != 57 || newest[0].Path != "fill.add" || newest[0].Event != "added" {
		t.Errorf("%d events: %+v", count, newest)
	}
	if newest, count = all.emitted(afterNoon(1000)); count != 60 || len(newest) != shownEvents || newest[shownEvents-1].Agent != 0 {
		t.Errorf("at the end %d events, %d of them shown", count, len(newest))
	}
}

package engine

import (
	"encoding/json"
	"fmt"
	"slices"
)

// AgentChange is the JSON form of a retirement or a requeuing. Cycle is the first cycle without the agent, or the open one.
type AgentChange struct {
	Cycle int `json:"cycle"`
	Agent int `json:"agent"`
	Take  int `json:"take,omitempty"` // the take to run again
}

// SessionEnd is what only the last take of a session contributes to the totals.
type SessionEnd struct {
	Take    int
	Outcome Outcome
	Class   Class
	Acted   bool
	Events  int64
}

// EndOf returns the SessionEnd of a session row.
func EndOf(r *SessionRow) SessionEnd {
	return SessionEnd{r.Take, r.Outcome, r.Class, r.Acted, int64(len(r.Events))}
}

// Apply applies a change from the journal: orders about agents, and changes to services. Changes must be applied in order.
func (res *Resumption) Apply(c *ChangeRow) error {
	switch c.What {
	case InjectChange:
		i, _, err := ReadInjection(c.What, c.New)
		res.Injected = append(res.Injected, i)
		return err
	case RetireChange, RequeueChange:
		var t AgentChange
		if err := json.Unmarshal([]byte(c.New), &t); err != nil {
			return fmt.Errorf("a change by hand cannot be read: %w", err)
		}
		if c.What == RetireChange {
			put(&res.Retired, t.Agent, t.Cycle)
			return nil
		}
		put(&res.Requeued, Place{Cycle: t.Cycle, Agent: t.Agent}, t.Take)
	case LimitChange, PhaseChange, StallChange, SleepChange, ExactnessChange, WorkerChange, FleetChange:
	default:
		res.Tuned = slices.DeleteFunc(res.Tuned, func(t Tunable) bool { return t.Name == c.What })
		res.Tuned = append(res.Tuned, Tunable{Name: c.What, Value: c.New})
	}
	return nil
}

func put[K comparable, V any](m *map[K]V, key K, v V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = v
}

// Superseded reports whether a later take of a session was ordered.
func (res *Resumption) Superseded(p Place) bool {
	return p.Take < res.Requeued[Place{Cycle: p.Cycle, Agent: p.Agent}]
}

// Count adds a session from the journal to t. before are the totals at the start of the session's cycle.
func (res *Resumption) Count(t *Totals, r *SessionRow, before *Totals) {
	t.Add(r)
	if res.Superseded(r.Place) {
		t.Withdraw(r.Agent, EndOf(r), before)
	}
}

// Withdraw removes from t what a session contributed as the last take, because another take follows: its outcome, its
// events and whether it acted. Its requests and spending remain counted. before are the totals at the start of its cycle.
func (t *Totals) Withdraw(agent int, e SessionEnd, before *Totals) {
	t.Outcomes[e.Outcome]--
	if e.Outcome == Failed || e.Outcome == TimedOut {
		t.Errors[e.Class]--
		if !before.hasFailed(agent) {
			t.FailedAgents[agent/64] &^= 1 << (agent % 64)
		}
	}
	if e.Acted {
		t.Acted--
	}
	t.Events -= e.Events
}

// hasFailed reports whether an agent had a session that failed or timed out.
func (t *Totals) hasFailed(agent int) bool {
	return agent/64 < len(t.FailedAgents) && t.FailedAgents[agent/64]&(1<<(agent%64)) != 0
}

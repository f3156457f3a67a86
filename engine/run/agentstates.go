package run

import (
	"slices"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine"
)

// pageAgents is how many agents share a page of states. Memory is allocated only for pages in which a session has ended.
const pageAgents = 1 << 16

// requeued marks an agent whose session must run again.
const requeued = engine.NumAgentStates

// agentStates holds how the sessions of the open cycle ended, as one byte per agent. Everything else that a crowd shows is
// computed on request. The node writes it, and any goroutine may read it. Readers hold the lock only while they copy one
// byte per agent, so sessions never wait for it.
type agentStates struct {
	mu      sync.Mutex
	agents  int
	cycle   int        // the cycle that is shown
	plan    *plan      // nil before the first cycle of this process
	started func() int // returns how many of its sessions have started
	retired []int32
	pages   []*page
}

// page holds the states of pageAgents agents. The states of an earlier cycle count as empty and are cleared on the next
// write.
type page struct {
	cycle  int
	states []engine.AgentState // AgentWaiting means that no session has ended
}

func newAgentStates(agents int) agentStates {
	return agentStates{agents: agents, pages: make([]*page, (agents+pageAgents-1)/pageAgents)}
}

// open switches to another cycle. retired lists the agents that are retired in it.
func (a *agentStates) open(c *plan, retired map[int]int) {
	missing := make([]int32, 0, len(retired))
	for agent := range retired {
		missing = append(missing, int32(agent))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cycle, a.plan, a.retired = c.number, c, missing
}

// resume loads how sessions ended in the cycle that an earlier process left open.
func (a *agentStates) resume(res *engine.Resumption) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cycle = res.Cycle
	for i, agent := range res.Done {
		if i < len(res.Outcomes) && agent < a.agents {
			a.set(agent, engine.StateOf(res.Outcomes[i]))
		}
	}
}

// record stores how sessions ended.
func (a *agentStates) record(rows []engine.SessionRow) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range rows {
		a.set(rows[i].Agent, engine.StateOf(rows[i].Outcome))
	}
}

// requeue marks an agent whose session must run again.
func (a *agentStates) requeue(agent int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.set(agent, requeued)
}

// set sets the state of an agent. mu is held.
func (a *agentStates) set(agent int, s engine.AgentState) {
	p := a.pages[agent/pageAgents]
	if p == nil {
		first := agent - agent%pageAgents
		p = &page{a.cycle, make([]engine.AgentState, min(pageAgents, a.agents-first))}
		a.pages[agent/pageAgents] = p
	}
	if p.cycle != a.cycle {
		clear(p.states)
		p.cycle = a.cycle
	}
	p.states[agent%pageAgents] = s
}

// copyTo fills states with how the sessions ended, one entry per agent. begun is how many sessions of the plan had started
// before the copy.
func (a *agentStates) copyTo(states []engine.AgentState) (number, begun int, c *plan, retired []int32) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.plan != nil {
		begun = a.started()
	}
	for i, p := range a.pages {
		part := states[i*pageAgents : min((i+1)*pageAgents, len(states))]
		if p == nil || p.cycle != a.cycle {
			clear(part)
		} else {
			copy(part, p.states)
		}
	}
	return a.cycle, begun, a.plan, a.retired
}

// Crowd returns what every agent is doing in the open cycle or, between cycles, what it did in the last one. If reuse is
// not nil, the result reuses its memory, so the caller must not use that crowd elsewhere. Crowd does not block. For a
// million agents it takes a few milliseconds. A session that only computes may appear in flight for about 20 ms after its
// end. A requeued session may appear as waiting while it runs.
func (r *Run) Crowd(reuse *engine.Crowd) *engine.Crowd {
	if reuse == nil {
		reuse = &engine.Crowd{}
	}
	c := reuse
	c.States = slices.Grow(c.States[:0], r.agentStates.agents)[:r.agentStates.agents]
	var begun int
	var open *plan
	var retired []int32
	c.At = time.Now()
	c.Cycle, begun, open, retired = r.agentStates.copyTo(c.States)
	select {
	case <-r.mail.done:
		begun = 0 // sessions that started but did not end were cut and will run again
	default:
	}
	markStarted(c, open, begun)
	for _, agent := range retired {
		if c.States[agent] == engine.AgentResting {
			c.States[agent] = engine.AgentRetired
		}
	}
	for i, s := range c.States {
		if s == requeued {
			c.States[i] = engine.AgentWaiting
		}
	}
	r.pool.Mark(c)
	return c
}

// markStarted distinguishes agents that wait, agents with a session in flight, and agents that are not active in the cycle.
func markStarted(c *engine.Crowd, open *plan, begun int) {
	switch {
	case open == nil:
	case open.todo == nil:
		for i, s := range c.States[:begun] {
			if s == engine.AgentWaiting {
				c.States[i] = engine.AgentInFlight
			}
		}
	default:
		for i, s := range c.States {
			if s == engine.AgentWaiting {
				c.States[i] = engine.AgentResting
			}
		}
		for i, agent := range open.todo {
			switch {
			case c.States[agent] != engine.AgentResting:
			case i < begun:
				c.States[agent] = engine.AgentInFlight
			default:
				c.States[agent] = engine.AgentWaiting
			}
		}
	}
}

// Activity returns the current step of an agent's session. It returns false if the session has not yet reached a step that can
// wait.
func (r *Run) Activity(agent int) (engine.Activity, bool) { return r.pool.Activity(agent) }

// Memory returns an agent's memory at the start of the open cycle, or nil if it has none, and the letters that people have
// injected into its inbox since the agent last read it. The caller must not change the memory. Memory waits for the node,
// which may be busy at a barrier.
func (r *Run) Memory(agent int) (m *engine.Memory, injected []engine.Letter) {
	read := func(n *node) error {
		committed, all := r.memory, r.injected
		if n != nil { // sessions read those of the run
			committed, all = n.core.memory.committed, n.core.memory.injected
		}
		m = committed.Of(agent)
		injected = engine.Injected(all, m, engine.Place{Cycle: r.Snapshot().Cycle, Agent: agent})
		return nil
	}
	if r.mail.do(read) != nil {
		_ = read(nil) // only the node changes it, and the node has ended
	}
	return m, injected
}

package run

import (
	"slices"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine"
)

// pageAgents is how many agents share a page of their states: of a crowd of any size only those pages are there in which
// a session has ended.
const pageAgents = 1 << 16

// requeued marks an agent whose session is to be made again.
const requeued = engine.NumAgentStates

// attendance is how the sessions of the open cycle ended, a byte for each agent; the rest of what is shown of a crowd is
// put together when it is asked for. The loop writes, anybody reads: under the lock an agent takes a byte to be copied,
// and no session ever waits for it.
type attendance struct {
	mu      sync.Mutex
	agents  int
	number  int        // of the cycle that is shown
	plan    *plan      // nil before the first of this process
	begun   func() int // how many of its sessions have begun
	retired []int32
	pages   []*page
}

// page is a piece of it. States of another cycle than the open one count as none: nothing is cleared before it is needed.
type page struct {
	cycle  int
	states []engine.AgentState // AgentWaiting is that no session has ended
}

func newAttendance(agents int) attendance {
	return attendance{agents: agents, pages: make([]*page, (agents+pageAgents-1)/pageAgents)}
}

// open shows another cycle from now on. retired are those who are missing from it.
func (a *attendance) open(c *plan, retired map[int]int) {
	missing := make([]int32, 0, len(retired))
	for agent := range retired {
		missing = append(missing, int32(agent))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.number, a.plan, a.retired = c.number, c, missing
}

// takeUp knows how the sessions of an earlier process ended in the cycle that it left open.
func (a *attendance) takeUp(res *engine.Resumption) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.number = res.Cycle
	for i, agent := range res.Done {
		if i < len(res.Outcomes) && agent < a.agents {
			a.set(agent, engine.StateOf(res.Outcomes[i]))
		}
	}
}

// take notes how sessions ended.
func (a *attendance) take(rows []engine.SessionRow) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range rows {
		a.set(rows[i].Agent, engine.StateOf(rows[i].Outcome))
	}
}

// again notes that an agent's session is to be made again.
func (a *attendance) again(agent int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.set(agent, requeued)
}

// set is called with mu held.
func (a *attendance) set(agent int, s engine.AgentState) {
	p := a.pages[agent/pageAgents]
	if p == nil {
		first := agent - agent%pageAgents
		p = &page{a.number, make([]engine.AgentState, min(pageAgents, a.agents-first))}
		a.pages[agent/pageAgents] = p
	}
	if p.cycle != a.number {
		clear(p.states)
		p.cycle = a.number
	}
	p.states[agent%pageAgents] = s
}

// copied fills states, one for each agent, with how sessions ended. begun is how many of todo had begun before.
func (a *attendance) copied(states []engine.AgentState) (number, begun int, c *plan, retired []int32) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.plan != nil {
		begun = a.begun()
	}
	for i, p := range a.pages {
		part := states[i*pageAgents : min((i+1)*pageAgents, len(states))]
		if p == nil || p.cycle != a.number {
			clear(part)
		} else {
			copy(part, p.states)
		}
	}
	return a.number, begun, a.plan, a.retired
}

// Crowd returns what every agent is doing in the open cycle or, until the next begins, did in the one before. An earlier
// one that nobody uses any more gives its memory to the new one. It waits for nothing; of a million agents it takes some
// milliseconds of the caller's time. A session that does nothing but compute may be seen in flight until its end is
// told, some 20 ms later; one that was requeued, waiting.
func (r *Run) Crowd(reuse *engine.Crowd) *engine.Crowd {
	if reuse == nil {
		reuse = &engine.Crowd{}
	}
	c := reuse
	c.States = slices.Grow(c.States[:0], r.attendance.agents)[:r.attendance.agents]
	var begun int
	var open *plan
	var retired []int32
	c.At = time.Now()
	c.Cycle, begun, open, retired = r.attendance.copied(c.States)
	select {
	case <-r.done:
		begun = 0 // what had begun and did not end was cut, and will be had again
	default:
	}
	markBegun(c, open, begun)
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

// markBegun distinguishes agents that wait, agents with a session in flight, and agents that are not active in the cycle.
func markBegun(c *engine.Crowd, open *plan, begun int) {
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

// Doing is what an agent's session is at, if it has come to anything that can wait.
func (r *Run) Doing(agent int) (engine.Doing, bool) { return r.pool.Doing(agent) }

// Memory is what an agent remembers as of the start of the open cycle, nil without any, which must not be changed, and what
// people have put into its inbox by hand since it was read last. It waits for the run's loop, which may be busy at a
// barrier.
func (r *Run) Memory(agent int) (m *engine.Memory, injected []engine.Letter) {
	read := func(n *node) error {
		if n != nil {
			n.lend()
		}
		m = r.memory[agent]
		injected = engine.Injected(r.injected, m, engine.Place{Cycle: r.Snapshot().Cycle, Agent: agent})
		return nil
	}
	if r.insist(read) != nil {
		_ = read(nil) // the node, which alone changes it, has ended
	}
	return m, injected
}

package engine

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine/internal/clock"
)

// cycle is one superstep while it runs. Workers share it; only the cursor changes.
type cycle struct {
	number  int
	now     time.Time // simulated
	ready   time.Time // when its sessions could start
	todo    []int32   // agents that have no session in it yet; nil is agents 0 to size-1
	size    int       // how many have none yet
	active  int       // how many take part, those of an earlier process included
	ctx     context.Context
	clock   *clock.Clock  // with a cycle timeout only
	timeout *TimeoutError // of each session
	lane    *lane         // in a sequential run only

	cursor atomic.Int64 // how many of todo have started
}

// next returns the agent of the next session.
func (c *cycle) next() (agent int, ok bool) {
	if c.cursor.Load() >= int64(c.size) { // keeps the cursor near size however often it is asked
		return 0, false
	}
	i := c.cursor.Add(1) - 1
	if i >= int64(c.size) {
		return 0, false
	}
	if c.todo == nil {
		return int(i), true
	}
	return int(c.todo[i]), true
}

func (c *cycle) started() int { return int(min(c.cursor.Load(), int64(c.size))) }
func (c *cycle) left() int    { return c.size - c.started() }

// sessionClock starts the clock of a session.
func (c *cycle) sessionClock() *clock.Clock {
	if c.clock != nil {
		return c.clock.Child(c.timeout.Limit, c.timeout)
	}
	return clock.New(c.ctx, c.timeout.Limit, c.timeout)
}

// roster lists the agents that take part in a cycle, less those that are done.
type roster struct {
	seed   uint64
	agents int
	chosen []int // nil is all
	warmUp []float64
	each   int // cycles per step of the warm-up
	// sequential wants the agents listed, to be put in order
	sequential bool
}

// isEmpty reports whether nobody takes part in any cycle.
func (r *roster) isEmpty() bool {
	if r.chosen != nil {
		return len(r.chosen) == 0
	}
	return r.agents == 0
}

// share is the part of the agents that is active in a cycle.
func (r *roster) share(cycle int) float64 {
	if len(r.warmUp) == 0 || cycle/r.each >= len(r.warmUp) {
		return 1
	}
	return r.warmUp[cycle/r.each]
}

// takesPart reports whether a chosen agent is active at a share; who is at a small one is at any larger one.
func (r *roster) takesPart(agent int, share float64) bool {
	return share >= 1 || AgentKey(r.seed, agent).Text("warm-up").Source().Float64() < share
}

// count is how many take part in a cycle.
func (r *roster) count(cycle int) int {
	if share := r.share(cycle); share < 1 {
		n := 0
		r.each1(func(agent int) {
			if r.takesPart(agent, share) {
				n++
			}
		})
		return n
	}
	if r.chosen != nil {
		return len(r.chosen)
	}
	return r.agents
}

// total is how many sessions a run of n cycles has.
func (r *roster) total(cycles int) int64 {
	var n int64
	for c := 0; c < cycles; {
		if share := r.share(c); share >= 1 {
			return n + int64(cycles-c)*int64(r.count(c))
		}
		step := min(r.each, cycles-c)
		n += int64(step) * int64(r.count(c))
		c += step
	}
	return n
}

func (r *roster) each1(f func(agent int)) {
	if r.chosen != nil {
		for _, a := range r.chosen {
			f(a)
		}
		return
	}
	for a := range r.agents {
		f(a)
	}
}

// fill sets who has a session in c; done are those that had theirs already.
func (r *roster) fill(c *cycle, done []int) {
	share := r.share(c.number)
	if r.chosen == nil && share >= 1 && len(done) == 0 && !r.sequential {
		c.size, c.active = r.agents, r.agents
		return
	}
	had := make(map[int]bool, len(done))
	for _, a := range done {
		had[a] = true
	}
	c.todo = []int32{}
	r.each1(func(agent int) {
		if !r.takesPart(agent, share) {
			return
		}
		c.active++
		if !had[agent] {
			c.todo = append(c.todo, int32(agent))
		}
	})
	c.size = len(c.todo)
}

package run

import (
	"slices"

	"github.com/throng-sim/throng/engine"
)

// roster determines the active agents of a cycle.
type roster struct {
	seed         uint64
	agents       int
	chosen       []int // nil means all
	warmUp       []float64
	warmUpCycles int // cycles per warm-up step
	// ordered runs need a list of the agents so that they can be ordered.
	ordered bool
	// retiredFrom maps a retired agent to its first cycle without a session.
	retiredFrom map[int]int
	first       int // first cycle of the run
}

// isEmpty reports whether no agent is active in a cycle or any later one.
func (r *roster) isEmpty(cycle int) bool {
	left := r.agents
	if r.chosen != nil {
		left = len(r.chosen)
	}
	return left == 0 || len(r.retiredFrom) >= left && left == r.countRetired(cycle)
}

// countRetired returns how many agents are retired in a cycle.
func (r *roster) countRetired(cycle int) int {
	n := 0
	for _, from := range r.retiredFrom {
		if from <= cycle {
			n++
		}
	}
	return n
}

// retired returns the agents that are retired in a cycle.
func (r *roster) retired(cycle int) map[int]int {
	all := make(map[int]int, len(r.retiredFrom))
	for agent, from := range r.retiredFrom {
		if from <= cycle {
			all[agent] = from
		}
	}
	return all
}

// isRetired reports whether an agent is retired in a cycle.
func (r *roster) isRetired(agent, cycle int) bool {
	from, ok := r.retiredFrom[agent]
	return ok && from <= cycle
}

// has reports whether an agent belongs to the run.
func (r *roster) has(agent int) bool {
	if r.chosen != nil {
		_, found := slices.BinarySearch(r.chosen, agent)
		return found
	}
	return agent >= 0 && agent < r.agents
}

// share returns the fraction of agents that are active in a cycle.
func (r *roster) share(cycle int) float64 {
	if len(r.warmUp) == 0 || cycle/r.warmUpCycles >= len(r.warmUp) {
		return 1
	}
	return r.warmUp[cycle/r.warmUpCycles]
}

// isActive reports whether a chosen agent is active at a given share. An active agent stays active as the share grows.
func (r *roster) isActive(agent int, share float64) bool {
	return share >= 1 || engine.AgentKey(r.seed, agent).Text("warm-up").Source().Float64() < share
}

// count returns how many agents are active in a cycle.
func (r *roster) count(cycle int) int {
	if share := r.share(cycle); share < 1 {
		n := 0
		r.forEach(func(agent int) {
			if r.isActive(agent, share) && !r.isRetired(agent, cycle) {
				n++
			}
		})
		return n
	}
	n := r.agents
	if r.chosen != nil {
		n = len(r.chosen)
	}
	return n - r.countRetired(cycle)
}

// total returns the number of sessions in all cycles before a given one.
func (r *roster) total(cycles int) int64 {
	var n int64
	for c := r.first; c < cycles; {
		step := min(r.warmUpCycles-c%r.warmUpCycles, cycles-c)
		if share := r.share(c); share >= 1 {
			step = cycles - c
		}
		for _, from := range r.retiredFrom { // up to the next retirement
			if from > c {
				step = min(step, from-c)
			}
		}
		n += int64(step) * int64(r.count(c))
		c += step
	}
	return n
}

func (r *roster) forEach(f func(agent int)) {
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

// fill sets the sessions of the plan c. The agents in done already had theirs.
func (r *roster) fill(c *plan, done []int) {
	share := r.share(c.number)
	if r.chosen == nil && share >= 1 && len(done) == 0 && !r.ordered && r.countRetired(c.number) == 0 {
		c.size, c.active = r.agents, r.agents
		return
	}
	had := make(map[int]bool, len(done))
	for _, a := range done {
		had[a] = true
	}
	c.todo = []int32{}
	r.forEach(func(agent int) {
		if !r.isActive(agent, share) || r.isRetired(agent, c.number) {
			return
		}
		c.active++
		if !had[agent] {
			c.todo = append(c.todo, int32(agent))
		}
	})
	c.size = len(c.todo)
}

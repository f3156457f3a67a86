package run

import "github.com/throng-sim/throng/engine"

// Planned returns the number of sessions of a run whose first cycle is first, or 0 if the run ends by the clock. agents is
// the size of the population. chosen holds the indexes of the active agents, or nil for all.
func Planned(s *engine.Settings, agents int, chosen []int, first int) int64 {
	r := roster{s.Seed, agents, chosen, s.WarmUp, max(s.WarmUpCycles, 1), s.Sequential, nil, first}
	return r.total(s.Cycles)
}

// Inactive returns a function that reports whether an agent is inactive in a cycle because of the warm-up or because it was
// not chosen. A nil chosen means all agents. The function does not know retired agents.
func Inactive(s *engine.Settings, agents int, chosen []int, cycle int) func(agent int) bool {
	r := roster{s.Seed, agents, chosen, s.WarmUp, max(s.WarmUpCycles, 1), s.Sequential, nil, 0}
	share := r.share(cycle)
	if share >= 1 && chosen == nil {
		return func(int) bool { return false }
	}
	return func(agent int) bool { return !r.has(agent) || !r.isActive(agent, share) }
}

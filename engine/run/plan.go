package run

import "github.com/throng-sim/throng/engine"

// Planned is how many sessions a run has whose first cycle is first; 0 when it ends by the clock. agents is the size of
// the population, chosen are the indexes of those that take part, nil is all.
func Planned(s *engine.Settings, agents int, chosen []int, first int) int64 {
	r := roster{s.Seed, agents, chosen, s.WarmUp, max(s.WarmUpCycles, 1), s.Sequential, nil, first}
	return r.total(s.Cycles)
}

// Rests returns who takes no part in a cycle, as the population is warmed up or they were not chosen; chosen is nil for
// all. Who is retired is not known to it.
func Rests(s *engine.Settings, agents int, chosen []int, cycle int) func(agent int) bool {
	r := roster{s.Seed, agents, chosen, s.WarmUp, max(s.WarmUpCycles, 1), s.Sequential, nil, 0}
	share := r.share(cycle)
	if share >= 1 && chosen == nil {
		return func(int) bool { return false }
	}
	return func(agent int) bool { return !r.has(agent) || !r.takesPart(agent, share) }
}

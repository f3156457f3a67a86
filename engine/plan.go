package engine

// Planned is how many sessions a run has whose first cycle is first; 0 when it ends by the clock. agents is the size of
// the population, chosen are the indexes of those that take part, nil is all.
func Planned(s *Settings, agents int, chosen []int, first int) int64 {
	r := roster{s.Seed, agents, chosen, s.WarmUp, max(s.WarmUpCycles, 1), s.Sequential, nil, first}
	return r.total(s.Cycles)
}

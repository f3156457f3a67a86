package run

import "github.com/throng-sim/throng/engine"

// sequentialMemory holds the memory of a sequential run within a cycle. Each session sees the changes and messages of the
// earlier ones. Only the single worker uses it.
type sequentialMemory struct {
	settings *engine.Settings
	cycle    int
	before   map[int]*engine.Memory // at the start of the cycle; read-only
	changed  map[int]*engine.Memory // memory of the agents that has changed since then
}

// newSequentialMemory returns the memory after the sessions that an earlier process executed in the cycle.
func newSequentialMemory(settings *engine.Settings, before map[int]*engine.Memory, deltas map[int]engine.Delta, cycle int) *sequentialMemory {
	s := &sequentialMemory{settings, cycle, before, map[int]*engine.Memory{}}
	agents := make([]int, 0, len(deltas))
	for agent := range deltas {
		agents = append(agents, agent)
	}
	engine.SortByTurn(agents, settings.Seed, cycle)
	for _, agent := range agents {
		delta := deltas[agent]
		s.commit(agent, &delta)
	}
	return s
}

func (s *sequentialMemory) memory(agent int) *engine.Memory {
	if m, ok := s.changed[agent]; ok {
		return m
	}
	return s.before[agent]
}

// commit makes the changes and messages of a session visible to the next one.
func (s *sequentialMemory) commit(agent int, d *engine.Delta) {
	if d.Empty() {
		return
	}
	part := map[int]*engine.Memory{agent: s.memory(agent)}
	for _, m := range d.Said {
		for _, to := range m.To {
			part[to] = s.memory(to)
		}
	}
	touched := map[int]bool{}
	engine.CommitMemory(part, map[int]engine.Delta{agent: *d}, []int{agent}, s.cycle, touched)
	for a := range touched {
		s.changed[a] = part[a]
	}
}

package run

import (
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/memories"
)

// sequentialMemory holds the memory of a sequential run within a cycle. Each session sees the changes and messages of the
// earlier ones. Only the single worker uses it.
type sequentialMemory struct {
	cycle   int
	before  *memories.Table        // at the start of the cycle; read-only
	changed map[int]*engine.Memory // memory of the agents that has changed since then
}

// newSequentialMemory returns the memory after the sessions that an earlier process executed in the cycle.
func newSequentialMemory(settings *engine.Settings, before *memories.Table, deltas map[int]engine.Delta, cycle int) *sequentialMemory {
	s := &sequentialMemory{cycle, before, map[int]*engine.Memory{}}
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

// Of implements memories.Store.
func (s *sequentialMemory) Of(agent int) *engine.Memory {
	if m, ok := s.changed[agent]; ok {
		return m
	}
	return s.before.Of(agent)
}

// Keep implements memories.Store.
func (s *sequentialMemory) Keep(agent int, m *engine.Memory) { s.changed[agent] = m }

// commit makes the changes and messages of a session visible to the next one.
func (s *sequentialMemory) commit(agent int, d *engine.Delta) {
	if !d.Empty() {
		memories.CommitSession(s, agent, d, s.cycle)
	}
}

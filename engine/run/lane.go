package run

import "github.com/throng-sim/throng/engine"

// lane holds the memory of a sequential run within a cycle. Each session sees the changes and messages of the earlier ones.
// Only the single worker uses it.
type lane struct {
	settings *engine.Settings
	cycle    int
	before   map[int]*engine.Memory // at the start of the cycle; read-only
	now      map[int]*engine.Memory // memory of the agents that has changed since then
}

// newLane returns the memory after the sessions that an earlier process executed in the cycle.
func newLane(s *engine.Settings, before map[int]*engine.Memory, deltas map[int]engine.Delta, cycle int) *lane {
	l := &lane{s, cycle, before, map[int]*engine.Memory{}}
	agents := make([]int, 0, len(deltas))
	for agent := range deltas {
		agents = append(agents, agent)
	}
	engine.SortByTurn(agents, s.Seed, cycle)
	for _, agent := range agents {
		delta := deltas[agent]
		l.commit(agent, &delta)
	}
	return l
}

func (l *lane) memory(agent int) *engine.Memory {
	if m, ok := l.now[agent]; ok {
		return m
	}
	return l.before[agent]
}

// commit makes the changes and messages of a session visible to the next one.
func (l *lane) commit(agent int, d *engine.Delta) {
	if d.Empty() {
		return
	}
	part := map[int]*engine.Memory{agent: l.memory(agent)}
	for _, m := range d.Said {
		for _, to := range m.To {
			part[to] = l.memory(to)
		}
	}
	touched := map[int]bool{}
	engine.CommitMemory(part, map[int]engine.Delta{agent: *d}, []int{agent}, l.cycle, touched)
	for a := range touched {
		l.now[a] = part[a]
	}
}

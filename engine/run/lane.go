package run

import "github.com/throng-sim/throng/engine"

// lane is the memory of a sequential run within a cycle: each session finds what those before it changed and said. It belongs
// to the only worker.
type lane struct {
	settings *engine.Settings
	cycle    int
	before   map[int]*engine.Memory // as of the start of the cycle; not changed
	now      map[int]*engine.Memory // of the agents that have another by now
}

// newLane begins where the sessions of an earlier process left the cycle.
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

// commit makes what a session changed and said visible to the next one.
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

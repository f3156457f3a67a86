// Package memories holds the memory of a run's agents, and applies the changes of sessions to it: at the end of a cycle, or session by
// session in a sequential run.
package memories

import (
	"iter"
	"maps"

	"github.com/throng-sim/throng/engine"
)

// Store is the memory of agents.
type Store interface {
	// Of returns an agent's memory, or nil. The caller must not change it.
	Of(agent int) *engine.Memory
	// Keep replaces an agent's memory. Snapshots share the earlier one, so it is not changed.
	Keep(agent int, m *engine.Memory)
}

// Map is a store of few agents.
type Map map[int]*engine.Memory

// Of implements Store.
func (m Map) Of(agent int) *engine.Memory { return m[agent] }

// Keep implements Store.
func (m Map) Keep(agent int, of *engine.Memory) { m[agent] = of }

const (
	pageBits = 10
	pageSize = 1 << pageBits
)

// Table is a store of many agents: much faster than a map, and without room for the agents that have no memory, as far as they are
// neighbors. The zero value is empty. A nil table can be read.
type Table struct {
	pages []*[pageSize]*engine.Memory
	count int
}

// NewTable returns a table of the memory of some agents.
func NewTable(of map[int]*engine.Memory) *Table {
	t := &Table{}
	for agent, m := range of {
		t.Keep(agent, m)
	}
	return t
}

// Of implements Store.
func (t *Table) Of(agent int) *engine.Memory {
	if t == nil || agent>>pageBits >= len(t.pages) {
		return nil
	}
	if page := t.pages[agent>>pageBits]; page != nil {
		return page[agent&(pageSize-1)]
	}
	return nil
}

// Keep implements Store.
func (t *Table) Keep(agent int, m *engine.Memory) {
	at := agent >> pageBits
	for at >= len(t.pages) {
		t.pages = append(t.pages, nil)
	}
	if t.pages[at] == nil {
		t.pages[at] = new([pageSize]*engine.Memory)
	}
	place := &t.pages[at][agent&(pageSize-1)]
	if *place == nil {
		t.count++
	}
	*place = m
}

// Len returns the number of agents with memory.
func (t *Table) Len() int {
	if t == nil {
		return 0
	}
	return t.count
}

// All iterates over the agents with memory, in ascending order.
func (t *Table) All() iter.Seq2[int, *engine.Memory] {
	return func(yield func(int, *engine.Memory) bool) {
		if t == nil {
			return
		}
		for at, page := range t.pages {
			if page == nil {
				continue
			}
			for i, m := range page {
				if m != nil && !yield(at<<pageBits|i, m) {
					return
				}
			}
		}
	}
}

// Map returns a copy as a map.
func (t *Table) Map() map[int]*engine.Memory { return maps.Collect(t.All()) }

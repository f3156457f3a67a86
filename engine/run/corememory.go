package run

import (
	"slices"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/bitset"
	"github.com/throng-sim/throng/engine/memories"
)

// memoryState holds the agents' memory and the changes to it that the next barrier commits. Workers read memory, prefixes,
// takes and injected. These change only while no worker runs.
type memoryState struct {
	core *core

	committed *memories.Table       // at the start of the open cycle
	prefixes  map[int]engine.Prefix // of the cycle that an earlier process left open; nil in later cycles
	takes     map[int]int           // of the same cycle: takes after the first; nil in later cycles
	injected  []engine.Injection    // manual injections, ordered by cycle
	upcoming  []engine.Injection    // manual injections for the next cycle
	deltas    memories.Changes      // of the open cycle
	dirty     bitset.Set            // agents whose memory has changed since the last checkpoint
	bytes     int64                 // bytes at the start of the open cycle
	tuned     []engine.Tunable      // tuned values of the services of the run that this run was forked from
}

func (r *memoryState) init() {
	r.committed = &memories.Table{}
}

// resume restores the state from the journal.
func (r *memoryState) resume(res *engine.Resumption) {
	r.committed = memories.NewTable(res.Memory)
	for _, m := range r.committed.All() {
		r.bytes += m.Size()
	}
	r.deltas = *memories.Of(res.Deltas)
	r.mark(res.Changed)
	r.prefixes, r.takes, r.tuned = res.Prefixes, res.Takes, res.State.Tuned
	for _, i := range res.Injected {
		if i.Cycle <= res.Cycle {
			r.injected = withNewest(r.injected, i)
		} else {
			r.upcoming = append(r.upcoming, i)
		}
	}
}

// add stores the changes that a session makes to its agent's memory.
func (r *memoryState) add(row *engine.SessionRow) {
	if row.Outcome.Commits() && !row.Delta.Empty() {
		r.deltas.Add(row.Agent, row.Delta)
	}
}

// mark marks agents whose memory has changed.
func (r *memoryState) mark(agents []int) {
	for _, agent := range agents {
		for agent/64 >= len(r.dirty) {
			r.dirty = append(r.dirty, 0)
		}
		r.dirty.Add(agent)
	}
}

// commit applies the changes of a cycle to the memory.
func (r *memoryState) commit(cycle int) {
	changed, grown := memories.CommitCycle(&r.core.cfg.Settings, r.committed, &r.deltas, cycle)
	r.mark(changed)
	r.bytes += grown
	r.core.emit(setMemorySize{r.bytes})
	r.deltas.Clear()
	r.prefixes, r.takes = nil, nil
}

// inject puts a message into the inboxes of the open cycle or a later one.
func (r *memoryState) inject(i engine.Injection) {
	if i.Cycle == r.core.cycles.number {
		r.injected = withNewest(r.injected, i)
	} else {
		r.upcoming = append(r.upcoming, i)
	}
}

// deliver puts the injected messages into the inboxes of the next cycle.
func (r *memoryState) deliver() {
	for _, i := range r.upcoming {
		r.injected = withNewest(r.injected, i)
	}
	r.upcoming = nil
}

// changed returns the memory of the agents that changed since the last checkpoint, and resets that set.
func (r *memoryState) changed() map[int]*engine.Memory {
	all := map[int]*engine.Memory{}
	for agent := range 64 * len(r.dirty) {
		if r.dirty.Has(agent) {
			all[agent] = r.committed.Of(agent)
		}
	}
	clear(r.dirty)
	return all
}

// withNewest adds an injection to the inboxes. If they are full, it drops the oldest. Snapshots and checkpoints share the
// list, so it is never modified.
func withNewest(all []engine.Injection, i engine.Injection) []engine.Injection {
	return append(slices.Clip(all[max(0, len(all)-engine.MostLetters+1):]), i)
}

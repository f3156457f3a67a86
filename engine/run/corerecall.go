package run

import (
	"maps"
	"slices"

	"github.com/throng-sim/throng/engine"
)

// recall holds the agents' memory and the changes to it that the next barrier commits. Workers read memory, prefixes, takes
// and injected. These change only while no worker runs.
type recall struct {
	core *core

	memory     map[int]*engine.Memory // at the start of the open cycle
	prefixes   map[int]engine.Prefix  // of the cycle that an earlier process left open; nil in later cycles
	takes      map[int]int            // of the same cycle: takes after the first; nil in later cycles
	injected   []engine.Injection     // manual injections, ordered by cycle
	coming     []engine.Injection     // manual injections for the next cycle
	deltas     map[int]engine.Delta   // of the open cycle, by agent
	dirty      map[int]bool           // agents whose memory has changed since the last checkpoint
	remembered int64                  // bytes at the start of the open cycle
	inherited  []engine.Tunable       // tuned values of the services of the run that this run was forked from
}

func (r *recall) begin() {
	r.memory, r.deltas, r.dirty = map[int]*engine.Memory{}, map[int]engine.Delta{}, map[int]bool{}
}

// resume restores the state from the journal.
func (r *recall) resume(res *engine.Resumption) {
	if res.Memory != nil {
		r.memory = maps.Clone(res.Memory)
	}
	for _, m := range r.memory {
		r.remembered += m.Size()
	}
	maps.Copy(r.deltas, res.Deltas)
	for _, agent := range res.Changed {
		r.dirty[agent] = true
	}
	r.prefixes, r.takes, r.inherited = res.Prefixes, res.Takes, res.State.Tuned
	for _, i := range res.Injected {
		if i.Cycle <= res.Cycle {
			r.injected = withNewest(r.injected, i)
		} else {
			r.coming = append(r.coming, i)
		}
	}
}

// add stores the changes that a session makes to its agent's memory.
func (r *recall) add(row *engine.SessionRow) {
	if row.Outcome.Commits() && !row.Delta.Empty() {
		r.deltas[row.Agent] = row.Delta
	}
}

// commit applies the changes of a cycle to the memory.
func (r *recall) commit(cycle int) {
	changed, grown := r.core.cfg.Settings.CommitCycle(r.memory, r.deltas, cycle)
	for _, agent := range changed {
		r.dirty[agent] = true
	}
	r.remembered += grown
	r.core.emit(remember{r.remembered})
	clear(r.deltas)
	r.prefixes, r.takes = nil, nil
}

// inject puts a message into the inboxes of the open cycle or a later one.
func (r *recall) inject(i engine.Injection) {
	if i.Cycle == r.core.cycles.number {
		r.injected = withNewest(r.injected, i)
	} else {
		r.coming = append(r.coming, i)
	}
}

// deliver puts the injected messages into the inboxes of the next cycle.
func (r *recall) deliver() {
	for _, i := range r.coming {
		r.injected = withNewest(r.injected, i)
	}
	r.coming = nil
}

// changed returns the memory of the agents that changed since the last checkpoint, and resets that set.
func (r *recall) changed() map[int]*engine.Memory {
	all := make(map[int]*engine.Memory, len(r.dirty))
	for agent := range r.dirty {
		all[agent] = r.memory[agent]
	}
	clear(r.dirty)
	return all
}

// withNewest adds an injection to the inboxes. If they are full, it drops the oldest. Snapshots and checkpoints share the
// list, so it is never modified.
func withNewest(all []engine.Injection, i engine.Injection) []engine.Injection {
	return append(slices.Clip(all[max(0, len(all)-engine.MostLetters+1):]), i)
}

package run

import (
	"maps"
	"slices"

	"github.com/throng-sim/throng/engine"
)

// recall is what agents remember, and what will change that at the barrier. Workers read memory, prefixes, takes and
// injected, which only change while no worker is at work.
type recall struct {
	core *core

	memory     map[int]*engine.Memory // as of the start of the open cycle
	prefixes   map[int]engine.Prefix  // of the cycle that an earlier process left open; nil from the next on
	takes      map[int]int            // of the same cycle: those that are not the first; nil from the next on
	injected   []engine.Injection     // by hand, in the order of their cycles
	coming     []engine.Injection     // by hand, for the next cycle
	deltas     map[int]engine.Delta   // of the open cycle, by agent
	dirty      map[int]bool           // agents whose memory changed since the last checkpoint
	remembered int64                  // bytes, as of the start of the open cycle
	inherited  []engine.Tunable       // what services of the run had been tuned to that this one was forked from
}

func (r *recall) begin() {
	r.memory, r.deltas, r.dirty = map[int]*engine.Memory{}, map[int]engine.Delta{}, map[int]bool{}
}

// resume takes what the journal holds.
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

// add keeps what a session changes in its agent's memory.
func (r *recall) add(row *engine.SessionRow) {
	if row.Outcome.Commits() && !row.Delta.Empty() {
		r.deltas[row.Agent] = row.Delta
	}
}

// commit makes of the memory at the start of a cycle that at the start of the next.
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

// inject puts a message into inboxes of a cycle: the one that comes next, or a later one.
func (r *recall) inject(i engine.Injection) {
	if i.Cycle == r.core.cycles.number {
		r.injected = withNewest(r.injected, i)
	} else {
		r.coming = append(r.coming, i)
	}
}

// deliver puts what was injected into the inboxes of the cycle that comes.
func (r *recall) deliver() {
	for _, i := range r.coming {
		r.injected = withNewest(r.injected, i)
	}
	r.coming = nil
}

// changed is the memory of the agents that the last checkpoint does not have; from now on there is none.
func (r *recall) changed() map[int]*engine.Memory {
	all := make(map[int]*engine.Memory, len(r.dirty))
	for agent := range r.dirty {
		all[agent] = r.memory[agent]
	}
	clear(r.dirty)
	return all
}

// withNewest adds an injection to those in inboxes; of more than an inbox holds, the newest stay. Snapshots and checkpoints
// share the list.
func withNewest(all []engine.Injection, i engine.Injection) []engine.Injection {
	return append(slices.Clip(all[max(0, len(all)-engine.MostLetters+1):]), i)
}

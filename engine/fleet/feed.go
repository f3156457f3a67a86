package fleet

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/run/shards"
)

// lease is a shard that a worker has.
type lease struct {
	shards.Lease
	delivery Delivery
	left     int  // sessions that have not ended
	dead     bool // the worker has lost it
}

// feed holds the sessions that a worker has leases for. It is safe for concurrent use.
type feed struct {
	mu      sync.Mutex
	cycle   int
	queue   []run.Task
	leases  map[uint64]*lease // by shard
	ending  map[*lease]bool   // complete, but the coordinator may not have all of their rows yet
	of      map[engine.Place]*lease
	running map[engine.Place]*lease
	started int
	ended   int
	limit   int // of sessions in flight, without probes
	probes  int // in flight
	// blocked says that nothing of the queue may start before something changes.
	blocked bool
}

func newFeed() *feed {
	return &feed{cycle: -1, leases: map[uint64]*lease{}, ending: map[*lease]bool{}, of: map[engine.Place]*lease{}, running: map[engine.Place]*lease{}}
}

// isOpen reports whether a cycle is open.
func (f *feed) isOpen(cycle int) bool { return f.number() == cycle }

// number returns the open cycle, or -1 before the first.
func (f *feed) number() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cycle
}

// begin opens a cycle and drops what is left of the previous one. It reports whether there was one.
func (f *feed) begin(cycle int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	former := f.cycle >= 0
	for _, l := range f.leases {
		l.dead = true
	}
	f.cycle, f.queue, f.blocked = cycle, nil, false
	f.leases, f.of = map[uint64]*lease{}, map[engine.Place]*lease{}
	return former
}

// add adds the sessions of a lease. If the worker has some of them already, it has lost those, and will learn it later. inFlight are the
// agents whose lost sessions are in flight.
func (f *feed) add(l *lease, tasks []run.Task) (inFlight []int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range tasks {
		if former := f.of[tasks[i].Place]; former != nil {
			inFlight = append(inFlight, f.drop(former)...)
		}
	}
	l.left, f.blocked = len(tasks), false
	f.leases[l.Shard] = l
	for i := range tasks {
		f.of[tasks[i].Place] = l
	}
	f.queue = append(f.queue, tasks...)
	return inFlight
}

// renew sets the newest delivery of a lease. It reports whether the worker has that lease.
func (f *feed) renew(of shards.Lease, d Delivery) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.leases[of.Shard]
	if l == nil || l.dead || l.Lease != of {
		return false
	}
	l.delivery = d
	return true
}

// next returns the next session of a cycle. A session of an agent whose earlier session has not ended here waits for that.
func (f *feed) next(cycle int) (t run.Task, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if cycle != f.cycle {
		return t, false
	}
	f.blocked = f.started-f.ended >= f.limit+f.probes
	for i := 0; i < len(f.queue) && !f.blocked; i++ {
		if p := f.queue[i].Place; f.running[p] == nil {
			t = f.queue[i]
			if i == 0 {
				f.queue = f.queue[1:]
			} else {
				f.queue = slices.Delete(f.queue, i, i+1)
			}
			f.running[p] = f.of[p]
			f.started++
			return t, true
		}
	}
	f.blocked = true
	return t, false
}

// waiting returns how many sessions may start as far as is known.
func (f *feed) waiting() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.blocked {
		return 0
	}
	return len(f.queue)
}

// holder returns the lease of a session in flight, or nil if the worker has lost it.
func (f *feed) holder(p engine.Place) *lease {
	f.mu.Lock()
	defer f.mu.Unlock()
	if l := f.running[p]; l != nil && !l.dead {
		return l
	}
	return nil
}

// inFlight returns which of some sessions are in flight, by their agents.
func (f *feed) inFlight(some []engine.Place) (agents []int) {
	if len(some) == 0 {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range some {
		if _, ok := f.running[p]; ok {
			agents = append(agents, p.Agent)
		}
	}
	return agents
}

// end records that a session ended, and returns its lease, or nil if the worker has lost it. complete reports whether that was the last
// one of the lease.
func (f *feed) end(p engine.Place) (l *lease, complete bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended++
	f.blocked = false
	l = f.running[p]
	delete(f.running, p)
	if l == nil || l.dead {
		return nil, false
	}
	delete(f.of, p)
	return l, f.close(l, 1)
}

// cut is like end, for a session that was cut.
func (f *feed) cut(agent int) (l *lease, complete bool) {
	f.mu.Lock()
	var of engine.Place
	for p := range f.running {
		if p.Agent == agent && (of == engine.Place{} || p.Cycle < of.Cycle) {
			of = p
		}
	}
	f.mu.Unlock()
	return f.end(of)
}

// close counts sessions that are no longer those of a lease. mu is held.
func (f *feed) close(l *lease, n int) (complete bool) {
	if l.left -= n; l.left > 0 {
		return false
	}
	delete(f.leases, l.Shard)
	f.ending[l] = true
	return true
}

// done acknowledges a complete lease, whose rows the coordinator has.
func (f *feed) done(l *lease) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.ending, l)
	l.delivery.Done()
}

// lose drops the sessions of leases that the worker has lost. It returns the agents whose sessions are in flight.
func (f *feed) lose(lost []shards.Lease) (inFlight []int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, of := range lost {
		l := f.leases[of.Shard]
		if l == nil || l.Lease != of {
			continue
		}
		inFlight = append(inFlight, f.drop(l)...)
	}
	return inFlight
}

// drop drops the sessions of a lease that the worker has lost. It returns the agents whose sessions are in flight. mu is held.
func (f *feed) drop(l *lease) (inFlight []int) {
	l.dead, f.blocked = true, false
	delete(f.leases, l.Shard)
	f.queue = slices.DeleteFunc(f.queue, func(t run.Task) bool { return f.of[t.Place] == l })
	maps.DeleteFunc(f.of, func(_ engine.Place, other *lease) bool { return other == l })
	for p, other := range f.running {
		if other == l {
			inFlight = append(inFlight, p.Agent)
		}
	}
	return inFlight
}

// takeBack removes up to n sessions that have not started, the newest first. complete are the leases that have no others.
func (f *feed) takeBack(n int) (all []back, complete []*lease) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n = min(n, len(f.queue))
	at := map[*lease]int{}
	for _, t := range f.queue[len(f.queue)-n:] {
		l := f.of[t.Place]
		i, ok := at[l]
		if !ok {
			i = len(all)
			at[l] = i
			all = append(all, back{Lease: l.Lease})
		}
		all[i].Agents = append(all[i].Agents, int32(t.Agent))
		delete(f.of, t.Place)
		if f.close(l, 1) {
			complete = append(complete, l)
		}
	}
	f.queue = f.queue[:len(f.queue)-n]
	return all, complete
}

// setLimit sets the limit of sessions in flight. When it returns, none starts above it: the worker may confirm the limit.
func (f *feed) setLimit(limit int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.limit, f.blocked = limit, false
}

// share returns the limit of sessions in flight.
func (f *feed) share() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.limit
}

// probe changes the number of probes in flight.
func (f *feed) probe(by int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.probes += by
	f.blocked = f.blocked && by <= 0
}

// counts returns how many sessions are in flight and how many have not started.
func (f *feed) counts() (inFlight, queued int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.started - f.ended, len(f.queue)
}

// extend extends all leases.
func (f *feed) extend() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.leases {
		l.delivery.Extend()
	}
	for l := range f.ending {
		l.delivery.Extend()
	}
}

// tasksOf converts a grant to tasks of this process.
func tasksOf(g *grant, memory map[int]kept, now time.Time) []run.Task {
	all := make([]run.Task, 0, len(g.Tasks))
	for _, t := range g.Tasks {
		task := run.Task{
			Place: engine.Place{Cycle: g.Cycle.Number, Agent: int(t.Agent), Take: t.Take}, Arrived: t.Arrived, Prefix: t.Prefix, Begun: t.Begun,
			Memory: memory[int(t.Agent)].memory,
		}
		if t.Since >= 0 {
			task.Due = now.Add(-t.Since)
		}
		all = append(all, task)
	}
	return all
}

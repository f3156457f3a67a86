package run

import (
	"time"

	"github.com/throng-sim/throng/engine"
)

// WorkerPool executes the sessions of a run's cycles: in this process or in another. The run's node calls all but the
// methods of PoolView from one goroutine, and none of them waits.
type WorkerPool interface {
	PoolCycle
	PoolLimit
	PoolResults
	PoolView
}

// PoolCycle says which sessions there are.
type PoolCycle interface {
	// Begin opens a cycle. The one before has ended, and nothing of the shard changes until this one has.
	Begin(s *Shard)
	// Release lets the next wave of the cycle begin, so long after the first could.
	Release(waited time.Duration)
	// Again lets a requeued session begin.
	Again(p engine.Place)
	// Hold stops the cycle's clock, or lets it run again.
	Hold(held bool)
	// End says that the cycle has ended: nothing of it is in flight.
	End()
}

// PoolLimit says how many sessions may be in flight, and what bounds them.
type PoolLimit interface {
	// Start starts workers, each of which executes one session after another. A probe executes one only.
	Start(workers int, probe bool)
	// SetLimit bounds the workers: those above it leave before their next session.
	SetLimit(limit int)
	// Use puts settings in force for the sessions that begin from now on.
	Use(s *engine.Settings)
	// Remember says how many bytes agents remember from now on.
	Remember(bytes int64)
	// Retire cancels the session in flight of a retired agent.
	Retire(agent int)
}

// PoolResults delivers what workers finish.
type PoolResults interface {
	// Results delivers batches. All rows of a worker come before the batch that says that it has left.
	Results() <-chan *Batch
	// Recycle returns a batch that nobody uses any more.
	Recycle(b *Batch)
	// Abandon returns what has arrived and delivers nothing from then on: the workers are left behind.
	Abandon() []*Batch
	// Close frees what the pool has. The run has ended.
	Close()
}

// PoolView shows the sessions in flight. It is safe for concurrent use.
type PoolView interface {
	// Progress says how far the open cycle is.
	Progress() Progress
	// Oldest returns the n sessions in flight that began first, of those that have come to a step that can wait.
	Oldest(n int) []engine.Doing
	// Doing returns what an agent's session is at, if it is one of these.
	Doing(agent int) (engine.Doing, bool)
	// Mark shows these sessions in a crowd.
	Mark(c *engine.Crowd)
}

// Shard is the part of a cycle that a pool executes.
type Shard struct {
	Cycle int
	Now   time.Time // simulated
	Ready time.Time // when its sessions could begin
	Todo  []int32   // agents that have no session in it yet; nil is agents 0 to Size-1
	Size  int       // how many agents that are
	Wave  int       // sessions of a wave; 0 starts them all at once
	Held  bool      // the cycle's clock does not run yet

	Memory   map[int]*engine.Memory // as of the start of the cycle
	Deltas   map[int]engine.Delta   // of sessions that have ended; only a sequential run needs them
	Injected []engine.Injection     // by hand, in the order of their cycles
	Prefixes map[int]engine.Prefix  // what an earlier process journaled of sessions that have not ended
	Takes    map[int]int            // of these agents, the take in progress if it is not the first
}

// Progress is how far a pool is with the open cycle.
type Progress struct {
	Begun    int       // sessions, requeued ones left out
	Again    int       // requeued sessions that have begun
	Filled   time.Time // when the last session that may begin did; zero while some are left
	InFlight int       // workers
}

// PoolConfig is what a pool is made of.
type PoolConfig struct {
	Program      engine.Program
	Host         engine.Host
	MemoryBudget int64 // bytes; 0 is unlimited
	// Throttled, if set, is told when sessions begin to wait for memory.
	Throttled func(why string)
	// Journal journals sessions before they are delivered; nil leaves that to the receiver.
	Journal func(rows engine.SessionRows)
	// Trail, if set, is given every session that ended.
	Trail func(t *engine.Trail)
	// Rescue, if set, is deferred by the pool's goroutines.
	Rescue func()
}

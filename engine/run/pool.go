package run

import (
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/arrivals"
	"github.com/throng-sim/throng/engine/memories"
)

// WorkerPool executes the sessions of a run's cycles, in this process or elsewhere. The node calls all methods except those
// of PoolView from one goroutine. No method may block.
type WorkerPool interface {
	PoolCycle
	PoolLimit
	PoolResults
	PoolView
}

// PoolCycle controls the sessions of a cycle.
type PoolCycle interface {
	// Begin opens a cycle. The previous one has ended. The shard stays unchanged until this one has ended.
	Begin(s *Shard)
	// Release lets the sessions of Todo before count start. They could have started at waited after Shard.Ready, plus their time in
	// Shard.Arrivals.
	Release(count int, waited time.Duration)
	// Requeue starts a requeued session.
	Requeue(p engine.Place)
	// PauseClock pauses or resumes the cycle's clock.
	PauseClock(held bool)
	// End ends the cycle. None of its sessions is in flight.
	End()
}

// PoolLimit controls how many sessions may be in flight, and under which settings.
type PoolLimit interface {
	// Start starts workers. Each worker executes one session after another. A probe executes only one.
	Start(workers int, probe bool)
	// SetLimit limits the number of workers. Workers above the limit leave before their next session.
	SetLimit(limit int)
	// Use applies settings to the sessions that start from now on.
	Use(s *engine.Settings)
	// SetMemorySize sets the size of all agents' memory in bytes.
	SetMemorySize(bytes int64)
	// Cancel cancels the session in flight of an agent for a reason. It does nothing to a session that has not reached a step that can
	// wait.
	Cancel(agent int, cause error)
}

// PoolResults delivers finished sessions.
type PoolResults interface {
	// Results returns the channel that delivers batches. All rows of a worker come before the batch that reports its
	// departure.
	Results() <-chan *Batch
	// Recycle makes a batch available for reuse. The caller must not use it afterward.
	Recycle(b *Batch)
	// Abandon abandons the workers. It returns the batches that have arrived; no others are delivered.
	Abandon() []*Batch
	// Close frees the pool's resources once the run has ended.
	Close()
}

// PoolView shows the sessions in flight. It is safe for concurrent use.
type PoolView interface {
	// Progress returns the progress of the open cycle.
	Progress() Progress
	// Oldest returns the n sessions in flight that started first. It skips sessions that have not yet reached a step that
	// can wait.
	Oldest(n int) []engine.Activity
	// Activity returns the current step of an agent's session. It returns false if Oldest would skip the session.
	Activity(agent int) (engine.Activity, bool)
	// Mark marks the sessions in flight in a crowd. It skips the same sessions as Oldest.
	Mark(c *engine.Crowd)
}

// Shard is the part of a cycle that a pool executes.
type Shard struct {
	Cycle int
	Now   time.Time // simulated
	Ready time.Time // when its sessions could start
	Todo  []int32   // agents without a session in it so far; nil means agents 0 to Size-1
	Size  int       // how many agents that is
	Wave  int       // sessions per wave; 0 starts all of them together
	// Arrivals has the intended starts of the sessions in Todo; nil if they may start together. With waves or arrivals, no session
	// starts before Release.
	Arrivals *arrivals.Schedule
	Paused   bool // the cycle starts with its clock paused

	Memory   *memories.Table       // at the start of the cycle
	Deltas   map[int]engine.Delta  // of ended sessions; used by sequential runs only
	Injected []engine.Injection    // manual injections, ordered by cycle
	Prefixes map[int]engine.Prefix // steps that an earlier process journaled, for sessions that have not ended
	Takes    map[int]int           // the current take of an agent's session, if it is not the first

	// Feed, if set, returns the sessions to execute in place of the fields above, but for Cycle, Now, Ready, Paused and those of
	// sequential runs. It is called concurrently, and returns false when no session is left for now.
	Feed func() (Task, bool) `cbor:"-"`
	// Elapsed is how long the cycle's clock has already run.
	Elapsed time.Duration
}

// Task is a session to execute.
type Task struct {
	engine.Place
	Due     time.Time      // when it could have started; zero means now
	Arrived bool           // Due is its intended start
	Memory  *engine.Memory // of the agent, at the start of the cycle
	Prefix  engine.Prefix  // what an earlier process or worker journaled of it
	Begun   bool           // Prefix is meant, even if it is empty
}

// Progress is the progress of a pool in the open cycle.
type Progress struct {
	Started  int       // sessions that have started, without requeued ones
	Requeued int       // requeued sessions that have started
	Filled   time.Time // when the last session that may start did; zero while some are left
	InFlight int       // busy workers
}

// PoolConfig describes a pool.
type PoolConfig struct {
	Program      engine.Program
	Host         engine.Host
	Agents       int   // size of the population
	MemoryBudget int64 // bytes; 0 is unlimited
	// Throttled, if set, is called when sessions start to wait for memory.
	Throttled func(why string)
	// Note, if set, journals a change that the pool made or saw. It does not block.
	Note func(engine.ChangeRow)
	// Journal journals sessions before they are delivered; nil leaves that to the receiver.
	Journal func(rows engine.SessionRows)
	// Trail, if set, receives every session that ended, except those that were cut.
	Trail func(t *engine.Trail)
	// Rescue, if set, is deferred by the pool's goroutines to handle panics.
	Rescue func()
}

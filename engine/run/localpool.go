package run

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run/memorybudget"
)

// localPool executes sessions in this process.
type localPool struct {
	cfg        PoolConfig
	host       engine.Host
	ctx        context.Context
	cycle      atomic.Pointer[cycle] // the newest; nil before the first
	memory     *memorybudget.Budget
	parking    parking
	slots      slots
	results    chan *Batch
	mergeQueue mergeQueue
	free       freeList
	merged     freeList      // batches merged from several workers
	abandoned  chan struct{} // closed when workers are abandoned
	done       chan struct{} // closed when the run has ended
}

var _ WorkerPool = (*localPool)(nil)

// NewLocalPool returns a pool whose workers are goroutines of this process.
func NewLocalPool(cfg PoolConfig) WorkerPool {
	p := newLocalPool(cfg)
	go p.deliverMerged()
	return p
}

func newLocalPool(cfg PoolConfig) *localPool {
	if cfg.Rescue == nil {
		cfg.Rescue = func() {}
	}
	p := &localPool{
		cfg: cfg, host: cfg.Host, ctx: cfg.Host.Context(), results: make(chan *Batch, 64), mergeQueue: newMergeQueue(),
		abandoned: make(chan struct{}), done: make(chan struct{}),
	}
	p.memory = memorybudget.New(cfg.MemoryBudget, cfg.Throttled)
	return p
}

// Begin opens a cycle.
func (p *localPool) Begin(s *Shard) { p.cycle.Store(newCycle(p.ctx, s, p.host.Settings())) }

// Release lets sessions start.
func (p *localPool) Release(count int, waited time.Duration) { p.cycle.Load().release(count, waited) }

// Requeue starts a requeued session.
func (p *localPool) Requeue(place engine.Place) { p.cycle.Load().requeued.add(place) }

// PauseClock pauses or resumes the cycle's clock.
func (p *localPool) PauseClock(held bool) {
	if c := p.cycle.Load(); held {
		c.pause()
	} else {
		c.resume()
	}
}

// End frees the cycle's clock.
func (p *localPool) End() { p.cycle.Load().stop() }

// Start starts workers. The caller counts them.
func (p *localPool) Start(workers int, probe bool) {
	for range workers {
		p.parking.permits.Force()
		w := &worker{pool: p, cycle: p.cycle.Load(), probe: probe}
		go w.work()
	}
}

// SetLimit limits the number of workers.
func (p *localPool) SetLimit(limit int) { p.parking.setLimit(limit) }

// Use applies settings to new sessions.
func (p *localPool) Use(s *engine.Settings) {
	if c := p.cycle.Load(); c != nil {
		c.setTimeout(s.SessionTimeout)
	}
}

// SetMemorySize sets the size of all agents' memory in bytes.
func (p *localPool) SetMemorySize(bytes int64) { p.memory.SetKept(bytes) }

// Cancel cancels the session of an agent.
func (p *localPool) Cancel(agent int, cause error) { p.slots.cancel(agent, cause) }

// Results returns the channel that delivers batches.
func (p *localPool) Results() <-chan *Batch { return p.results }

// Recycle makes a batch available for reuse.
func (p *localPool) Recycle(b *Batch) {
	if b.merged {
		p.merged.put(b)
	} else {
		p.free.put(b)
	}
}

// Abandon abandons the workers and returns the batches that have arrived.
func (p *localPool) Abandon() (arrived []*Batch) {
	for {
		select {
		case b := <-p.results:
			arrived = append(arrived, b)
			continue
		case b := <-p.mergeQueue:
			arrived = append(arrived, b)
			continue
		default:
		}
		break
	}
	close(p.abandoned)
	return arrived
}

// Close stops the goroutine that delivers merged batches.
func (p *localPool) Close() { close(p.done) }

// Progress returns the progress of the open cycle.
func (p *localPool) Progress() Progress {
	g := Progress{InFlight: p.parking.inFlight()}
	if c := p.cycle.Load(); c != nil {
		g.Started, g.Requeued, g.Filled = c.started(), int(c.requeued.taken.Load()), c.filled()
	}
	return g
}

// Oldest returns the n sessions in flight that started first.
func (p *localPool) Oldest(n int) []engine.Activity {
	if n <= 0 {
		return nil
	}
	return p.slots.oldest(n)
}

// Activity returns the current step of an agent's session.
func (p *localPool) Activity(agent int) (engine.Activity, bool) {
	for _, b := range p.slots.list() {
		if d, ok := b.current(); ok && d.Agent == agent {
			return d, true
		}
	}
	return engine.Activity{}, false
}

// Mark marks the sessions in flight in a crowd.
func (p *localPool) Mark(c *engine.Crowd) {
	for _, b := range p.slots.list() {
		if d, ok := b.current(); ok {
			c.Mark(&d)
		}
	}
}

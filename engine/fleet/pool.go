package fleet

import (
	"context"
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/stopping"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/run/shards"
	"github.com/throng-sim/throng/engine/service/lending"
	"github.com/throng-sim/throng/engine/service/merged"
)

// PoolConfig is what the pool of a run needs in addition to a [run.PoolConfig].
type PoolConfig struct {
	// Lending lends the limits of services to the workers; nil if no service has limits. The pool closes it.
	Lending *lending.Lending
	// Parallel is how many requests a session may have in flight; 0 is not known.
	Parallel int
	// Parts is into how many parts the connections to databases are divided, and thus the most workers; 0 does not bound them.
	Parts int
	// Services are those of the run, by name. They receive the states of the workers' clients.
	Services map[string]*merged.Service
}

// Pool executes the sessions of a run on the workers of a fleet. It implements [run.WorkerPool].
type Pool struct {
	c       *Coordinator
	run     string
	cfg     run.PoolConfig
	host    engine.Host
	more    PoolConfig
	results chan *run.Batch

	// order is held while rows are checked and journaled and while leases change, so that a worker that takes a session over sees all rows
	// that were accepted from the worker before. It is taken before mu. The methods that the run calls do not take it.
	order channelLock

	mu sync.Mutex
	openCycle
	standing Standing
	tuned    uint64 // number of the newest value
	most     int    // requests in flight that the lending expects
	book     *shards.Book
	clients  map[string]*client
	locks    map[engine.SharedKey]*lock
	ready    []*run.Batch // to be delivered
	spare    spareRows
	dirty    map[string]bool
	tracing  atomic.Pointer[tracing]
	watching atomic.Bool // loseStalled is in progress

	wake      chan struct{} // of deliver
	orders    chan struct{} // of sendOrders
	abandoned chan struct{}
	closed    chan struct{}
	sent      chan struct{} // closed when sendOrders has ended
}

// openCycle is the cycle that the run has begun last.
type openCycle struct {
	freeSlots

	shard    *run.Shard // nil before the first
	open     bool
	at       map[int]int // by agent: index in Todo, if sessions arrive over time
	waited   time.Duration
	clock    cycleClock
	filled   time.Time
	prefixes prefixes
	deltas   map[int]engine.Delta // of ended sessions, in a sequential run
	takes    map[int]int          // of sessions, if not the first
	canceled []engine.Place
}

// intake handles what workers send.
type intake struct{ *Pool }

// crew lets workers join and leave the run.
type crew struct{ *Pool }

var _ run.WorkerPool = (*Pool)(nil)

func newPool(c *Coordinator, name string, cfg run.PoolConfig, more PoolConfig) *Pool {
	if cfg.Rescue == nil {
		cfg.Rescue = func() {}
	}
	p := &Pool{
		c: c, run: name, cfg: cfg, host: cfg.Host, more: more, results: make(chan *run.Batch, 64), clients: map[string]*client{},
		standing: Standing{Settings: cfg.Host.Settings()}, locks: map[engine.SharedKey]*lock{}, dirty: map[string]bool{}, wake: make(chan struct{}, 1),
		orders: make(chan struct{}, 1), order: newChannelLock(), abandoned: make(chan struct{}), closed: make(chan struct{}), sent: make(chan struct{}), openCycle: openCycle{prefixes: prefixes{}, takes: map[int]int{}},
		book: shards.New(cfg.Agents),
	}
	p.tracing.Store(&tracing{Agent: -1})
	context.AfterFunc(p.host.Context(), func() {
		p.do(func() {
			p.standing.Cut = true
			p.book.Stop()
			p.allDirty()
		})
	})
	over, end := stopping.Until(p.host.Context(), errEnding)
	context.AfterFunc(over, func() {
		end()
		p.do(func() {
			p.standing.Ending = true
			p.allDirty()
		})
	})
	go dispatch{p}.sendOrders()
	return p
}

var errEnding = errors.New("the run is ending")

// freeSlots are slots that the run does not have back yet.
type freeSlots struct {
	undelivered int             // ended sessions whose rows are not delivered
	freed       run.BatchCounts // slots that are free once there are none
}

// do changes the state of the pool and carries out what follows.
func (p *Pool) do(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
	p.carryOut()
}

// carryOut carries out the effects of the book. mu is held.
func (p *Pool) carryOut() {
	for _, e := range p.book.Effects() {
		switch e := e.(type) {
		case shards.Offer:
			p.c.bus.Offer(e.To, p.ticket(e.Ticket))
		case shards.Withdraw:
			p.c.bus.Withdraw(p.ticket(e.Ticket))
		case shards.Share:
			p.markDirty(e.Worker)
		case shards.Recall:
			if w := p.clients[e.Worker]; w != nil {
				w.recall = recall{w.recall.Number + 1, e.Count}
				p.markDirty(e.Worker)
			}
		case shards.Lost:
			if w := p.clients[e.Worker]; w != nil {
				w.stale = append(w.stale, e.Lease)
			}
		case shards.Depart:
			p.freed.Departed += e.Slots
			p.freed.Probes += e.Probes
		}
	}
	if f := &p.freed; p.undelivered == 0 && f.Departed+f.Probes > 0 {
		p.queue(run.NewBatch(nil, *f))
		*f = run.BatchCounts{}
	}
	g := p.book.Progress()
	switch full := g.Started >= g.Released; {
	case !full:
		p.filled = time.Time{}
	case p.filled.IsZero():
		p.filled = time.Now()
	}
}

func (p *Pool) ticket(t shards.Ticket) Ticket { return Ticket{p.run, t.Shard, t.Offer} }

// Begin opens a cycle.
func (p *Pool) Begin(s *run.Shard) {
	p.do(func() {
		p.shard, p.open, p.waited, p.filled, p.canceled = s, true, 0, time.Time{}, nil
		p.prefixes, p.takes, p.at = prefixes{}, maps.Clone(s.Takes), nil
		if p.takes == nil {
			p.takes = map[int]int{}
		}
		if p.deltas = nil; p.standing.Settings.Sequential {
			if p.deltas = maps.Clone(s.Deltas); p.deltas == nil {
				p.deltas = map[int]engine.Delta{}
			}
		}
		if s.Arrivals != nil {
			p.at = make(map[int]int, s.Size)
			for i := range s.Size {
				p.at[agentAt(s, i)] = i
			}
		}
		p.clock.start(time.Now(), s.Paused)
		for agent, known := range s.Prefixes {
			place := engine.Place{Cycle: s.Cycle, Agent: agent, Take: s.Takes[agent]}
			entries := p.prefixes.of(place).entries
			for _, e := range known {
				entries[e.Path] = e
			}
		}
		for _, w := range p.clients {
			w.begin(s.Cycle)
		}
		p.book.Begin(shards.Cycle{
			Todo: s.Todo, Size: s.Size, Held: s.Wave > 0 || s.Arrivals != nil, Whole: p.standing.Settings.Sequential, Sticky: s.Memory.Len() > 0,
		})
		p.allDirty()
	})
}

// agentAt returns the agent at an index of Todo.
func agentAt(s *run.Shard, i int) int {
	if s.Todo == nil {
		return i
	}
	return int(s.Todo[i])
}

// Release lets sessions start.
func (p *Pool) Release(count int, waited time.Duration) {
	p.do(func() {
		p.waited, p.filled = waited, time.Time{}
		p.book.Release(count)
	})
}

// Requeue starts a requeued session.
func (p *Pool) Requeue(place engine.Place) {
	p.do(func() {
		p.takes[place.Agent] = place.Take
		p.book.Requeue(place.Agent)
	})
}

// PauseClock pauses or resumes the cycle's clock.
func (p *Pool) PauseClock(held bool) {
	p.do(func() {
		p.clock.pause(time.Now(), held)
		p.allDirty()
	})
}

// End says that the cycle has ended.
func (p *Pool) End() {
	p.do(func() {
		p.open = false
		p.book.End()
		p.allDirty()
	})
}

// Start starts slots.
func (p *Pool) Start(slots int, probe bool) { p.do(func() { p.book.Start(slots, probe) }) }

// SetLimit sets the limit of sessions in flight.
func (p *Pool) SetLimit(limit int) {
	p.do(func() {
		if l := p.more.Lending; l != nil && limit*p.more.Parallel > p.most { // before any worker has a higher share
			p.most = limit * p.more.Parallel
			dispatch{p}.newestLent(l.Expect(p.most))
		}
		p.book.SetLimit(limit)
	})
}

// Use puts settings in force.
func (p *Pool) Use(s *engine.Settings) {
	p.do(func() {
		p.standing.Settings = s
		p.allDirty()
	})
}

// SetMemorySize sets the size of all agents' memory in bytes.
func (p *Pool) SetMemorySize(bytes int64) {
	p.do(func() {
		p.standing.Memory = bytes
		p.allDirty()
	})
}

// Cancel cancels the session in flight of a retired agent.
func (p *Pool) Cancel(agent int, _ error) {
	p.do(func() {
		if p.shard == nil {
			return
		}
		p.canceled = append(p.canceled, engine.Place{Cycle: p.shard.Cycle, Agent: agent, Take: p.takes[agent]})
		p.allDirty()
	})
}

// Results delivers batches.
func (p *Pool) Results() <-chan *run.Batch { return p.results }

// Recycle keeps the memory of a batch for the next packets.
func (p *Pool) Recycle(b *run.Batch) { p.spare.put(b.Rows()) }

// spareRows keeps slices that were used, because each session has a large row. It is safe for concurrent use.
type spareRows struct{ pool sync.Pool }

// spared is the capacity from which a slice is kept. Shorter ones would soon be replaced.
const spared = 64

// get returns an empty slice.
func (s *spareRows) get() engine.SessionRows {
	if rows, ok := s.pool.Get().(*engine.SessionRows); ok {
		return *rows
	}
	return nil
}

// put keeps a slice that is no longer used.
func (s *spareRows) put(rows engine.SessionRows) {
	if cap(rows) >= spared {
		clear(rows[:cap(rows)])
		rows = rows[:0]
		s.pool.Put(&rows)
	}
}

// queue queues a batch for the run. mu is held.
func (p *Pool) queue(b *run.Batch) {
	p.ready = append(p.ready, b)
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// deliver delivers batches until the pool is closed. The queue has no limit, because the run may wait for the pool meanwhile.
func (p *Pool) deliver() {
	defer p.cfg.Rescue()
	for {
		select {
		case <-p.wake:
		case <-p.closed:
			return
		}
		p.mu.Lock()
		ready := p.ready
		p.ready = nil
		p.mu.Unlock()
		for _, b := range ready {
			select {
			case p.results <- b:
			case <-p.abandoned:
			case <-p.closed:
				return
			}
		}
	}
}

// Abandon returns what has arrived.
func (p *Pool) Abandon() (arrived []*run.Batch) {
	close(p.abandoned)
	for {
		select {
		case b := <-p.results:
			arrived = append(arrived, b)
			continue
		default:
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		arrived = append(arrived, p.ready...)
		p.ready = nil
		return arrived
	}
}

// Close ends the run for the workers.
func (p *Pool) Close() {
	close(p.closed)
	<-p.sent // an order that is sent later would replace the last one
	p.c.release(p)
	if l := p.more.Lending; l != nil {
		l.Close()
	}
}

// Progress says how far the open cycle is, as far as the workers have reported.
func (p *Pool) Progress() run.Progress {
	p.mu.Lock()
	defer p.mu.Unlock()
	g := p.book.Progress()
	result := run.Progress{Started: g.Started, InFlight: g.Slots, Filled: p.filled}
	if size := g.Released - g.Requeued; g.Started > size {
		result.Started, result.Requeued = size, g.Started-size
	}
	if p.shard != nil && (p.shard.Size == 0 || p.shard.Arrivals != nil && g.Released == 0) {
		result.Filled = p.shard.Ready
	}
	return result
}

// mostShown is how many sessions in flight a worker shows.
const mostShown = 200

// Oldest returns the n sessions in flight that began first.
func (p *Pool) Oldest(n int) []engine.Activity {
	all := p.activity()
	sortByAge(all)
	return all[:min(n, len(all))]
}

// Activity returns what an agent's session is doing.
func (p *Pool) Activity(agent int) (engine.Activity, bool) {
	for _, d := range p.activity() {
		if d.Agent == agent {
			return d, true
		}
	}
	return engine.Activity{}, false
}

// Mark marks the sessions in flight in a crowd.
func (p *Pool) Mark(c *engine.Crowd) {
	for _, d := range p.activity() {
		c.Mark(&d)
	}
}

func (p *Pool) activity() (all []engine.Activity) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shard == nil {
		return nil
	}
	for _, w := range p.clients {
		if w.status.Cycle == p.shard.Cycle {
			all = append(all, w.status.Activity...)
		}
	}
	return all
}

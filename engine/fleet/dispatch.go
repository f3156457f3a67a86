package fleet

import (
	"slices"
	"time"

	"github.com/throng-sim/throng/engine/codec"
	"github.com/throng-sim/throng/engine/service/lending"
)

// dispatch sends orders to workers.
type dispatch struct{ *Pool }

// markDirty has an order sent to a worker. mu is held.
func (p *Pool) markDirty(worker string) {
	p.dirty[worker] = true
	select {
	case p.orders <- struct{}{}:
	default:
	}
}

func (p *Pool) allDirty() {
	for name := range p.clients {
		p.markDirty(name)
	}
}

// tracingEvery is how often the pool looks whose exchanges are traced and which services lend their limits.
const tracingEvery = 200 * time.Millisecond

// sendOrders sends orders to workers until the pool is closed.
func (p dispatch) sendOrders() {
	defer p.cfg.Rescue()
	defer close(p.sent)
	tick := time.NewTicker(tracingEvery)
	defer tick.Stop()
	refresh := time.Now()
	for {
		select {
		case <-p.orders:
		case <-tick.C:
			var now tracing
			if now.All, now.Agent = p.host.Tracing(); now != *p.tracing.Load() {
				p.tracing.Store(&now)
				p.do(p.allDirty)
			}
			if p.watching.CompareAndSwap(false, true) {
				go func() { // it may have to wait for the journal
					defer p.watching.Store(false)
					crew(p).loseStalled()
				}()
			}
			if l := p.more.Lending; l != nil && time.Since(refresh) > time.Second {
				refresh = time.Now()
				p.use(l.Refresh())
			}
			continue
		case <-p.closed:
			return
		}
		p.mu.Lock()
		all := map[string][]byte{}
		for name := range p.dirty {
			if w := p.clients[name]; w != nil {
				all[name] = codec.AppendWire(nil, p.orderFor(name, w))
			}
		}
		clear(p.dirty)
		p.mu.Unlock()
		for name, o := range all {
			p.c.bus.Order(name, o)
		}
	}
}

// orderFor returns the newest order for a worker. mu is held.
func (p dispatch) orderFor(name string, w *client) order {
	limit, version := p.book.Share(name)
	o := order{
		Run: p.run, Session: w.session, Bundle: p.run, Limit: limit, Version: version, Probes: w.probed + p.book.Probes(name), Open: p.open, Standing: p.standing,
		Canceled: p.canceled, Tracing: *p.tracing.Load(), Recall: w.recall,
		Drains: w.drains, Part: w.part, Host: p.host.Run(), Keeps: p.host.Keeps(), MemoryBudget: p.cfg.MemoryBudget,
	}
	if o.Lent = w.lent; p.standing.Lent.Version > o.Lent.Version {
		o.Lent.Version, o.Lent.Free = p.standing.Lent.Version, p.standing.Lent.Free
	}
	if p.shard != nil {
		o.Cycle = p.cycleOrder()
		o.Cycle.Injected = nil // a grant has them
	}
	return o
}

func (p *Pool) cycleOrder() cycleOrder {
	return cycleOrder{Number: p.shard.Cycle, Now: p.shard.Now, Elapsed: p.clock.elapsed(time.Now()), Paused: p.clock.paused(), Injected: p.shard.Injected}
}

// use passes on which services need no admission.
func (p dispatch) use(l lending.Lent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.newestLent(l)
}

func (p dispatch) newestLent(l lending.Lent) {
	if l.Version > p.standing.Lent.Version {
		p.standing.Lent = l
		p.allDirty()
	}
}

// tune passes a value of a service on to the workers, or with an empty name a renewal.
func (p dispatch) tune(t Tuned) {
	p.do(func() {
		all := slices.DeleteFunc(slices.Clone(p.standing.Tuned), func(was Tuned) bool { return was.Service == t.Service && was.Name == t.Name })
		p.tuned++
		t.Number = p.tuned
		p.standing.Tuned = append(all, t)
		p.allDirty()
	})
}

// channelLock is a lock that is held while the journal takes rows, which may wait for a disk. It is a channel because simulated time
// stands still while a goroutine waits for a lock.
type channelLock chan struct{}

func newChannelLock() channelLock { return make(channelLock, 1) }

// Lock waits for the lock.
func (l channelLock) Lock() { l <- struct{}{} }

// Unlock releases the lock.
func (l channelLock) Unlock() { <-l }

package run

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/throng-sim/throng/engine/internal/concurrency"
)

// mostParked is how many sessions may be parked: as many as a batch of model calls can hold. Each keeps its goroutine and the outputs
// of its steps.
const mostParked = 50_000

// parking lets sessions that wait for a batch of model calls leave their slots to others. A session that comes back waits for a slot,
// and has priority over sessions that have not started.
type parking struct {
	permits concurrency.Slots
	waiting atomic.Int64 // length of returning

	mu        sync.Mutex
	parked    int
	returning []chan struct{} // closed when the session has its slot
}

// leave parks a session. It reports false if too many are parked; the session then keeps its slot.
func (p *parking) leave() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.parked == mostParked {
		return false
	}
	p.parked++
	p.pass()
	return true
}

// enter ends the parking of a session once it has a slot. When the run is cut, or no session may start, it does not wait.
func (p *parking) enter(ctx context.Context) {
	p.mu.Lock()
	p.parked--
	switch {
	case ctx.Err() != nil || p.permits.Limit() == 0:
		p.permits.Force()
		p.mu.Unlock()
		return
	case len(p.returning) == 0 && p.permits.TryAcquire():
		p.mu.Unlock()
		return
	}
	turn := make(chan struct{})
	p.set(append(p.returning, turn))
	p.mu.Unlock()
	select {
	case <-turn:
		return
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.returning, turn); i >= 0 {
		p.set(slices.Delete(p.returning, i, i+1))
		p.permits.Force()
	}
}

// set replaces the queue. mu is held.
func (p *parking) set(returning []chan struct{}) {
	p.returning = returning
	p.waiting.Store(int64(len(returning)))
}

// pass hands a slot to the session that waits longest, or releases it. mu is held.
func (p *parking) pass() {
	if len(p.returning) == 0 {
		p.permits.Release()
		return
	}
	close(p.returning[0])
	p.set(p.returning[1:])
}

// keep reports whether a worker may keep its slot for another session. If not, the slot belongs to others.
func (p *parking) keep() bool {
	if !p.permits.Keep() {
		return false
	}
	if p.waiting.Load() == 0 {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.returning) == 0 {
		return true
	}
	p.pass()
	return false
}

// release takes the slot of a worker that leaves.
func (p *parking) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pass()
}

// setLimit changes the number of slots. Sessions that come back never wait while it is 0: they are in flight.
func (p *parking) setLimit(limit int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.permits.SetLimit(limit)
	for len(p.returning) > 0 {
		if limit == 0 {
			p.permits.Force()
		} else if !p.permits.TryAcquire() {
			return
		}
		p.pass()
	}
}

// inFlight counts the sessions that have a slot or come back for one.
func (p *parking) inFlight() int { return p.permits.Held() + int(p.waiting.Load()) }

// Park implements [engine.Slot]. A session of a sequential run keeps its slot, because the next one must see its memory. One that
// executes several steps in parallel leaves it with the first of them that waits, and has it again when none of them waits.
func (w *worker) Park() (back func()) {
	w.parks.Lock()
	defer w.parks.Unlock()
	if w.parks.count++; w.parks.count == 1 && w.cycle.sequence == nil {
		if w.parks.left = w.pool.parking.leave(); w.parks.left {
			w.pool.enqueue(w.pool.free.get()) // the node may start another session
		}
	}
	return w.unpark
}

// parks counts the steps of a session that are parked.
type parks struct {
	sync.Mutex
	count int
	left  bool // the session has left its slot
}

func (w *worker) unpark() {
	w.parks.Lock()
	defer w.parks.Unlock()
	if w.parks.count--; w.parks.count == 0 && w.parks.left {
		w.parks.left = false
		w.pool.parking.enter(w.cycle.ctx)
	}
}

// Idle implements [engine.Slot]. It is false while sessions are still to arrive.
func (w *worker) Idle() bool {
	c := w.pool.cycle.Load()
	return w.pool.parking.inFlight() == 0 && c.Feed == nil && c.Arrivals == nil && int64(c.started()) >= c.released() && c.requeued.isEmpty()
}

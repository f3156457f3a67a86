package shards

import "slices"

// Join adds a worker, or one that had been lost. Its weight is its part of the limit in relation to that of others.
func (b *Book) Join(name string, weight int) {
	w := b.workers[name]
	if w == nil {
		w = &worker{name: name, leases: map[uint64]*shard{}}
		b.workers[name] = w
		b.names = append(b.names, name)
		slices.Sort(b.names)
	}
	w.present, w.weight, w.drains = true, max(weight, 1), false
	w.version++
	b.settle()
}

// Leave removes a worker that is lost or has ended. Its shards are offered again.
func (b *Book) Leave(name string) {
	w := b.workers[name]
	if w == nil || !w.present {
		return
	}
	w.present, w.share, w.held, w.inFlight, w.queued, w.idle, w.recalled = false, 0, 0, 0, 0, false, false
	w.version++
	for i, at := range b.probes {
		if at == name {
			b.probes[i] = ""
		}
	}
	for _, id := range b.sorted() {
		s := b.shards[id]
		switch {
		case s.owner == w:
			b.emit(Withdraw{Ticket{s.id, s.offer}}) // the transport would deliver it again, but may not know yet that the worker is lost
			b.drop(s)
			b.offer(s, "")
		case s.owner == nil && s.to == name:
			b.move(s, "")
		}
	}
	b.settle()
}

// Drain lets a worker end its sessions in flight and start no others.
func (b *Book) Drain(name string) {
	w := b.workers[name]
	if w == nil || !w.present || w.drains {
		return
	}
	w.drains = true
	b.settle()
}

// Undrain lets a worker take sessions again.
func (b *Book) Undrain(name string) {
	w := b.workers[name]
	if w == nil || !w.present || !w.drains {
		return
	}
	w.drains = false
	b.settle()
}

// LimitWorker sets the highest share of a worker; 0 sets none.
func (b *Book) LimitWorker(name string, most int) {
	if w := b.workers[name]; w != nil {
		w.most = most
		b.settle()
	}
}

// Report is what a worker says of itself. Reports of one worker arrive in order.
type Report struct {
	Version  uint64 // of the newest share that it has applied
	InFlight int
	Queued   int // sessions that it has not started
	Idle     bool
}

// Report records the state of a worker.
func (b *Book) Report(name string, r Report) {
	w := b.workers[name]
	if w == nil || !w.present {
		return
	}
	w.inFlight, w.queued, w.idle = r.InFlight, r.Queued, r.Idle
	if r.Version == w.version {
		w.held = max(w.share, r.InFlight)
	}
	b.settle()
}

// Start starts slots. A probe executes one session, whatever the limit is.
func (b *Book) Start(slots int, probe bool) {
	if probe {
		for range slots {
			b.probes = append(b.probes, "")
		}
	} else {
		b.slots += slots
	}
	b.settle()
}

// SetLimit sets the limit of the sessions in flight.
func (b *Book) SetLimit(limit int) {
	b.limit = limit
	b.settle()
}

// Progress is the progress of the open cycle.
type Progress struct {
	Slots    int // in use, probes included
	Started  int // sessions that have ended, and one for each slot in use; requeued ones included
	Released int // sessions that may have started, requeued ones included
	Requeued int // sessions that were requeued; part of Released
}

// Progress returns the progress of the open cycle. A slot counts as in use from the moment at which the run starts it: which of the
// workers has already begun a session in it is known only later.
func (b *Book) Progress() Progress {
	p := Progress{Slots: b.slots + len(b.probes), Released: b.released + b.requeued, Requeued: b.requeued}
	p.Started = p.Released - b.left + min(p.Slots, b.left)
	return p
}

// Settle draws the consequences of sessions that ended or were cut. The other events do so themselves.
func (b *Book) Settle() { b.settle() }

// settle draws the consequences of an event: shares, probes, sessions that move, and slots that are free.
func (b *Book) settle() {
	for _, name := range b.divide() {
		b.moveFrom(name)
	}
	b.placeProbes()
	if b.open {
		b.offerWhole()
		b.balance()
	}
	b.depart(b.left, b.open)
}

// moveFrom offers the shards to all that are offered to a worker.
func (b *Book) moveFrom(name string) {
	for _, id := range b.sorted() {
		if s := b.shards[id]; s.owner == nil && s.to == name {
			b.move(s, "")
		}
	}
}

// Stop ends the probes that no worker has begun, because the run is cut.
func (b *Book) Stop() {
	b.stopped = true
	b.settle()
}

// balance moves sessions to workers that have none.
func (b *Book) balance() {
	for _, name := range b.names {
		w := b.workers[name]
		if w.drains && w.present && len(w.leases) > 0 && w.queued > 0 {
			b.recall(w, w.queued)
		}
		if !w.idle || !w.takes() || b.waiting(name) {
			continue
		}
		if s := b.foreign(name, b.workers); s != nil {
			b.move(s, name)
			continue
		}
		switch from := b.busiest(name); {
		case from == nil:
		case !b.cycle.Whole:
			b.recall(from, (from.queued+1)/2)
		case from.share == 0:
			b.recall(from, from.queued)
		}
	}
}

package run

import (
	"slices"
	"time"

	"github.com/throng-sim/throng/engine/run/shards"
)

// The times of a fleet, as in package fleet.
const (
	simLease  = 2 * time.Second
	simBeat   = simLease / 4
	simParted = simLease - simBeat/2
	simRetry  = 50 * time.Millisecond
)

// simNetwork carries messages between a coordinator and its workers. It delays, loses, repeats and reorders them.
type simNetwork struct {
	events []simEvent // by time
	delay  time.Duration
	lost   int // of 100 messages
	twice  int // of 100 messages
	early  int // of 100 deliveries of a ticket whose lease lapses early
}

type simEvent struct {
	at time.Time
	do func()
}

// after lets something happen later.
func (f *simFleet) after(d time.Duration, do func()) {
	at := f.at.Add(d)
	i := len(f.net.events)
	for i > 0 && f.net.events[i-1].at.After(at) {
		i--
	}
	f.net.events = slices.Insert(f.net.events, i, simEvent{at, do})
}

// delay returns how long a message takes.
func (f *simFleet) delay() time.Duration {
	d := time.Duration(f.draw.Int64N(int64(f.net.delay)))
	if f.draw.IntN(50) == 0 {
		d *= 20
	}
	return d
}

// copies returns how many copies of a message arrive.
func (f *simFleet) copies() int {
	switch {
	case f.draw.IntN(100) < f.net.lost:
		return 0
	case f.draw.IntN(100) < f.net.twice:
		return 2
	}
	return 1
}

// toCoordinator carries a message of a worker. It may arrive after the worker was killed.
func (n *simNode) toCoordinator(do func()) {
	f := n.fleet
	if n.parted {
		return
	}
	for range f.copies() {
		f.after(f.delay(), func() {
			if !n.parted {
				do()
			}
		})
	}
}

// toWorker carries a message to a worker, which takes it once it does not hang.
func (n *simNode) toWorker(do func()) { n.carry(func() { n.run(do) }) }

// carry carries a message to the machine of a worker.
func (n *simNode) carry(do func()) {
	f, life := n.fleet, n.life
	if n.parted {
		return
	}
	for range f.copies() {
		f.after(f.delay(), func() {
			if !n.parted && n.life == life {
				do()
			}
		})
	}
}

// request sends a request until there is an answer.
func request[T any](n *simNode, isOpen func() bool, ask func(answer func(T)), then func(T, time.Time)) {
	done := false
	var try func()
	try = func() {
		if done || !isOpen() {
			return
		}
		sent := n.fleet.at
		n.toCoordinator(func() {
			n.fleet.beat(n)
			ask(func(v T) {
				n.toWorker(func() {
					if !done && isOpen() {
						done = true
						then(v, sent)
					}
				})
			})
		})
		n.later(simRetry, try)
	}
	try()
}

// simQueue is the work queue of tickets.
type simQueue struct{ tickets []*simTicket }

type simTicket struct {
	shards.Ticket
	to     string
	count  uint64
	holder *simNode // nil while it waits
	lapses time.Time
	early  bool // the lease lapses although its holder extends it
}

// simDelivery is a ticket with a lease.
type simDelivery struct {
	ticket *simTicket
	count  uint64
}

// withdraw removes a ticket.
func (q *simQueue) withdraw(t shards.Ticket) {
	q.tickets = slices.DeleteFunc(q.tickets, func(o *simTicket) bool { return o.Ticket == t })
}

// find returns a ticket for a worker, those for it first.
func (q *simQueue) find(name string) *simTicket {
	for _, to := range []string{name, ""} {
		for _, t := range q.tickets {
			if t.holder == nil && t.to == to {
				return t
			}
		}
	}
	return nil
}

// match delivers tickets to the workers that wait for one.
func (f *simFleet) match() {
	for _, n := range f.nodes {
		if !n.waits || n.parted {
			continue
		}
		t := f.queue.find(n.name)
		if t == nil {
			continue
		}
		n.waits = false
		t.count++
		t.holder, t.lapses, t.early = n, f.at.Add(simLease), f.draw.IntN(100) < f.net.early
		if t.early {
			t.lapses = f.at.Add(time.Duration(1 + f.draw.Int64N(int64(simLease/8))))
		}
		d := simDelivery{t, t.count}
		f.after(t.lapses.Sub(f.at), func() { f.lapse(d) })
		life := n.life
		n.toWorker(func() {
			if j := n.job; j != nil && n.life == life {
				j.take(d)
			}
		})
	}
}

// lapse ends a lease that was not extended.
func (f *simFleet) lapse(d simDelivery) {
	t := d.ticket
	switch {
	case t.holder == nil || t.count != d.count:
	case t.lapses.After(f.at):
		f.after(t.lapses.Sub(f.at), func() { f.lapse(d) })
	default:
		t.holder = nil
		f.match()
	}
}

// extend extends a lease.
func (d simDelivery) extend(f *simFleet) {
	if t := d.ticket; t.holder != nil && t.count == d.count && !t.early {
		t.lapses = f.at.Add(simLease)
	}
}

// done acknowledges a ticket.
func (d simDelivery) done(n *simNode) {
	n.toCoordinator(func() { n.fleet.queue.withdraw(d.ticket.Ticket) })
}

// giveBack lets a ticket be delivered again.
func (d simDelivery) giveBack(n *simNode) {
	n.toCoordinator(func() {
		if d.ticket.count == d.count {
			d.ticket.holder = nil
			n.fleet.match()
		}
	})
}

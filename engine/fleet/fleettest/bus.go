// Package fleettest has a transport for tests of fleets, which stays in the process and can delay, lose, repeat and reorder what it
// carries.
package fleettest

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine/fleet"
)

// Faults are what a transport does to what it carries. The zero value carries everything immediately.
type Faults struct {
	Seed       uint64
	Delay      time.Duration // at most
	Lose       float64       // fraction of requests and answers that are lost
	Twice      float64       // fraction of requests that arrive twice
	EarlyLapse float64       // fraction of extensions of a lease that are lost
}

// Bus is a [fleet.Bus] in the process.
type Bus struct {
	mu      sync.Mutex
	faults  Faults
	draw    *rand.Rand
	handler fleet.Handler
	tickets []*ticket
	links   map[string]*Link
	present map[string]*time.Timer // by worker: until it counts as absent
	bundles map[string][]byte
	closed  bool
	changed chan struct{} // closed and replaced when a ticket can be fetched
}

type ticket struct {
	fleet.Ticket
	to    string
	count uint64
	until time.Time // end of the lease; zero while it is offered
	timer *time.Timer
}

var _ fleet.Bus = (*Bus)(nil)

// NewBus returns a transport with faults.
func NewBus(f Faults) *Bus {
	return &Bus{faults: f, draw: rand.New(rand.NewPCG(f.Seed, 7)), links: map[string]*Link{}, present: map[string]*time.Timer{}, bundles: map[string][]byte{}, changed: make(chan struct{})}
}

// Listen implements [fleet.Bus]. A later coordinator knows none of the workers at first.
func (b *Bus) Listen(h fleet.Handler) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.handler = h
	for worker, timer := range b.present {
		timer.Stop()
		delete(b.present, worker)
	}
}

func (b *Bus) wake() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// Offer implements [fleet.Bus].
func (b *Bus) Offer(to string, t fleet.Ticket) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tickets = append(b.tickets, &ticket{Ticket: t, to: to})
	b.wake()
}

// Withdraw implements [fleet.Bus].
func (b *Bus) Withdraw(t fleet.Ticket) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.remove(t)
}

func (b *Bus) remove(t fleet.Ticket) {
	b.tickets = slices.DeleteFunc(b.tickets, func(o *ticket) bool {
		if o.Ticket == t && o.timer != nil {
			o.timer.Stop()
		}
		return o.Ticket == t
	})
}

// Order implements [fleet.Bus].
func (b *Bus) Order(to string, order []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.links[to]
	if l == nil || l.parted {
		if l != nil {
			l.missed = order
		}
		return
	}
	l.order(order)
}

// Publish implements [fleet.Bus].
func (b *Bus) Publish(_ context.Context, name string, bundle []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bundles[name] = bundle
	return nil
}

// Reset implements [fleet.Bus].
func (b *Bus) Reset(context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range b.tickets {
		if t.timer != nil {
			t.timer.Stop()
		}
	}
	b.tickets = nil
	clear(b.bundles)
	return nil
}

// Dismiss implements [fleet.Bus].
func (b *Bus) Dismiss(worker string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l := b.links[worker]; l != nil {
		l.kill()
	}
}

// Close implements [fleet.Bus].
func (b *Bus) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for _, t := range b.tickets {
		if t.timer != nil {
			t.timer.Stop()
		}
	}
	for _, l := range b.links {
		l.kill()
	}
	for _, timer := range b.present {
		timer.Stop()
	}
	return nil
}

// Link is a [fleet.Link] in the process.
type Link struct {
	bus    *Bus
	name   string
	orders chan []byte
	dead   chan struct{}
	parted bool
	missed []byte // the newest order while it was parted
}

var _ fleet.Link = (*Link)(nil)

// Join connects a worker.
func (b *Bus) Join(name string) *Link {
	b.mu.Lock()
	defer b.mu.Unlock()
	if old := b.links[name]; old != nil {
		old.kill()
	}
	l := &Link{bus: b, name: name, orders: make(chan []byte, 1), dead: make(chan struct{})}
	b.links[name] = l
	return l
}

// Part cuts the link off, or with false connects it again. Meanwhile nothing arrives on either side.
func (l *Link) Part(parted bool) {
	l.bus.mu.Lock()
	defer l.bus.mu.Unlock()
	l.parted = parted
	l.bus.wake()
	if !parted && l.missed != nil {
		l.order(l.missed)
		l.missed = nil
	}
}

// kill ends the link. The lock of the bus is held.
func (l *Link) kill() {
	select {
	case <-l.dead:
	default:
		close(l.dead)
	}
}

func (l *Link) order(order []byte) {
	select {
	case <-l.orders:
	default:
	}
	l.orders <- order
}

// Name implements [fleet.Link].
func (l *Link) Name() string { return l.name }

// Orders implements [fleet.Link].
func (l *Link) Orders() <-chan []byte { return l.orders }

// Close implements [fleet.Link].
func (l *Link) Close() error {
	l.bus.mu.Lock()
	defer l.bus.mu.Unlock()
	l.kill()
	return nil
}

// Bundle implements [fleet.Link].
func (l *Link) Bundle(_ context.Context, name string) ([]byte, error) {
	l.bus.mu.Lock()
	defer l.bus.mu.Unlock()
	bundle, ok := l.bus.bundles[name]
	if !ok || l.parted {
		return nil, errors.New("there is no such bundle")
	}
	return bundle, nil
}

// Beat implements [fleet.Link].
func (l *Link) Beat(ctx context.Context) error {
	b := l.bus
	if !l.passes(ctx) {
		return errLost
	}
	b.mu.Lock()
	timer, known := b.present[l.name]
	if known {
		timer.Reset(fleet.LeaseTime)
	} else {
		b.present[l.name] = time.AfterFunc(fleet.LeaseTime, func() {
			b.mu.Lock()
			delete(b.present, l.name)
			closed := b.closed
			b.mu.Unlock()
			if !closed {
				b.handler.Absent(l.name)
			}
		})
	}
	b.mu.Unlock()
	if !known {
		b.handler.Present(l.name)
	}
	return nil
}

var errLost = errors.New("no answer came in time")

const (
	// timeout is how long the sender of a lost message waits for its answer.
	timeout = time.Second
	// patience is how long a request may be unanswered.
	patience = 5 * time.Second
)

// passes waits as long as a message takes, and reports whether it arrives.
func (l *Link) passes(ctx context.Context) bool {
	b := l.bus
	b.mu.Lock()
	lost := b.draw.Float64() < b.faults.Lose || l.parted
	var delay time.Duration
	if b.faults.Delay > 0 {
		delay = rand.N(b.faults.Delay)
	}
	b.mu.Unlock()
	if lost {
		delay = timeout
	}
	if delay > 0 {
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return false
		case <-l.dead:
			return false
		}
	}
	select {
	case <-l.dead:
		return false
	default:
		return !lost
	}
}

// Request implements [fleet.Link].
func (l *Link) Request(ctx context.Context, request []byte) ([]byte, error) {
	b := l.bus
	if !l.passes(ctx) {
		select {
		case <-l.dead:
			return nil, fleet.ErrClosed
		default:
			return nil, errors.Join(errLost, context.Cause(ctx))
		}
	}
	answers := make(chan []byte, 2)
	request = slices.Clone(request)
	b.handler.Request(l.name, request, func(a []byte) { answers <- slices.Clone(a) })
	b.mu.Lock()
	twice := b.draw.Float64() < b.faults.Twice
	b.mu.Unlock()
	if twice {
		b.handler.Request(l.name, request, func(a []byte) { answers <- slices.Clone(a) })
	}
	var answer []byte
	select {
	case answer = <-answers:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-l.dead:
		return nil, fleet.ErrClosed
	case <-time.After(patience):
		return nil, errLost
	}
	if !l.passes(ctx) {
		return nil, errLost
	}
	return answer, nil
}

// Fetch implements [fleet.Link].
func (l *Link) Fetch(ctx context.Context) (fleet.Delivery, error) {
	b := l.bus
	for {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-l.dead:
			return nil, fleet.ErrClosed
		default:
		}
		b.mu.Lock()
		changed := b.changed
		var found *ticket
		for _, to := range []string{l.name, ""} {
			for _, t := range b.tickets {
				if found == nil && t.to == to && t.until.IsZero() && !l.parted {
					found = t
				}
			}
		}
		if found != nil {
			found.count++
			found.lease(b)
			d := &delivery{l, found, found.count}
			b.mu.Unlock()
			return d, nil
		}
		b.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-l.dead:
			return nil, fleet.ErrClosed
		}
	}
}

// lease begins or extends a lease. The lock of the bus is held.
func (t *ticket) lease(b *Bus) {
	t.until = time.Now().Add(fleet.LeaseTime)
	if t.timer != nil {
		t.timer.Stop()
	}
	t.timer = time.AfterFunc(fleet.LeaseTime, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if !b.closed && !t.until.IsZero() && !time.Now().Before(t.until) {
			t.until = time.Time{}
			b.wake()
		}
	})
}

type delivery struct {
	link   *Link
	ticket *ticket
	count  uint64
}

func (d *delivery) Ticket() fleet.Ticket { return d.ticket.Ticket }
func (d *delivery) Count() uint64        { return d.count }

// do changes the ticket, unless it has been delivered again or the link is cut off.
func (d *delivery) do(f func(b *Bus)) {
	b := d.link.bus
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-d.link.dead:
		return
	default:
	}
	if !d.link.parted && d.ticket.count == d.count && !d.ticket.until.IsZero() {
		f(b)
	}
}

func (d *delivery) Extend() {
	d.do(func(b *Bus) {
		if b.draw.Float64() >= b.faults.EarlyLapse {
			d.ticket.lease(b)
		}
	})
}

func (d *delivery) Done() { d.do(func(b *Bus) { b.remove(d.ticket.Ticket) }) }

func (d *delivery) Return() {
	d.do(func(b *Bus) {
		d.ticket.timer.Stop()
		d.ticket.until = time.Time{}
		b.wake()
	})
}

package fleet

import (
	"context"
	"errors"
	"time"
)

// ErrClosed is returned by a link or a bus that was closed.
var ErrClosed = errors.New("the connection to the fleet is closed")

// Ticket is an offer of a shard. Tickets are small; the worker that claims one receives the shard's content in the answer.
type Ticket struct {
	Run   string // identifies the process of a run: a resumed run has another one
	Shard uint64
	Offer uint64 // increases each time the shard is offered again
}

// Bus is the coordinator's side of the transport. Its methods are safe for concurrent use and do not wait for workers.
type Bus interface {
	// Listen sets the handler of what workers send. It is called once, before workers can join.
	Listen(h Handler)
	// Offer offers a ticket to one worker, or to all if to is "". The ticket is delivered to one worker at a time, until a
	// worker acknowledges it: if a worker neither extends nor acknowledges it for the lease time, it is delivered again, with a
	// higher count.
	Offer(to string, t Ticket)
	// Withdraw takes an offer back, if it has not been acknowledged. A worker may still have received it.
	Withdraw(t Ticket)
	// Order replaces the order for a worker. The worker receives the newest one, also after it reconnects.
	Order(to string, order []byte)
	// Publish makes a bundle available under a name.
	Publish(ctx context.Context, name string, bundle []byte) error
	// Reset withdraws all offers and bundles. It is called between runs.
	Reset(ctx context.Context) error
	// Dismiss closes the connection of a worker and refuses it until it joins again.
	Dismiss(worker string)
	Close() error
}

// Handler receives what workers send. Its methods must not block for long; a request is answered by its reply function, from any
// goroutine and at most once. Requests of one worker arrive in the order in which they were sent, unless a retry overtakes them.
type Handler interface {
	// Request handles a request of a worker. The name is authenticated by the transport.
	Request(worker string, request []byte, reply func(answer []byte))
	// Present tells that a worker is connected and alive, and Absent that it has been silent for the time of a lease.
	Present(worker string)
	Absent(worker string)
}

// Link is the worker's side of the transport. Its methods are safe for concurrent use.
type Link interface {
	// Name returns the name under which the worker has joined.
	Name() string
	// Fetch waits for a ticket that is offered to this worker or to all. It prefers those for this worker.
	Fetch(ctx context.Context) (Delivery, error)
	// Request sends a request to the coordinator and waits for its answer. An error means that it is not known whether the
	// request arrived.
	Request(ctx context.Context, request []byte) ([]byte, error)
	// Orders delivers the newest order. Older ones are skipped.
	Orders() <-chan []byte
	// Bundle returns what the coordinator published under a name.
	Bundle(ctx context.Context, name string) ([]byte, error)
	// Beat tells the coordinator that the worker is alive, and waits for the confirmation.
	Beat(ctx context.Context) error
	Close() error
}

// Delivery is a ticket with a lease.
type Delivery interface {
	Ticket() Ticket
	// Count is how often the offer has been delivered, from 1. A higher count fences off the earlier receivers.
	Count() uint64
	// Extend extends the lease by the lease time.
	Extend()
	// Done acknowledges the ticket: it is not delivered again.
	Done()
	// Return ends the lease, so that the ticket is delivered again.
	Return()
}

const (
	// LeaseTime is how long a worker has a ticket without extending its lease, and how long it may be silent.
	LeaseTime = 2 * time.Second
	// BeatEvery is how often a worker extends its leases and tells that it is alive.
	BeatEvery = 500 * time.Millisecond
)

package bus

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/throng-sim/throng/engine/fleet"
)

const (
	// pullTime is how long the server keeps a request for a ticket.
	pullTime = 20 * time.Second
	// pullPause is how long a worker waits before it asks again, when the server cannot deliver tickets.
	pullPause = 200 * time.Millisecond
	// extendPause is how long extensions of leases wait for others, to travel in one message.
	extendPause = 5 * time.Millisecond
)

// The two queues from which a worker gets tickets.
const (
	queueOwn = iota
	queueAny
)

// pull is the state of the worker's requests for tickets at one queue.
type pull struct {
	number uint64    // of the newest request
	open   bool      // the server has it
	empty  bool      // the queue had no ticket when it was asked
	until  time.Time // when an open request ends, or another one may be sent
	got    *nats.Msg // a ticket for the Fetch that waits
}

// pulls are the worker's requests for tickets: at most one at each queue. A ticket that arrives when no Fetch waits goes back to the
// server, so that another worker receives it.
type pulls struct {
	link *Link
	turn chan struct{} // is held by the Fetch that waits
	wake chan struct{} // has room for one

	mu      sync.Mutex
	queues  [2]pull
	waiting bool // for a ticket
}

func newPulls(l *Link) *pulls {
	return &pulls{link: l, turn: make(chan struct{}, 1), wake: make(chan struct{}, 1)}
}

// subject is where the answers to the requests at a queue arrive.
func (p *pulls) subject(queue int) string {
	return p.link.names.inbox(p.link.name) + ".tickets." + strconv.Itoa(queue) + "."
}

// Fetch implements [fleet.Link].
func (l *Link) Fetch(ctx context.Context) (fleet.Delivery, error) {
	p := l.pulls
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.conn.ended:
		return nil, l.conn.err()
	}
	p.wait(true)
	defer p.wait(false)
	for {
		m, again := p.next()
		if m != nil {
			if d := l.delivery(m); d != nil {
				// The coordinator learns of this delivery, so that it ignores acknowledgements of earlier ones.
				l.acks.add(ack{ackExtend, m.Reply, m.Data})
				l.acks.flush()
				return d, nil
			}
			continue
		}
		timer := time.NewTimer(time.Until(again))
		select {
		case <-p.wake:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		case <-l.conn.ended:
			timer.Stop()
			return nil, l.conn.err()
		}
		timer.Stop()
	}
}

// wait begins or ends that a Fetch waits. At the end, tickets that it has not taken go back.
func (p *pulls) wait(waiting bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = waiting
	for i := range p.queues {
		q := &p.queues[i]
		if q.got != nil {
			p.giveBack(q.got)
			q.got = nil
		}
		q.empty = q.open // an open request says that there was none
	}
}

// next returns a ticket that has arrived, or asks for one and returns when to ask again. It asks both queues only when the own one
// was empty.
func (p *pulls) next() (m *nats.Msg, again time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	own, shared := &p.queues[queueOwn], &p.queues[queueAny]
	now := time.Now()
	for _, q := range []*pull{own, shared} {
		if q.open && now.After(q.until) {
			q.open = false // the server has not answered
		}
		if q.got != nil && (q == own || own.empty) {
			m, q.got = q.got, nil
			return m, now
		}
	}
	p.ask(queueOwn, now, !own.empty)
	if own.empty {
		p.ask(queueAny, now, false)
		if shared.until.Before(own.until) {
			return nil, shared.until
		}
	}
	return nil, own.until
}

// ask sends a request to a queue, unless one is open or it is too early. A probe does not wait for a ticket.
func (p *pulls) ask(queue int, now time.Time, probe bool) {
	q := &p.queues[queue]
	if q.open || now.Before(q.until) {
		return
	}
	l := p.link
	q.number++
	q.open, q.until = true, now.Add(pullTime+l.config.Timeout)
	body := fmt.Appendf(nil, `{"batch":1,"expires":%d}`, pullTime)
	if probe {
		q.until = now.Add(l.config.Timeout)
		body = []byte(`{"batch":1,"no_wait":true}`)
	}
	to := l.name
	if queue == queueAny {
		to = ""
	}
	if err := l.conn.PublishRequest(l.names.pull(to), p.subject(queue)+strconv.FormatUint(q.number, 10), body); err != nil {
		q.open, q.until = false, now.Add(pullPause)
	}
}

// receive receives a ticket from a queue, or why there is none. A ticket has the subject on which it was offered, any other answer
// that of the request.
func (p *pulls) receive(queue int, m *nats.Msg) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := &p.queues[queue]
	status := m.Header.Get("Status")
	if status == "" || m.Subject == p.subject(queue)+strconv.FormatUint(q.number, 10) {
		q.open, q.until = false, time.Time{}
		switch status {
		case "", "408": // a ticket; the request has ended
		case "404":
			q.empty = true
		default: // the coordinator has not made the queue yet, for example
			q.empty, q.until = true, time.Now().Add(pullPause)
		}
	}
	if status == "" {
		if !p.waiting || q.got != nil {
			p.giveBack(m)
			return
		}
		q.got = m
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// lost notes that the connection was lost, and with it the requests that the server had.
func (p *pulls) lost() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.queues {
		p.queues[i].open, p.queues[i].until = false, time.Time{}
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *pulls) giveBack(m *nats.Msg) { p.link.acks.add(ack{ackReturn, m.Reply, m.Data}) }

// delivery returns the lease for a message, or nil if it is not a ticket.
func (l *Link) delivery(m *nats.Msg) fleet.Delivery {
	t, err := readTicket(m.Data)
	d, err2 := readDelivery(m.Reply)
	if err != nil || err2 != nil {
		l.log.Warn("fleet: a ticket could not be read", "subject", m.Subject)
		return nil
	}
	return &lease{acks: l.acks, ticket: t, count: d.count, message: m}
}

// lease implements [fleet.Delivery].
type lease struct {
	acks    *acks
	ticket  fleet.Ticket
	count   uint64
	message *nats.Msg

	mu    sync.Mutex
	ended bool
}

func (l *lease) Ticket() fleet.Ticket { return l.ticket }

func (l *lease) Count() uint64 { return l.count }

func (l *lease) Extend() { l.acknowledge(ackExtend) }

func (l *lease) Done() { l.acknowledge(ackDone) }

func (l *lease) Return() { l.acknowledge(ackReturn) }

func (l *lease) acknowledge(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		l.ended = what != ackExtend
		l.acks.add(ack{what, l.message.Reply, l.message.Data})
	}
}

// acks sends acknowledgements to the coordinator, in order, several in a message.
type acks struct {
	link  *Link
	timer *time.Timer // sends extensions

	mu     sync.Mutex
	queued []ack
}

func newAcks(l *Link) *acks {
	a := &acks{link: l}
	a.timer = time.AfterFunc(time.Hour, a.flush)
	a.timer.Stop()
	return a
}

func (a *acks) add(k ack) {
	a.mu.Lock()
	a.queued = append(a.queued, k)
	first := len(a.queued) == 1
	a.mu.Unlock()
	switch {
	case k.what != ackExtend:
		a.flush()
	case first:
		a.timer.Reset(extendPause)
	}
}

// flush sends what is queued.
func (a *acks) flush() {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.link
	for all := a.queued; len(all) > 0; {
		n := min(len(all), 100)
		if err := l.conn.Publish(l.names.request(l.name), appendAcks(nil, all[:n])); err != nil {
			l.log.Warn("fleet: acknowledgements could not be sent; the tickets are delivered again", "error", err)
		}
		all = all[n:]
	}
	a.queued = nil
}

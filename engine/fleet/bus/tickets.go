package bus

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/throng-sim/throng/engine/fleet"
)

const (
	// unconfirmed is how many messages may wait for the server's confirmation. Servers drop what exceeds 10,000.
	unconfirmed = 1000
	// retryAfter is when a message is sent again that the server has refused, or not confirmed.
	retryAfter = time.Second
)

// offer is a ticket that was neither withdrawn nor acknowledged.
type offer struct {
	to        string
	sequence  uint64 // in the stream, or 0 if it is not known yet
	withdrawn bool   // before the sequence was known
	count     uint64 // the highest count of deliveries that a worker has shown
	done      *ack   // came before the sequence was known
}

// message is something for the server that it confirms: a ticket, or the withdrawal of one.
type message struct {
	ticket   fleet.Ticket
	to       string
	id       uint64    // of the offer
	withdraw uint64    // the sequence of a ticket to withdraw, or 0
	sent     time.Time // zero if it was not sent yet
}

// publisher is what the coordinator publishes with.
type publisher struct {
	names names
	conn  *nats.Conn
	log   *slog.Logger
}

// tickets offers and withdraws tickets, without waiting for the server. One goroutine sends, and a subscription receives the
// confirmations.
type tickets struct {
	publisher

	key []byte // of the proofs

	mu     sync.Mutex
	offers map[fleet.Ticket]*offer
	queue  []message
	sent   map[uint64]message // not confirmed, by number
	number uint64             // the last one
	last   uint64             // the last ID of an offer
	closed bool
	retry  *time.Timer

	wake  chan struct{} // has room for one
	stop  chan struct{}
	ended chan struct{}
}

func newTickets(p publisher) (*tickets, error) {
	t := &tickets{
		publisher: p, key: []byte(random()), offers: map[fleet.Ticket]*offer{}, sent: map[uint64]message{},
		wake: make(chan struct{}, 1), stop: make(chan struct{}), ended: make(chan struct{}),
	}
	s, err := t.conn.Subscribe(t.names.confirmations()+".*", t.confirmed)
	if err == nil {
		err = s.SetPendingLimits(-1, -1) // at most unconfirmed
	}
	if err != nil {
		return nil, fmt.Errorf("listen for confirmations: %w", err)
	}
	t.retry = time.AfterFunc(time.Hour, t.resend)
	t.retry.Stop()
	go t.send()
	return t, nil
}

func (t *tickets) offer(to string, k fleet.Ticket) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || t.offers[k] != nil {
		return
	}
	t.offers[k] = &offer{to: to}
	t.last++
	t.push(message{ticket: k, to: to, id: t.last})
}

// push queues a message. Lock is held.
func (t *tickets) push(m message) {
	t.queue = append(t.queue, m)
	t.signal()
}

func (t *tickets) signal() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

func (t *tickets) withdraw(k fleet.Ticket) {
	t.mu.Lock()
	defer t.mu.Unlock()
	o := t.offers[k]
	switch {
	case o == nil:
	case o.sequence == 0:
		o.withdrawn = true
	default:
		delete(t.offers, k)
		t.push(message{ticket: k, withdraw: o.sequence})
	}
}

// offerAgain offers all tickets again, after the stream was lost.
func (t *tickets) offerAgain() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.sent)
	t.queue = nil
	for k, o := range t.offers {
		if o.withdrawn {
			delete(t.offers, k)
			continue
		}
		o.sequence, o.count, o.done = 0, 0, nil
		t.last++
		t.push(message{ticket: k, to: o.to, id: t.last})
	}
}

// withdrawAll withdraws all offers.
func (t *tickets) withdrawAll() {
	t.mu.Lock()
	all := make([]fleet.Ticket, 0, len(t.offers))
	for k := range t.offers {
		all = append(all, k)
	}
	t.mu.Unlock()
	for _, k := range all {
		t.withdraw(k)
	}
}

// send sends what is queued.
func (t *tickets) send() {
	defer close(t.ended)
	for {
		select {
		case <-t.wake:
		case <-t.stop:
			return
		}
		for t.sendNext() {
		}
	}
}

// sendNext sends the next message, if there is one and the server may receive it.
func (t *tickets) sendNext() bool {
	t.mu.Lock()
	if t.closed || len(t.queue) == 0 || len(t.sent) >= unconfirmed {
		t.mu.Unlock()
		return false
	}
	m := t.queue[0]
	t.queue = t.queue[1:]
	if o := t.offers[m.ticket]; m.withdraw == 0 && m.sent.IsZero() && o.withdrawn {
		delete(t.offers, m.ticket)
		t.mu.Unlock()
		return true
	}
	t.number++
	m.sent = time.Now()
	out := &nats.Msg{Reply: t.names.confirmations() + "." + strconv.FormatUint(t.number, 10)}
	t.sent[t.number] = m
	if len(t.sent) == 1 {
		t.retry.Reset(retryAfter)
	}
	if m.withdraw == 0 {
		out.Subject, out.Data = t.names.offers(m.to), appendTicket(t.key, m.ticket)
		// A ticket that is sent again, after its confirmation was lost, stays one message.
		out.Header = nats.Header{"Nats-Msg-Id": {strconv.FormatUint(m.id, 10)}}
	} else {
		out.Subject, out.Data = t.names.withdrawal(), fmt.Appendf(nil, `{"seq":%d,"no_erase":true}`, m.withdraw)
	}
	t.mu.Unlock()
	if err := t.conn.PublishMsg(out); err != nil {
		t.log.Warn("fleet: a ticket could not be sent yet", "error", err) // resend sends it again
	}
	return true
}

// confirmed receives the server's answer to a message.
func (t *tickets) confirmed(in *nats.Msg) {
	number, err := strconv.ParseUint(in.Subject[strings.LastIndexByte(in.Subject, '.')+1:], 10, 64)
	if err != nil {
		return
	}
	var answer struct {
		Seq   uint64
		Error *struct{ Description string }
	}
	if json.Unmarshal(in.Data, &answer) != nil {
		return // no server has the stream yet: resend sends it again
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	m, ok := t.sent[number]
	if !ok || m.withdraw == 0 && answer.Error != nil {
		return
	}
	delete(t.sent, number)
	if len(t.queue) > 0 {
		t.signal()
	}
	if m.withdraw > 0 {
		return // an error says that it is not there
	}
	o := t.offers[m.ticket]
	switch {
	case o == nil:
		t.push(message{ticket: m.ticket, withdraw: answer.Seq})
	case o.withdrawn:
		delete(t.offers, m.ticket)
		t.push(message{ticket: m.ticket, withdraw: answer.Seq})
	default:
		o.sequence = answer.Seq
		if o.done != nil {
			t.acknowledge(o, m.ticket, *o.done)
		}
	}
}

// resend sends again what was not confirmed: the server has refused it, or the connection was lost.
func (t *tickets) resend() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	var again []message
	for _, n := range slices.Sorted(maps.Keys(t.sent)) {
		if time.Since(t.sent[n].sent) >= retryAfter {
			again = append(again, t.sent[n])
			delete(t.sent, n)
		}
	}
	t.queue = append(again, t.queue...)
	t.signal()
	if len(t.sent) > 0 {
		t.retry.Reset(retryAfter)
	}
}

// acks passes the acknowledgements of a worker to the server, if the worker has the tickets.
func (t *tickets) acks(worker string, all []ack) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, a := range all {
		k, err := proven(t.key, a.ticket)
		if err != nil {
			t.log.Warn("fleet: a worker acknowledges a ticket that it has not received", "worker", worker)
			continue
		}
		d, err := readDelivery(a.reply)
		o := t.offers[k]
		if err != nil || o == nil || d.stream != t.names.tickets() || d.consumer != t.names.consumer(o.to) || o.to != "" && o.to != worker {
			continue // it was withdrawn
		}
		if d.count < o.count || o.sequence > 0 && d.sequence != o.sequence {
			continue // a later delivery has taken its place
		}
		o.count = d.count
		if o.sequence == 0 {
			o.done = &a
			continue
		}
		t.acknowledge(o, k, a)
	}
}

// acknowledge passes an acknowledgement to the server. Lock is held.
func (t *tickets) acknowledge(o *offer, k fleet.Ticket, a ack) {
	o.done = nil
	if d, err := readDelivery(a.reply); err != nil || d.sequence != o.sequence {
		return
	}
	if a.what == ackDone {
		delete(t.offers, k)
	}
	if err := t.conn.Publish(a.reply, []byte(a.what)); err != nil {
		t.log.Warn("fleet: an acknowledgement could not be sent; the ticket is delivered again", "error", err)
	}
}

func (t *tickets) close() {
	t.mu.Lock()
	t.closed = true
	t.retry.Stop()
	t.mu.Unlock()
	close(t.stop)
	<-t.ended
}

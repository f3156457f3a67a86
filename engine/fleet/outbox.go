package fleet

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine/codec"
	"github.com/throng-sim/throng/engine/run/shards"
)

const (
	// window is how many packets a worker has under way.
	window = 4
	// hurried is how many packets may be under way when an urgent frame is sent without delay. With more, it waits as other rows do: the
	// coordinator's journal would only be ready for it later, and a fuller packet costs less.
	hurried = 1
	// fullPacket is the size of a packet, in bytes, that is sent without waiting for more.
	fullPacket = 64 << 10
	// rowDelay is how long rows wait for others if no session waits for them, or if packets are under way.
	rowDelay = 5 * time.Millisecond
	// retryAfter is the pause before a packet is sent again that got no answer.
	retryAfter = 50 * time.Millisecond
)

// outbox sends what a worker has to say, in order, in packets. It is safe for concurrent use.
type outbox struct {
	link    Link
	session uint64
	// report appends the frame that ends each packet. It is called while the packet is closed.
	report func(dst []byte) []byte
	// replied receives the reply to each packet, and when it was sent.
	replied func(r *packetReply, sent time.Time)

	mu     sync.Mutex
	frames []byte
	since  time.Time // of the oldest frame
	urgent bool
	acks   []func(r *packetReply)
	number uint64   // of the newest packet
	open   []uint64 // numbers of the packets that have no reply, in order

	wake chan struct{}
}

func newOutbox(link Link, session uint64, report func([]byte) []byte, replied func(*packetReply, time.Time)) *outbox {
	return &outbox{link: link, session: session, report: report, replied: replied, wake: make(chan struct{}, 1)}
}

// add adds a frame. An urgent one is sent without delay while fewer than hurried packets are under way. ack, if set, is called with the
// reply to its packet; a nil reply means that there is none.
func (o *outbox) add(kind byte, urgent bool, ack func(r *packetReply), f func(dst []byte) []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.addLocked(kind, urgent, ack, f)
}

func (o *outbox) addLocked(kind byte, urgent bool, ack func(r *packetReply), f func(dst []byte) []byte) {
	if len(o.frames) == 0 {
		o.since = time.Now()
	}
	o.frames = appendFrame(o.frames, kind, f)
	if ack != nil {
		o.acks = append(o.acks, ack)
	}
	o.urgent = o.urgent || urgent
	o.rouse()
}

// send has a packet sent even if there is nothing to say.
func (o *outbox) send() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.urgent = true
	o.rouse()
}

// empty reports whether the coordinator has everything.
func (o *outbox) empty() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.frames) == 0 && len(o.open) == 0
}

// full reports whether no further packet can be sent before one under way has its reply.
func (o *outbox) full() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.open) >= window
}

func (o *outbox) rouse() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// run sends packets until ctx ends. Then all that wait get no reply.
func (o *outbox) run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var all sync.WaitGroup
	defer all.Wait()
	for {
		p, wait := o.next()
		if p.data != nil {
			all.Go(func() { o.deliver(ctx, &p) })
			continue
		}
		timer.Reset(wait)
		select {
		case <-o.wake:
		case <-timer.C:
		case <-ctx.Done():
			o.mu.Lock()
			acks := o.acks
			o.acks = nil
			o.mu.Unlock()
			for _, ack := range acks {
				ack(nil)
			}
			return
		}
	}
}

// closedPacket is a packet that is complete.
type closedPacket struct {
	number uint64
	data   []byte
	acks   []func(*packetReply)
}

// next closes the next packet if one is due. Otherwise it returns how long to wait.
func (o *outbox) next() (p closedPacket, wait time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.open) >= window || len(o.frames) == 0 && !o.urgent {
		return p, time.Hour
	}
	if now := o.urgent && len(o.open) < hurried || len(o.frames) >= fullPacket; !now {
		if wait = rowDelay - time.Since(o.since); wait > 0 {
			return p, wait
		}
	}
	o.number++
	o.open = append(o.open, o.number)
	data := appendUints([]byte{packetRequest}, o.session, o.number, o.open[0])
	p = closedPacket{o.number, o.report(append(data, o.frames...)), o.acks}
	o.frames, o.acks, o.urgent = o.frames[:0], nil, false
	if cap(o.frames) > 16*fullPacket {
		o.frames = nil
	}
	return p, 0
}

// deliver sends a packet until there is a reply.
func (o *outbox) deliver(ctx context.Context, p *closedPacket) {
	var reply *packetReply
	for ctx.Err() == nil {
		sent := time.Now()
		answer, err := o.link.Request(ctx, p.data)
		if err == nil {
			var r packetReply
			if r, err = readPacketReply(answer); err == nil {
				reply = &r
				o.replied(reply, sent)
				break
			}
		}
		select {
		case <-time.After(retryAfter):
		case <-ctx.Done():
		}
	}
	for _, ack := range p.acks {
		ack(reply)
	}
	o.mu.Lock()
	o.open = slices.DeleteFunc(o.open, func(n uint64) bool { return n == p.number })
	o.mu.Unlock()
	o.rouse()
}

// appendRow appends a row of a session in flight, with its lease.
func appendRow(dst []byte, l *lease, row []byte) []byte {
	if l == nil {
		return append(appendLease(dst, shards.Lease{}), row...)
	}
	return append(appendLease(dst, l.Lease), row...)
}

// readReply reads the answer to a call.
func readReply(data []byte) reply {
	r, err := record[reply](data)
	if err != nil {
		return reply{Error: codec.ErrDamaged.Error()}
	}
	return r
}

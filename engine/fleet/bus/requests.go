package bus

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// requests receives what workers send to the coordinator, and answers it. Requests and answers that are larger than a message
// travel in parts; the worker sends the former and asks for the latter, some at a time, so that no buffer between fills.
type requests struct {
	server *Server

	mu      sync.Mutex
	closed  bool
	partial map[partialKey]*partial
	memory  int64 // of the partial ones
}

// partialKey identifies a request of a worker, or its answer.
type partialKey struct {
	worker string
	id     uint64
	answer bool
}

// partial is a request or an answer that still lacks parts.
type partial struct {
	data  []byte
	left  uint64 // bytes that were not transferred
	timer *time.Timer
}

func newRequests(s *Server) *requests {
	return &requests{server: s, partial: map[partialKey]*partial{}}
}

// receive handles a message of a worker. The subject has its name, which the server has checked.
func (r *requests) receive(m *nats.Msg) {
	s := r.server
	worker := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]
	// The coordinator may publish anywhere, the worker may not: it must not choose another subject for its answer.
	if m.Reply != "" && !strings.HasPrefix(m.Reply, s.names.inbox(worker)+".") {
		s.log.Warn("fleet: a worker wants its answer elsewhere", "worker", worker)
		return
	}
	if len(m.Data) == 0 {
		return
	}
	if m.Data[0] == kindLeave {
		s.roster.hurry(worker, 0)
		r.answer(m, []byte{answerOK})
		return
	}
	if !s.roster.heard(worker) {
		r.answer(m, []byte{answerRemoved})
		return
	}
	var err error
	switch m.Data[0] {
	case kindBeat:
		err = r.beat(worker, m)
	case kindAcks:
		var all []ack
		if all, err = readAcks(m.Data[1:]); err == nil {
			s.tickets.acks(worker, all)
		}
	case kindPart:
		err = r.part(worker, m)
	case kindNext:
		err = r.next(worker, m)
	case kindRenew:
		s.serve(func() { r.answer(m, s.renewed(worker, m.Data[1:])) })
	default:
		err = errMalformed
	}
	if err != nil {
		r.answer(m, append([]byte{answerError}, err.Error()...))
	}
}

// answer answers a message, if the worker waits for it.
func (r *requests) answer(m *nats.Msg, data []byte) {
	if m.Reply == "" {
		return
	}
	if err := r.server.conn.Publish(m.Reply, data); err != nil && r.server.ctx.Err() == nil {
		r.server.log.Warn("fleet: an answer could not be sent", "subject", m.Subject, "error", err)
	}
}

func (r *requests) beat(worker string, m *nats.Msg) error {
	if len(m.Data) != 9 {
		return errMalformed
	}
	r.server.orders.check(worker, binary.BigEndian.Uint64(m.Data[1:]))
	if !r.server.roster.prepared(worker) {
		r.server.serve(func() { r.prepare(worker, m) })
		return nil
	}
	r.answer(m, []byte{answerOK})
	return nil
}

// prepare makes the queue of a worker that has joined an earlier coordinator, and then confirms its beat.
func (r *requests) prepare(worker string, m *nats.Msg) {
	if err := r.server.prepareWorker(worker); err != nil {
		r.answer(m, append([]byte{answerError}, err.Error()...))
		return
	}
	r.answer(m, []byte{answerOK})
}

// part receives a part of a request.
func (r *requests) part(worker string, m *nats.Msg) error {
	p, err := readPart(m.Data)
	if err != nil {
		return err
	}
	if uint64(len(p.data)) == p.size {
		r.handle(worker, p.id, p.data, m)
		return nil
	}
	whole, err := r.collect(partialKey{worker, p.id, false}, p)
	if err != nil {
		return err
	}
	if whole == nil {
		r.answer(m, []byte{answerOK})
		return nil
	}
	r.handle(worker, p.id, whole, m)
	return nil
}

// collect adds a part to its request, and returns the request if it is complete.
func (r *requests) collect(k partialKey, p part) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	have := r.partial[k]
	if have == nil {
		if err := r.reserve(p.size); err != nil {
			return nil, err
		}
		have = r.keep(k, make([]byte, p.size))
	}
	if uint64(len(have.data)) != p.size || uint64(len(p.data)) > have.left {
		return nil, errMalformed
	}
	copy(have.data[p.offset:], p.data)
	if r.transferred(k, have, len(p.data)) {
		return have.data, nil
	}
	return nil, nil
}

// reserve takes memory for a request or an answer that is transferred in parts. Lock is held.
func (r *requests) reserve(size uint64) error {
	limit := uint64(r.server.config.MaxPartial)
	if size > limit/2 {
		return fmt.Errorf("a message of %d bytes is too large: the limit is %d", size, limit/2)
	}
	if r.closed || size > limit-uint64(r.memory) {
		return ErrOverloaded
	}
	r.memory += int64(size)
	return nil
}

// keep keeps data, whose memory is reserved, until it was transferred or the worker has stopped to transfer it. Lock is held.
func (r *requests) keep(k partialKey, data []byte) *partial {
	p := &partial{data: data, left: uint64(len(data))}
	p.timer = time.AfterFunc(2*r.server.config.Timeout, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.partial[k] == p {
			r.drop(k)
		}
	})
	r.partial[k] = p
	return p
}

// transferred notes that a part was transferred, and tells whether it was the last one. Lock is held.
func (r *requests) transferred(k partialKey, p *partial, n int) bool {
	p.left -= min(uint64(n), p.left)
	p.timer.Reset(2 * r.server.config.Timeout)
	if p.left == 0 {
		r.drop(k)
	}
	return p.left == 0
}

// drop frees a request or an answer. Lock is held.
func (r *requests) drop(k partialKey) {
	p := r.partial[k]
	p.timer.Stop()
	r.memory -= int64(len(p.data))
	delete(r.partial, k)
}

// handle passes a request to the handler.
func (r *requests) handle(worker string, id uint64, request []byte, m *nats.Msg) {
	var once sync.Once
	r.server.handler.Request(worker, request, func(answer []byte) {
		once.Do(func() { r.reply(worker, id, answer, m) })
	})
}

// reply sends an answer, or its first part. The worker asks for the others.
func (r *requests) reply(worker string, id uint64, answer []byte, m *nats.Msg) {
	first := part{id: id, size: uint64(len(answer)), data: answer}
	if room := partSize(r.server.conn.Conn); len(answer) > room {
		first.data = answer[:room]
		if err := r.keepAnswer(partialKey{worker, id, true}, answer, room); err != nil {
			r.answer(m, append([]byte{answerError}, err.Error()...))
			return
		}
	}
	r.answer(m, appendPart(answerOK, first))
}

func (r *requests) keepAnswer(k partialKey, answer []byte, sent int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.partial[k] != nil {
		return errMalformed // the worker has used the number twice
	}
	if err := r.reserve(uint64(len(answer))); err != nil {
		return err
	}
	r.keep(k, answer).left -= uint64(sent)
	return nil
}

// next sends a part of an answer.
func (r *requests) next(worker string, m *nats.Msg) error {
	p, err := readPart(m.Data)
	if err != nil {
		return err
	}
	k := partialKey{worker, p.id, true}
	r.mu.Lock()
	have := r.partial[k]
	if have == nil || uint64(len(have.data)) != p.size {
		r.mu.Unlock()
		return errors.New("the answer is not kept any more")
	}
	p.data = have.data[p.offset:min(p.size, p.offset+uint64(partSize(r.server.conn.Conn)))]
	r.transferred(k, have, len(p.data))
	r.mu.Unlock()
	r.answer(m, appendPart(answerOK, p))
	return nil
}

func (r *requests) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for k := range r.partial {
		r.drop(k)
	}
}

// partSize is how much of a request or an answer fits into a message.
func partSize(c *nats.Conn) int { return int(min(c.MaxPayload(), maxPayload)) - partHead }

package pipe

import (
	"context"
	"encoding/binary"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/codec"
	"github.com/throng-sim/throng/engine/internal/alarm"
)

// host is the run at the other end of the pipe, as the worker's sessions see it.
type host struct {
	conn     *conn
	hello    hello
	ctx      context.Context
	settings atomic.Pointer[engine.Settings]
	injected atomic.Pointer[[]engine.Injection]
	alarm    alarm.Alarm

	mu     sync.Mutex
	calls  map[uint64]chan reply
	newest uint64
	known  map[engine.SharedKey]engine.Entry // answers of the run
	gone   bool
}

var _ engine.Host = (*host)(nil)

func newHost(c *conn, of hello, ctx context.Context) *host {
	h := &host{conn: c, hello: of, ctx: ctx, calls: map[uint64]chan reply{}, known: map[engine.SharedKey]engine.Entry{}}
	h.settings.Store(&of.Settings)
	h.injected.Store(new([]engine.Injection))
	return h
}

func (h *host) Run() engine.HostRun          { return h.hello.Run }
func (h *host) Context() context.Context     { return h.ctx }
func (h *host) Settings() *engine.Settings   { return h.settings.Load() }
func (h *host) Injected() []engine.Injection { return *h.injected.Load() }
func (h *host) Keeps() bool                  { return h.hello.Keeps }
func (h *host) Settle(claimed, spent engine.Outlay) {
	_ = h.conn.sendRecord(settleFrame, settled{claimed, spent})
}

func (h *host) Sleep(ctx context.Context, d time.Duration) error { return h.alarm.Sleep(ctx, d) }

func (h *host) Recorded(ctx context.Context, cycle, agent int) (engine.Prefix, error) {
	r := h.call(ctx, recordedCall, agentCall{Cycle: cycle, Agent: agent})
	return r.Entries, r.err()
}

func (h *host) Append(rows ...engine.Row) {
	for _, row := range rows {
		_ = h.conn.send(appendFrame, func(dst []byte) []byte { return codec.AppendJournaled(dst, row) })
	}
}

func (h *host) Commit(ctx context.Context, rows ...engine.Row) error {
	h.Append(rows[:len(rows)-1]...)
	r := h.send(ctx, commitCall, func(dst []byte) []byte { return codec.AppendJournaled(dst, rows[len(rows)-1]) })
	return r.err()
}

func (h *host) Doubt(since *engine.Inexact) bool { return h.call(h.ctx, doubtCall, since).OK }

func (h *host) TryClaim(a engine.Outlay) bool { return h.call(h.ctx, tryClaimCall, a).OK }

func (h *host) Claim(ctx context.Context, a engine.Outlay) error {
	r := h.call(ctx, claimCall, a)
	return r.err()
}

func (h *host) Recall(key engine.SharedKey) (engine.Entry, bool) {
	h.mu.Lock()
	e, ok := h.known[key]
	h.mu.Unlock()
	if ok {
		return e, true
	}
	r := h.call(h.ctx, recallCall, keyCall{Key: key})
	if r.OK {
		h.learn(key, r.Entry)
	}
	return r.Entry, r.OK
}

func (h *host) learn(key engine.SharedKey, e engine.Entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known[key] = e
}

func (h *host) TakeIntent(key engine.SharedKey, path string) (engine.Entry, bool) {
	r := h.call(h.ctx, takeIntentCall, keyCall{key, path})
	return r.Entry, r.OK
}

func (h *host) SettleShared(row engine.SharedRow, spent engine.Outlay) error {
	r := h.call(h.ctx, settleSharedCall, sharedCall{row, spent})
	err := r.err()
	if err == nil && row.Answers() {
		h.learn(row.Key, row.Entry)
	}
	return err
}

func (h *host) Traced(agent int, failed bool) bool {
	return h.call(h.ctx, tracedCall, agentCall{Agent: agent, Failed: failed}).OK
}

func (h *host) Trace(e engine.Exchange, failed bool) {
	_ = h.conn.sendRecord(traceFrame, traced{e, failed})
}

// call asks the run for something and waits for its answer, or for the end of ctx.
func (h *host) call(ctx context.Context, m method, body any) reply {
	return h.send(ctx, m, func(dst []byte) []byte { return codec.AppendWire(dst, body) })
}

func (h *host) send(ctx context.Context, m method, body func(dst []byte) []byte) reply {
	answer := make(chan reply, 1)
	h.mu.Lock()
	h.newest++
	id := h.newest
	if h.gone {
		h.mu.Unlock()
		return lost()
	}
	h.calls[id] = answer
	h.mu.Unlock()
	_ = h.conn.send(callFrame, func(dst []byte) []byte { return body(append(binary.AppendUvarint(dst, id), byte(m))) })
	select {
	case r := <-answer:
		return r
	case <-ctx.Done():
	}
	_ = h.conn.send(cancelFrame, func(dst []byte) []byte { return binary.AppendUvarint(dst, id) })
	select { // the run answers a canceled call, too: what it granted is not lost
	case r := <-answer:
		if r.Error != "" {
			return h.canceled(ctx)
		}
		return r
	case <-h.ctx.Done():
		return h.canceled(ctx)
	}
}

// canceled is the answer to a call whose context ended.
func (h *host) canceled(ctx context.Context) (r reply) {
	r.fail(cutCause(ctx))
	return r
}

// lost is the answer to a call when the other end is gone.
func lost() reply { return reply{Error: "the run's process is gone", Cut: true} }

// replied hands an answer to its caller.
func (h *host) replied(body []byte) error {
	id, k := binary.Uvarint(body)
	if k <= 0 {
		return codec.ErrDamaged
	}
	r, err := record[reply](body[k:])
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if answer, ok := h.calls[id]; ok {
		answer <- r
		delete(h.calls, id)
	}
	return nil
}

// close answers all calls: the other end is gone.
func (h *host) close() {
	h.alarm.Close()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gone = true
	for id, answer := range h.calls {
		answer <- lost()
		delete(h.calls, id)
	}
}

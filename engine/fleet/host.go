package fleet

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/codec"
	"github.com/throng-sim/throng/engine/internal/alarm"
)

// host is the run of another process, as the sessions of a worker see it.
type host struct {
	link     Link
	session  uint64
	of       engine.HostRun
	keeps    bool
	ctx      context.Context
	feed     *feed
	outbox   *outbox
	settings atomic.Pointer[engine.Settings]
	injected atomic.Pointer[[]engine.Injection]
	tracing  atomic.Pointer[tracing]
	alarm    alarm.Alarm
	over     func() // called when the coordinator says that all sessions are cut

	mu     sync.Mutex
	newest uint64
	open   map[uint64]struct{}               // calls without an answer
	known  map[engine.SharedKey]engine.Entry // answers of the run
	free   map[engine.Outlay]int             // claims in progress that were made while there was no budget
	failed failedTraces
}

var _ engine.Host = (*host)(nil)

// failedTraces limits how many failed exchanges are sent per second.
type failedTraces struct {
	second int64
	count  int
}

const maxFailedTraces = 50

func newHost(link Link, o *order, ctx context.Context, f *feed, over func()) *host {
	h := &host{
		link: link, session: o.Session, of: o.Host, keeps: o.Keeps, ctx: ctx, feed: f, over: over, open: map[uint64]struct{}{}, known: map[engine.SharedKey]engine.Entry{},
		free: map[engine.Outlay]int{},
	}
	h.settings.Store(o.Settings)
	h.injected.Store(new([]engine.Injection))
	h.tracing.Store(&o.Tracing)
	return h
}

func (h *host) Run() engine.HostRun          { return h.of }
func (h *host) Context() context.Context     { return h.ctx }
func (h *host) Settings() *engine.Settings   { return h.settings.Load() }
func (h *host) Injected() []engine.Injection { return *h.injected.Load() }
func (h *host) Keeps() bool                  { return h.keeps }

func (h *host) Sleep(ctx context.Context, d time.Duration) error { return h.alarm.Sleep(ctx, d) }

func (h *host) Recorded(ctx context.Context, cycle, agent int) (engine.Prefix, error) {
	r := h.call(ctx, recordedCall, agentCall{cycle, agent})
	return r.Entries, r.err()
}

// errLost cuts a session whose lease the worker has lost: another worker has it.
var errLost = fmt.Errorf("%w: another worker has taken the session over", engine.ErrCut)

// placeOf returns the session that a row belongs to; ok is false for rows of the run itself.
func placeOf(row engine.Row) (p engine.Place, ok bool) {
	switch r := row.(type) {
	case engine.IntentRow:
		return r.Place, true
	case engine.AnswerRow:
		return r.Place, true
	case engine.UnconfirmedRow:
		return r.Place, true
	}
	return p, false
}

func (h *host) Append(rows ...engine.Row) {
	for _, row := range rows {
		_ = h.add(row, nil)
	}
}

// add sends a row. It returns an error if the session is no longer this worker's.
func (h *host) add(row engine.Row, ack func(*packetReply)) error {
	var l *lease
	if p, ok := placeOf(row); ok {
		if l = h.feed.holder(p); l == nil {
			return errLost
		}
	}
	h.outbox.add(rowFrame, ack != nil, ack, func(dst []byte) []byte { return appendRow(dst, l, codec.AppendJournaled(nil, row)) })
	return nil
}

func (h *host) Commit(ctx context.Context, rows ...engine.Row) error {
	last := len(rows) - 1
	h.Append(rows[:last]...)
	place, ofSession := placeOf(rows[last])
	var l *lease
	if ofSession {
		l = h.feed.holder(place)
	}
	done := make(chan error, 1)
	err := h.add(rows[last], func(r *packetReply) {
		switch {
		case r == nil || r.Refused != "":
			done <- errLost
		case r.Failed != "":
			done <- r.failure()
		case l != nil && slices.Contains(r.Stale, l.Lease):
			done <- errLost
		default:
			done <- nil
		}
	})
	if err != nil {
		return err
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (h *host) Doubt(since *engine.Inexact) bool {
	of := doubt{Since: *since}
	h.feed.mu.Lock()
	for p, l := range h.feed.running {
		if p.Agent == since.Agent && p.Cycle == since.Cycle {
			of.Lease = l.Lease
		}
	}
	h.feed.mu.Unlock()
	return h.call(h.ctx, doubtCall, of).OK
}

// unlimited reports whether the run has no budget, so that claims need no answer.
func (h *host) unlimited() bool { return h.settings.Load().Budget == (engine.Budget{}) }

func (h *host) TryClaim(a engine.Outlay) bool {
	return h.claimFree(a) || h.call(h.ctx, tryClaimCall, a).OK
}

func (h *host) Claim(ctx context.Context, a engine.Outlay) error {
	if h.claimFree(a) {
		return nil
	}
	answer := make(chan reply, 1)
	go func() { answer <- h.call(h.ctx, claimCall, a) }()
	select {
	case r := <-answer:
		return r.err()
	case <-ctx.Done():
		go func() { // it may be granted all the same
			if r := <-answer; r.OK {
				h.settle(a, engine.Outlay{})
			}
		}()
		return context.Cause(ctx)
	}
}

// claimFree claims an amount if the run has no budget.
func (h *host) claimFree(a engine.Outlay) bool {
	if !h.unlimited() {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.free[a]++
	return true
}

func (h *host) Settle(claimed, spent engine.Outlay) {
	h.mu.Lock()
	if n := h.free[claimed]; n > 0 {
		if h.free[claimed] = n - 1; n == 1 {
			delete(h.free, claimed)
		}
		claimed = engine.Outlay{}
	}
	h.mu.Unlock()
	if claimed != (engine.Outlay{}) || spent != (engine.Outlay{}) {
		h.settle(claimed, spent)
	}
}

func (h *host) settle(claimed, spent engine.Outlay) {
	h.outbox.add(settleFrame, false, nil, func(dst []byte) []byte { return codec.AppendWire(dst, settled{claimed, spent}) })
}

// Recall returns an answer that this worker knows. AwaitShared knows the others.
func (h *host) Recall(key engine.SharedKey) (engine.Entry, bool) {
	h.mu.Lock()
	e, ok := h.known[key]
	h.mu.Unlock()
	if ok || h.of.Recording == "" {
		return e, ok
	}
	r := h.call(h.ctx, recallCall, keyCall{Key: key})
	return h.learn(key, &r)
}

func (h *host) learn(key engine.SharedKey, r *reply) (engine.Entry, bool) {
	if !r.OK {
		return engine.Entry{}, false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known[key] = r.Entry
	return r.Entry, true
}

func (h *host) AwaitShared(ctx context.Context, key engine.SharedKey) (e engine.Entry, known bool, release func(), err error) {
	release = func() {}
	if e, known = h.Recall(key); known {
		return e, true, release, nil
	}
	r := h.call(ctx, awaitSharedCall, keyCall{Key: key})
	if e, known = h.learn(key, &r); !known {
		release = func() { go h.call(h.ctx, releaseSharedCall, keyCall{Key: key}) }
	}
	return e, known, release, r.err()
}

func (h *host) TakeIntent(key engine.SharedKey, path string) (engine.Entry, bool) {
	r := h.call(h.ctx, takeIntentCall, keyCall{key, path})
	return r.Entry, r.OK
}

func (h *host) SettleShared(row engine.SharedRow, spent engine.Outlay) error {
	r := h.call(h.ctx, settleSharedCall, sharedCall{row, spent})
	err := r.err()
	if err == nil && row.Answers() {
		h.learn(row.Key, &reply{OK: true, Entry: row.Entry})
	}
	return err
}

func (h *host) Tracing() (all bool, agent int) {
	t := h.tracing.Load()
	return t.All, t.Agent
}

func (h *host) Traced(agent int, failed bool) bool {
	if all, watched := h.Tracing(); all || watched == agent || !failed {
		return all || watched == agent
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if second := time.Now().Unix(); second != h.failed.second {
		h.failed = failedTraces{second: second}
	}
	h.failed.count++
	return h.failed.count <= maxFailedTraces
}

func (h *host) Trace(e engine.Exchange, failed bool) {
	h.outbox.add(traceFrame, false, nil, func(dst []byte) []byte { return codec.AppendWire(dst, traced{e, failed}) })
}

// call asks the coordinator and waits for its answer, or for the end of ctx. It repeats a call that got no answer.
func (h *host) call(ctx context.Context, m method, body any) reply {
	return h.send(ctx, m, codec.AppendWire(nil, body))
}

func (h *host) send(ctx context.Context, m method, body []byte) reply {
	h.mu.Lock()
	h.newest++
	id := h.newest
	h.open[id] = struct{}{}
	oldest := slices.Min(slices.Collect(maps.Keys(h.open)))
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.open, id)
	}()
	data := request(callRequest, call{Session: h.session, ID: id, Oldest: oldest, Method: m, Body: body})
	for {
		answer, err := h.link.Request(ctx, data)
		if err == nil {
			r := readReply(answer)
			if r.Over {
				h.over()
			}
			return r
		}
		select {
		case <-time.After(retryAfter):
			continue
		case <-ctx.Done():
		case <-h.ctx.Done():
		}
		var r reply
		r.fail(cmp.Or(context.Cause(ctx), context.Cause(h.ctx), engine.ErrCut))
		return r
	}
}

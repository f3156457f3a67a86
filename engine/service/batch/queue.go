// Package batch sends model calls through a provider's batch API, in OpenAI's wire format: a file of requests is uploaded, a batch is
// created, polled until it ends, and its answers are downloaded. Answers may arrive in any order, twice or not at all. The list of
// a batch's calls is in the journal before the batch is created, so that a resumed run waits for a batch that is out and never pays
// for its calls again.
package batch

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/batches"
)

// The limits of OpenAI's batch API.
const (
	MostCalls = 50_000
	MostBytes = 200_000_000
)

// The defaults of [Config].
const (
	DefaultWait = time.Minute
	DefaultPoll = 30 * time.Second
)

// window is the time in which providers promise to answer a batch. OpenAI accepts no other.
const window = 24 * time.Hour

// lookEvery is how often a queue checks whether a batch is due.
const lookEvery = 20 * time.Millisecond

// Config says when batches are sent and polled. The zero value takes the defaults.
type Config struct {
	Size  int           // most calls in a batch, at most MostCalls
	Bytes int64         // most bytes of requests in a batch, at most MostBytes
	Wait  time.Duration // how long the first call waits for others that could join it
	Poll  time.Duration // longest time between two polls of a batch
}

func (c Config) withDefaults() Config {
	c.Size = min(cmp.Or(c.Size, MostCalls), MostCalls)
	c.Bytes = min(cmp.Or(c.Bytes, MostBytes), MostBytes)
	c.Wait, c.Poll = cmp.Or(c.Wait, DefaultWait), cmp.Or(c.Poll, DefaultPoll)
	return c
}

// Service is where batches are sent.
type Service struct {
	Name      string
	Address   func(path string) *url.URL // address of a path of the API, such as "/batches"
	Transport http.RoundTripper
}

// Journal is what the run keeps of its batches.
type Journal interface {
	// RunID returns the ID of the run.
	RunID() engine.RunID
	// Recall returns what Keep stored under a key, also in an earlier process.
	Recall(key engine.SharedKey) (data []byte, ok bool)
	// Keep stores data and returns when it is durable.
	Keep(key engine.SharedKey, data []byte) error
}

// Call is one request for a batch.
type Call struct {
	// ID identifies the call in its run, with at most 64 letters, digits and hyphens. A call with the ID of one in a batch that is out
	// gets that answer. A call that is sent again needs a new ID.
	ID       string
	Endpoint string // such as "/v1/chat/completions"
	Model    string
	Header   http.Header // with what signs the request in; those of one call of a batch are used for all of it
	Body     []byte
	// Idle reports whether no session can do anything before a batch returns; nil says that some always can.
	Idle func() bool
}

// Answer is the answer to a call.
type Answer struct {
	Status int
	Body   []byte
}

// Why a call has no answer.
var (
	// ErrExpired means that the batch ended before the provider reached the call, which is not billed.
	ErrExpired = errors.New("the batch ended before the model reached the request")
	// ErrMissing means that the batch has ended without an answer to the call, which may have been billed.
	ErrMissing = errors.New("the batch has ended without an answer to the request")
)

// Rejected is the error of calls whose batch the provider does not accept. They are not billed.
type Rejected struct {
	Status  int // HTTP status; 0 if the batch failed after its creation
	Message string
}

func (e *Rejected) Error() string { return "the provider rejects the batch: " + e.Message }

// Queue collects the calls of one service into batches. It is safe for concurrent use. Close it after its run.
type Queue struct {
	service Service
	cfg     Config
	ctx     context.Context
	end     context.CancelCauseFunc

	mu      sync.Mutex
	loaded  bool
	looking bool // a goroutine checks whether a batch is due
	next    int  // number of the next batch
	open    map[group]*batch
	holds   map[string]*batch // by the ID of a call
	running map[*batch]bool   // sent and not ended
	work    sync.WaitGroup
}

// group are calls that one batch may hold.
type group struct{ endpoint, model string }

var errClosed = errors.New("the run has ended")

// NewQueue returns an empty queue.
func NewQueue(s Service, c Config) *Queue {
	q := &Queue{
		service: s, cfg: c.withDefaults(), open: map[group]*batch{}, holds: map[string]*batch{}, running: map[*batch]bool{},
	}
	q.ctx, q.end = context.WithCancelCause(context.Background())
	return q
}

// Close ends the work on all batches, which stay with the provider, and waits for it.
func (q *Queue) Close() {
	q.end(errClosed)
	q.work.Wait()
}

// Ticket is the place of a call in a batch.
type Ticket struct {
	queue   *Queue
	journal Journal
	call    *Call
	in      *batch
}

// Enter adds a call to a batch, unless a batch that is out already holds it.
func (q *Queue) Enter(j Journal, c *Call) *Ticket {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.load(j)
	t := &Ticket{queue: q, journal: j, call: c}
	q.place(t)
	return t
}

// place finds or makes the batch of a ticket. mu is held.
func (q *Queue) place(t *Ticket) {
	if b := q.holds[t.call.ID]; b != nil {
		t.in = b
		if b.header == nil {
			b.header = t.call.Header
		}
		q.start(b)
		return
	}
	g := group{t.call.Endpoint, t.call.Model}
	b := q.open[g]
	if b != nil && b.bytes+lineBytes(t.call) > q.cfg.Bytes {
		q.seal(g)
		b = nil
	}
	if b == nil {
		b = newBatch(q, t.journal, g)
		b.header, b.since = t.call.Header, time.Now()
		q.open[g] = b
	}
	b.calls = append(b.calls, t.call)
	b.bytes += lineBytes(t.call)
	b.idle, t.in = t.call.Idle, b
	q.holds[t.call.ID] = b
	if len(b.calls) == q.cfg.Size {
		q.seal(g)
	} else if !q.looking {
		q.looking = true
		q.work.Go(q.look)
	}
}

// lineBytes estimates the length of a call in the file of its batch, generously.
func lineBytes(c *Call) int64 { return int64(len(c.Body) + len(c.ID) + len(c.Endpoint) + 100) }

// look sends batches that are due, until none is open.
func (q *Queue) look() {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-q.ctx.Done():
			return
		case <-tick.C:
		}
		if !q.sealDue() {
			return
		}
	}
}

// sealDue sends the batches that are due, and reports whether others are open.
func (q *Queue) sealDue() (left bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for g, b := range q.open {
		switch {
		case len(b.calls) == 0:
			delete(q.open, g)
		case time.Since(b.since) >= q.cfg.Wait || b.idle != nil && b.idle():
			q.seal(g)
		}
	}
	q.looking = len(q.open) > 0
	return q.looking
}

// seal sends the open batch of a group. mu is held.
func (q *Queue) seal(g group) {
	b := q.open[g]
	delete(q.open, g)
	b.number = q.next
	q.next++
	b.sealed = true
	for _, c := range b.calls {
		b.ids = append(b.ids, c.ID)
	}
	q.start(b)
}

// start begins the work on a batch that is complete, or that an earlier process sent. mu is held.
func (q *Queue) start(b *batch) {
	if !b.sealed || b.started || q.ctx.Err() != nil {
		return
	}
	b.started = true
	q.running[b] = true
	q.work.Go(func() {
		err := b.run(q.ctx)
		q.mu.Lock()
		defer q.mu.Unlock()
		b.err = err
		b.calls = nil
		delete(q.running, b)
		close(b.done)
	})
}

// Wait waits for the answer. Its error is ErrExpired, ErrMissing, a *Rejected, an error of the journal, or the cause of ctx.
func (t *Ticket) Wait(ctx context.Context) (*Answer, error) {
	for {
		select {
		case <-t.in.done:
		case <-ctx.Done():
			t.leave()
			return nil, context.Cause(ctx)
		case <-t.queue.ctx.Done():
			return nil, engine.ErrCut
		}
		if answer, err, again := t.take(); !again {
			return answer, err
		}
	}
}

// take takes the outcome from a batch that has ended. again means that the call is in another batch now, because this one never
// existed.
func (t *Ticket) take() (_ *Answer, err error, again bool) {
	q, b, id := t.queue, t.in, t.call.ID
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.holds[id] == b {
		delete(q.holds, id)
	}
	if b.err != nil {
		return nil, b.err, false
	}
	if b.never {
		q.place(t)
		return nil, nil, true
	}
	o := b.outcomes[id]
	delete(b.outcomes, id)
	switch {
	case o.answer != nil:
		return o.answer, nil, false
	case o.err != nil:
		return nil, o.err, false
	}
	return nil, ErrMissing, false
}

// Sent reports whether the call may be with the provider.
func (t *Ticket) Sent() bool {
	t.queue.mu.Lock()
	defer t.queue.mu.Unlock()
	return t.in.sealed
}

// leave removes the call from a batch that was not sent.
func (t *Ticket) leave() {
	q, b := t.queue, t.in
	q.mu.Lock()
	defer q.mu.Unlock()
	if b.sealed {
		return
	}
	for i, c := range b.calls {
		if c == t.call {
			b.calls = append(b.calls[:i], b.calls[i+1:]...)
			b.bytes -= lineBytes(c)
			break
		}
	}
	delete(q.holds, t.call.ID)
}

// State returns what waits for batches and is out in them.
func (q *Queue) State() batches.State {
	q.mu.Lock()
	defer q.mu.Unlock()
	var s batches.State
	for _, b := range q.open {
		s.Gathering += len(b.calls)
	}
	for b := range q.running {
		s.Open++
		s.Calls += len(b.ids)
		if s.Due.IsZero() || b.due.Before(s.Due) && !b.due.IsZero() {
			s.Due = b.due
		}
		if b.trouble != "" {
			s.Trouble = b.trouble
		}
	}
	return s
}

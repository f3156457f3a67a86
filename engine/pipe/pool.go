package pipe

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/codec"
	"github.com/throng-sim/throng/engine/run"
)

// Pool executes sessions in the process at the other end of a pipe. If that process goes away, the sessions in flight are
// cut, and so is the run.
type Pool struct {
	cfg       run.PoolConfig
	conn      *conn
	out       io.Closer
	results   chan *run.Batch
	abandoned chan struct{}
	closed    chan struct{}
	workers   atomic.Int64 // started, and not heard to have left
	lost      atomic.Bool  // the other end is gone

	mu    sync.Mutex
	view  view // as of the newest frame
	calls map[uint64]context.CancelFunc
}

var _ run.WorkerPool = (*Pool)(nil)

// New returns a pool whose sessions [Serve] executes at the other end of in and out. Close closes out.
func New(cfg run.PoolConfig, in io.Reader, out io.WriteCloser) (*Pool, error) {
	if cfg.Trail != nil {
		return nil, errors.New("the trail of a session stays in its process: execute the sessions in this one")
	}
	if cfg.Rescue == nil {
		cfg.Rescue = func() {}
	}
	p := &Pool{
		cfg: cfg, conn: newConn(in, out), out: out, results: make(chan *run.Batch, 64), abandoned: make(chan struct{}),
		closed: make(chan struct{}), calls: map[uint64]context.CancelFunc{},
	}
	h := cfg.Host
	err := p.conn.sendRecord(helloFrame, hello{h.Run(), *h.Settings(), h.Keeps(), cfg.MemoryBudget})
	if err != nil {
		return nil, err
	}
	context.AfterFunc(h.Context(), func() { _ = p.conn.send(cutFrame, nil) })
	go p.listen()
	return p, nil
}

// Begin opens a cycle.
func (p *Pool) Begin(s *run.Shard) {
	p.mu.Lock()
	p.view = view{Cycle: s.Cycle}
	if s.Size == 0 || s.Arrivals != nil {
		p.view.Progress.Filled = s.Ready
	}
	p.mu.Unlock()
	if s.Arrivals != nil { // the order is in Todo
		sent, schedule := *s, *s.Arrivals
		schedule.Order = nil
		sent.Arrivals, s = &schedule, &sent
	}
	_ = p.conn.sendRecord(beginFrame, s)
}

// Release lets sessions start.
func (p *Pool) Release(count int, waited time.Duration) {
	p.mu.Lock()
	p.view.Progress.Filled = time.Time{}
	p.mu.Unlock()
	_ = p.conn.sendRecord(releaseFrame, release{count, waited})
}

// Requeue starts a requeued session.
func (p *Pool) Requeue(place engine.Place) { _ = p.conn.sendRecord(againFrame, place) }

// PauseClock pauses or resumes the cycle's clock.
func (p *Pool) PauseClock(held bool) {
	var n int64
	if held {
		n = 1
	}
	_ = p.conn.sendNumber(holdFrame, n)
}

// End says that the cycle has ended.
func (p *Pool) End() { _ = p.conn.send(endFrame, nil) }

// Start starts workers.
func (p *Pool) Start(workers int, probe bool) {
	p.workers.Add(int64(workers))
	err := p.conn.sendRecord(startFrame, start{workers, probe})
	if err != nil || p.lost.Load() {
		p.lose()
	}
}

// SetLimit bounds the workers.
func (p *Pool) SetLimit(limit int) { _ = p.conn.sendNumber(limitFrame, int64(limit)) }

// Use puts settings in force.
func (p *Pool) Use(s *engine.Settings) { _ = p.conn.sendRecord(useFrame, s) }

// SetMemorySize sets the size of all agents' memory in bytes.
func (p *Pool) SetMemorySize(bytes int64) { _ = p.conn.sendNumber(rememberFrame, bytes) }

// Retire cancels the session of a retired agent.
func (p *Pool) Retire(agent int) { _ = p.conn.sendNumber(retireFrame, int64(agent)) }

// Results delivers batches.
func (p *Pool) Results() <-chan *run.Batch { return p.results }

// Recycle does nothing: each frame has its own memory.
func (p *Pool) Recycle(*run.Batch) {}

// Abandon returns what has arrived.
func (p *Pool) Abandon() (arrived []*run.Batch) {
	close(p.abandoned)
	for {
		select {
		case b := <-p.results:
			arrived = append(arrived, b)
		default:
			return arrived
		}
	}
}

// Close ends the worker's process.
func (p *Pool) Close() {
	close(p.closed)
	_ = p.out.Close()
}

// Progress says how far the open cycle is, as far as the worker has said.
func (p *Pool) Progress() run.Progress {
	p.mu.Lock()
	defer p.mu.Unlock()
	g := p.view.Progress
	g.InFlight = int(p.workers.Load())
	return g
}

// Oldest returns the n sessions in flight that began first.
func (p *Pool) Oldest(n int) []engine.Activity {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]engine.Activity(nil), p.view.Activity[:min(n, len(p.view.Activity))]...)
}

// Activity returns what an agent's session is at.
func (p *Pool) Activity(agent int) (engine.Activity, bool) {
	for _, d := range p.Oldest(mostShown) {
		if d.Agent == agent {
			return d, true
		}
	}
	return engine.Activity{}, false
}

// Mark shows the sessions in flight in a crowd.
func (p *Pool) Mark(c *engine.Crowd) {
	for _, d := range p.Oldest(mostShown) {
		c.Mark(&d)
	}
}

// listen carries out what the worker sends, until it is gone.
func (p *Pool) listen() {
	defer p.cfg.Rescue()
	for {
		kind, body, err := p.conn.receive()
		if err == nil {
			err = p.heard(kind, body)
		}
		if err != nil {
			break
		}
	}
	p.lost.Store(true)
	p.mu.Lock()
	for _, cancel := range p.calls {
		cancel()
	}
	p.mu.Unlock()
	p.lose()
}

// lose reports the workers as gone: their process is.
func (p *Pool) lose() {
	if gone := int(p.workers.Swap(0)); gone > 0 {
		p.deliver(run.NewBatch(nil, run.BatchCounts{Cut: gone, Departed: gone}))
	}
}

func (p *Pool) heard(kind byte, body []byte) error {
	switch kind {
	case batchFrame:
		return p.batch(body)
	case viewFrame:
		v, err := record[view](body)
		p.see(&v, true)
		return err
	case appendFrame:
		row, err := codec.ReadJournaled(body)
		if err == nil {
			p.cfg.Host.Append(row)
		}
		return err
	case settleFrame:
		s, err := record[settled](body)
		p.cfg.Host.Settle(s.Claimed, s.Spent)
		return err
	case traceFrame:
		t, err := record[traced](body)
		p.cfg.Host.Trace(t.Exchange, t.Failed)
		return err
	case throttledFrame:
		if p.cfg.Throttled != nil {
			go p.cfg.Throttled(string(body))
		}
		return nil
	case callFrame:
		return p.call(body)
	case cancelFrame:
		id, _ := binary.Uvarint(body)
		p.mu.Lock()
		defer p.mu.Unlock()
		if cancel, ok := p.calls[id]; ok {
			cancel()
		}
		return nil
	}
	return codec.ErrDamaged
}

// see notes how far the worker is with the open cycle.
func (p *Pool) see(v *view, sessions bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if v.Cycle != p.view.Cycle {
		return
	}
	p.view.Progress = v.Progress
	if sessions {
		p.view.Activity = v.Activity
	}
}

// batch journals sessions that ended and delivers them.
func (p *Pool) batch(body []byte) error {
	b, v, err := readBatch(body)
	if err != nil {
		return err
	}
	if rows := b.Rows(); len(rows) > 0 && p.cfg.Journal != nil {
		p.cfg.Journal(rows)
	}
	p.see(&v, false)
	p.workers.Add(-int64(b.Departed))
	p.deliver(b)
	return nil
}

func (p *Pool) deliver(b *run.Batch) {
	select {
	case p.results <- b:
	case <-p.abandoned:
	case <-p.closed:
	}
}

// call answers a call of the worker while it reads the next frames: an answer may have to wait.
func (p *Pool) call(body []byte) error {
	id, k := binary.Uvarint(body)
	if k <= 0 || k == len(body) {
		return codec.ErrDamaged
	}
	m, body := method(body[k]), body[k+1:]
	answer, err := p.answer(m, body)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(p.cfg.Host.Context())
	p.mu.Lock()
	p.calls[id] = cancel
	p.mu.Unlock()
	go func() {
		defer p.cfg.Rescue()
		r := answer(ctx)
		p.mu.Lock()
		delete(p.calls, id)
		p.mu.Unlock()
		cancel()
		_ = p.conn.send(replyFrame, func(dst []byte) []byte { return codec.AppendWire(binary.AppendUvarint(dst, id), &r) })
	}()
	return nil
}

// answer returns what answers a call.
func (p *Pool) answer(m method, body []byte) (func(ctx context.Context) reply, error) {
	h := p.cfg.Host
	switch m {
	case commitCall:
		row, err := codec.ReadJournaled(body)
		return func(ctx context.Context) (r reply) { r.fail(h.Commit(ctx, row)); return r }, err
	case doubtCall:
		since, err := record[engine.Inexact](body)
		return func(context.Context) reply { return reply{OK: h.Doubt(&since)} }, err
	case tryClaimCall:
		a, err := record[engine.Outlay](body)
		return func(context.Context) reply { return reply{OK: h.TryClaim(a)} }, err
	case claimCall:
		a, err := record[engine.Outlay](body)
		return func(ctx context.Context) (r reply) { r.fail(h.Claim(ctx, a)); return r }, err
	case recallCall, takeIntentCall:
		return p.shared(m, body)
	case settleSharedCall:
		s, err := record[sharedCall](body)
		return func(context.Context) (r reply) { r.fail(h.SettleShared(s.Row, s.Spent)); return r }, err
	case tracedCall:
		a, err := record[agentCall](body)
		return func(context.Context) reply { return reply{OK: h.Traced(a.Agent, a.Failed)} }, err
	case recordedCall:
		a, err := record[agentCall](body)
		return func(ctx context.Context) (r reply) {
			known, err := h.Recorded(ctx, a.Cycle, a.Agent)
			r.Entries = known
			r.fail(err)
			return r
		}, err
	}
	return nil, codec.ErrDamaged
}

// shared answers a call about an answer that belongs to the run.
func (p *Pool) shared(m method, body []byte) (func(ctx context.Context) reply, error) {
	of, err := record[keyCall](body)
	return func(context.Context) (r reply) {
		if m == recallCall {
			r.Entry, r.OK = p.cfg.Host.Recall(of.Key)
		} else {
			r.Entry, r.OK = p.cfg.Host.TakeIntent(of.Key, of.Path)
		}
		return r
	}, err
}

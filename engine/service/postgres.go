package service

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/breaker"
	"github.com/throng-sim/throng/engine/internal/clock"
	"github.com/throng-sim/throng/engine/service/database"
	"github.com/throng-sim/throng/engine/service/redact"
)

// Postgres is a client of one Postgres service, with a pool of its own.
type Postgres struct {
	name     string
	database *database.Server
	limits   database.Limits
	pool     *database.Pool
	timeout  atomic.Int64 // of one attempt, a time.Duration
	written  atomic.Int64
	learnt   atomic.Bool // what bounds the server has
	pooled   atomic.Bool // a pooler stands in front of it
	ownLimit atomic.Bool // it ends statements by itself
	witness  Witness

	descriptors descriptors

	breaker *breaker.Breaker
	retries *retryBudget
	renewal renewal
	answers answers
}

// NewPostgres returns a client of a database. It connects when the first step asks.
func NewPostgres(name string, d *database.Server, limits database.Limits) (*Postgres, error) {
	limits = limits.WithDefaults()
	p := &Postgres{name: name, database: d, limits: limits, breaker: breaker.New(name, limits.NoBreaker), retries: newRetryBudget()}
	config := d.Config.Copy()
	config.AfterConnect = p.learn
	var err error
	if p.pool, err = database.NewPool(config, limits); err != nil {
		return nil, fmt.Errorf("service %s: open its pool: %w", name, err)
	}
	p.timeout.Store(int64(limits.Timeout))
	return p, nil
}

// patience is how long one attempt may take.
func (p *Postgres) patience() time.Duration { return time.Duration(p.timeout.Load()) }

// Do carries out a call. The answer's body is JSON: {"count": rows, "rows": [{"column": value}]}, with no status that
// says more. Its error is as that of [HTTP.Do].
//
// A statement that reads is run in a transaction of its own that the server lets change nothing. Any other has an
// intent in the journal before it leaves. What may have been done before a crash, or before a connection was lost, is
// sent again and labelled unconfirmed, unless the call says that this is harmless, or once: Postgres knows no idempotency keys, so that it is the
// statement's own matter to do the same when it is repeated, as by ON CONFLICT DO NOTHING with a key that is made of
// session.uuid.
func (p *Postgres) Do(call *Call, s database.Statement) (*Answer, error) {
	hash := s.Hash()
	s, err := s.Revealed()
	if err != nil {
		return nil, err
	}
	call.what = redact.Shorten(strings.Join(strings.Fields(s.Query.Text), " "), mostNamed)
	call.changing = !s.Reads()
	return call.carry(hash, !s.Reads(), func(ctx context.Context) (*Answer, error) {
		if call.changing && (call.resent || call.Session.Take > 0) {
			call.inDoubt()
		}
		return p.send(ctx, call, &s)
	})
}

// send makes attempts until one counts.
func (p *Postgres) send(ctx context.Context, call *Call, s *database.Statement) (*Answer, error) {
	var pauses pauses
	began := time.Now()
	p.retries.earn(began)
	for {
		pass, err := p.admit(ctx, call)
		if err != nil {
			return nil, err
		}
		answer, t, err := p.attempt(ctx, call, s, pass)
		if errors.Is(err, errRenewed) || errors.Is(err, errSpared) {
			continue
		}
		if errors.Is(err, errDescriptors) {
			if err := p.descriptors.wait(ctx, call, p.name); err != nil {
				return nil, err
			}
			continue
		}
		if errors.Is(err, errNoRoom) { // no attempt: it waits until a connection is free, or can be opened
			if p.limits.Wait > 0 && time.Since(began) >= p.limits.Wait {
				return nil, p.noneFree()
			}
			continue
		}
		call.Record.Attempts++
		switch {
		case err != nil:
			return nil, err
		case t == nil:
			if err := call.accept(answer); err != nil {
				return nil, err
			}
			return answer, nil
		case !t.passing || !call.again(t.undone):
			return nil, call.last(t, s)
		}
		call.mayBeDone(t, s)
		if err := call.sleep(ctx, engine.RetryGate, pauses.next(call)); err != nil {
			return nil, err
		}
		if err := p.retries.spend(ctx, call); err != nil {
			return nil, err
		}
	}
}

// mayBeDone marks a call whose statement may have been done, though it failed: it is sent again, or it is not known.
func (c *Call) mayBeDone(t *trouble, s *database.Statement) {
	if !t.undone && !s.Reads() {
		c.inDoubt()
	}
}

// inDoubt labels a statement that may be carried out twice.
func (c *Call) inDoubt() {
	switch {
	case c.Once:
		c.Record.Label = engine.NotRepeated
	case c.Repeats == Harmless:
		c.Record.Label = engine.Resent
	default:
		c.Record.Label = engine.Unconfirmed
	}
}

// last is the failure of a call that makes no more attempts.
func (c *Call) last(t *trouble, s *database.Statement) error {
	if !t.passing || t.undone || s.Reads() { // the server has said what became of it, or it changes nothing
		return t.failure
	}
	c.mayBeDone(t, s)
	return engine.Fail(t.failure.Class, "%w; whether the statement was carried out is not known", t.failure.Err)
}

// begin waits until a statement may leave: the breaker lets it through, and it has a place in the pool.
func (p *Postgres) begin(ctx context.Context, call *Call) (breaker.Pass, error) {
	for {
		pass, err := p.breaker.Pass(ctx, call.holdAt(engine.BreakerGate))
		if err != nil {
			return pass, err
		}
		if err := p.enter(ctx, call); err != nil {
			p.breaker.Done(pass, breaker.SaysNothing, "")
			return pass, err
		}
		if p.breaker.Leave(&pass) {
			return pass, nil
		}
		p.pool.Limit.Release() // it opened meanwhile
	}
}

// admit lets the next attempt go: the budget first, then the breaker and a place.
func (p *Postgres) admit(ctx context.Context, call *Call) (pass breaker.Pass, err error) {
	if err := call.claim(ctx); err != nil {
		return pass, err
	}
	if pass, err = p.begin(ctx, call); err != nil {
		call.giveBack()
	}
	return pass, err
}

// errNoConnection is a failure like a service's that has too much to do, which holding back helps, and no timeout:
// nothing was asked.
var errNoConnection = errors.New("no connection was free in time")

// errNoRoom says that the server, or a pooler in front of it, accepts no more connections.
var errNoRoom = errors.New("there is no room for another connection")

// enter takes a place in the pool, held if it must wait, but no longer than its limit says, if there is one.
func (p *Postgres) enter(ctx context.Context, call *Call) error {
	if p.pool.Limit.TryAcquire() {
		return nil
	}
	err := call.held(engine.PlaceGate, func() error {
		if p.limits.Wait == 0 {
			return p.pool.Limit.Acquire(ctx)
		}
		waiting, cancel := context.WithTimeoutCause(ctx, p.limits.Wait, errNoConnection)
		defer cancel()
		return p.pool.Limit.Acquire(waiting)
	})
	if errors.Is(err, errNoConnection) && ctx.Err() == nil {
		return p.noneFree()
	}
	return err
}

// noneFree is the failure of a call that waited for a connection for as long as the limits let it.
func (p *Postgres) noneFree() error {
	if why := p.pool.WhyFull(); why != "" {
		return engine.Fail(engine.RateLimited, "%w (%s): %s", errNoConnection, p.limits.Wait, why)
	}
	return engine.Fail(engine.RateLimited, "%w: all %d and %d more were in use for %s; raise limits.connections, or run fewer sessions at once",
		errNoConnection, p.pool.Connections(), p.pool.BurstSize, p.limits.Wait)
}

// attempt runs the statement once, in a place that it gives back, and tells the breaker. err ends the call, unless it is
// errRenewed, errSpared or errDescriptors: then it counts as no attempt.
func (p *Postgres) attempt(ctx context.Context, call *Call, s *database.Statement, pass breaker.Pass) (answer *Answer, t *trouble, err error) {
	once, cancel := p.bounded(ctx, call, s)
	defer cancel()
	start, said := time.Now(), breaker.SaysNothing
	defer func() { // also if it panics
		switch {
		case p.breaker.Done(pass, said, t.text()) && call.Retry.Attempts > 1 && (!call.Once || t.undone):
			call.spare(time.Since(start))
			call.mayBeDone(t, s)
			answer, t, err = nil, nil, errSpared
		case errors.Is(err, errNoRoom):
			call.Record.Hold(engine.PlaceGate, time.Since(start))
		default:
			call.Record.Service += time.Since(start)
		}
	}()
	if pass.Probe { // the engine tries whether the server is there
		call.Clock.Hold()
		defer call.Clock.Release()
	}
	stood := clock.Lost()
	answer, connected, err := p.exchange(once, s, call.patience(&p.timeout))
	took := time.Since(start)
	if err != nil && !connected && ctx.Err() == nil {
		switch {
		case noDescriptor(err):
			call.giveBack()
			return nil, nil, errDescriptors
		case stoodStill(clock.Lost()-stood, took):
			call.giveBack()
			return nil, nil, errRenewed
		}
	}
	call.pay(call.cost(connected, answer))
	switch {
	case err == nil:
		said = breaker.Answered
		if err := call.holdRead(ctx, int64(len(answer.Body))); err != nil {
			return nil, nil, err
		}
		call.redact(answer)
		p.trace(s, call, attempted{start, took, nil, answer, nil, nil})
		return answer, nil, nil
	case wasRenewed(ctx, context.Cause(once)):
		return nil, nil, errRenewed
	case !connected && database.NoRoom(err) != "" && ctx.Err() == nil:
		said = breaker.WantsLess
		p.pool.Refuse(database.NoRoom(err))
		return nil, nil, errNoRoom
	}
	if t, err = p.sorted(ctx, once, err, connected, s, call); t != nil {
		said = call.firstly(t.says)
		p.trace(s, call, attempted{start, took, nil, nil, t.failure, nil})
	} else {
		p.trace(s, call, attempted{start, took, nil, nil, nil, err})
	}
	return nil, t, err
}

// timely is a context that ends after a time in which the process did not stand still.
func timely(ctx context.Context, patience time.Duration) (once context.Context, end func()) {
	once, cancel := context.WithCancelCause(ctx)
	timer := new(clock.Timer)
	timer.Start(patience, func() { cancel(errAttemptTimeout) })
	return once, func() {
		timer.Stop()
		cancel(context.Canceled)
	}
}

// bounded is the context of one attempt. One that reads is made again when the machine slept.
func (p *Postgres) bounded(ctx context.Context, call *Call, s *database.Statement) (once context.Context, cancel func()) {
	once, end := timely(ctx, call.patience(&p.timeout))
	if !s.Reads() || call.Once {
		return once, end
	}
	once, wake := context.WithCancelCause(once)
	over := p.renewal.watch(wake)
	return once, func() {
		over()
		wake(context.Canceled)
		end()
	}
}

// exchange runs the statement on a connection. connected says that it had one.
func (p *Postgres) exchange(ctx context.Context, s *database.Statement, patience time.Duration) (answer *Answer, connected bool, err error) {
	defer p.pool.Limit.Release()
	conn, release, err := p.pool.Acquire(ctx)
	if err != nil {
		return nil, false, err
	}
	defer release()
	p.witness.leaving(nil)
	body, written, err := s.Run(ctx, conn.Conn().PgConn(), p.serverLimit(patience), p.database.Role)
	if err != nil {
		return nil, true, err
	}
	p.witness.arrived()
	p.written.Add(written)
	return &Answer{Status: http.StatusOK, Body: body}, true, nil
}

// Open is how many connections are open.
func (p *Postgres) Open() int { return p.pool.Open() }

// Pool is what its connections do.
func (p *Postgres) Pool() engine.Pool { return p.pool.State() }

// Written is how many rows were inserted, updated and deleted.
func (p *Postgres) Written() int64 { return p.written.Load() }

// Close closes all connections, which nobody may use any more.
func (p *Postgres) Close() {
	p.breaker.Close()
	p.pool.Close()
}

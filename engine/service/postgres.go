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
	"github.com/throng-sim/throng/engine/internal/clock"
	"github.com/throng-sim/throng/engine/service/breaker"
	"github.com/throng-sim/throng/engine/service/database"
	"github.com/throng-sim/throng/engine/service/openfiles"
	"github.com/throng-sim/throng/engine/service/redact"
)

// Postgres is the client of one Postgres service, with a connection pool.
type Postgres struct {
	name     string
	database *database.Server
	limits   database.Limits
	pool     *database.Pool
	timeout  atomic.Int64 // of one attempt, a time.Duration
	written  atomic.Int64
	learned  atomic.Bool // the server's limits are known
	pooled   atomic.Bool // there is a pooler in front of the server
	ownLimit atomic.Bool // the server ends statements by itself
	witness  Witness

	openFiles openfiles.Waits

	breaker *breaker.Breaker
	retries *retryBudget
	renewal renewal
	answers answers
}

// NewPostgres returns a client of a database. It connects on the first call.
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

// Do carries out a call. The body of the answer is JSON: {"count": rows, "rows": [{"column": value}]}; its status is always 200.
// The errors are those of [HTTP.Do].
//
// A statement that reads runs in a read-only transaction. Any other has an intent in the journal before it is sent. If it may have
// been carried out before a crash or a lost connection, it is sent again and labeled unconfirmed, unless the call says that repeats
// are harmless, or sets Once. Postgres has no idempotency keys, so that the statement itself must be safe to repeat, for example
// with ON CONFLICT DO NOTHING and a key made of session.uuid.
func (p *Postgres) Do(call *Call, s database.Statement) (*Answer, error) {
	hash := s.Hash()
	s, err := s.Revealed()
	if err != nil {
		return nil, err
	}
	call.what = redact.Shorten(strings.Join(strings.Fields(s.Query.Text), " "), mostNamed)
	call.changing = !s.Reads()
	return call.perform(hash, !s.Reads(), func(ctx context.Context) (*Answer, error) {
		if call.changing && (call.resent || call.Session.Take > 0) {
			call.repetition().inDoubt()
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
		if errors.Is(err, openfiles.ErrTooMany) {
			if err := awaitFile(ctx, call, &p.openFiles, p.name); err != nil {
				return nil, err
			}
			continue
		}
		if errors.Is(err, errNoRoom) { // this does not count as an attempt: wait until a connection is free or can be opened
			if p.limits.Wait > 0 && time.Since(began) >= p.limits.Wait {
				return nil, noneFree(p)
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
			return nil, call.repetition().last(t, s)
		}
		call.repetition().mayBeDone(t, s)
		if err := call.sleep(ctx, engine.ThrottledByRetry, pauses.next(call)); err != nil {
			return nil, err
		}
		if err := p.retries.spend(ctx, call); err != nil {
			return nil, err
		}
	}
}

// mayBeDone labels a failed call whose statement may have been carried out.
func (c repetition) mayBeDone(t *trouble, s *database.Statement) {
	if !t.undone && !s.Reads() {
		c.repetition().inDoubt()
	}
}

// inDoubt labels a statement that may be carried out twice.
func (c repetition) inDoubt() {
	switch {
	case c.Once:
		c.Record.Label = engine.NotRepeated
	case c.Repeats == Harmless:
		c.Record.Label = engine.Resent
	default:
		c.Record.Label = engine.Unconfirmed
	}
}

// last returns the failure of a call without further attempts.
func (c repetition) last(t *trouble, s *database.Statement) error {
	if !t.passing || t.undone || s.Reads() { // the server has told the outcome, or the statement changes nothing
		return t.failure
	}
	c.repetition().mayBeDone(t, s)
	return engine.Fail(t.failure.Class, "%w; whether the statement was carried out is not known", t.failure.Err)
}

// begin waits until a statement may leave: the breaker lets it pass, and the pool has a slot.
func (p *Postgres) begin(ctx context.Context, call *Call) (breaker.Pass, error) {
	for {
		pass, err := p.breaker.Pass(call.queue().available(ctx, p.name))
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
		p.pool.Limit.Release() // the breaker opened in the meantime
	}
}

// admit waits until the next attempt may start: first for the budget, then for the breaker and a slot.
func (p *Postgres) admit(ctx context.Context, call *Call) (pass breaker.Pass, err error) {
	if err := call.budget().claim(ctx); err != nil {
		return pass, err
	}
	if pass, err = p.begin(ctx, call); err != nil {
		call.budget().releaseClaim()
	}
	return pass, err
}

// errNoConnection means that the service is overloaded, so that throttling helps. It is not a timeout: nothing was sent.
var errNoConnection = errors.New("no connection was free in time")

// errNoRoom means that the server, or a pooler in front of it, accepts no more connections.
var errNoRoom = errors.New("there is no room for another connection")

// enter takes a slot of the pool, and waits up to the limit for it.
func (p *Postgres) enter(ctx context.Context, call *Call) error {
	if p.pool.Limit.TryAcquire() {
		return nil
	}
	err := call.held(engine.ThrottledBySlots, func() error {
		if p.limits.Wait == 0 {
			return p.pool.Limit.Acquire(ctx)
		}
		waiting, cancel := context.WithTimeoutCause(ctx, p.limits.Wait, errNoConnection)
		defer cancel()
		return p.pool.Limit.Acquire(waiting)
	})
	if errors.Is(err, errNoConnection) && ctx.Err() == nil {
		return noneFree(p)
	}
	return err
}

// noneFree returns the failure of a call that waited too long for a connection.
func noneFree(p *Postgres) error {
	if why := p.pool.WhyFull(); why != "" {
		return engine.Fail(engine.RateLimited, "%w (%s): %s", errNoConnection, engine.FormatDuration(p.limits.Wait), why)
	}
	keep, burst := p.pool.Sizes()
	return engine.Fail(engine.RateLimited, "%w: all %d and %d more were in use for %s; raise limits.connections, or lower the concurrency limit",
		errNoConnection, keep, burst, engine.FormatDuration(p.limits.Wait))
}

// attempt runs the statement once, releases the slot and reports to the breaker. err ends the call, unless it is errRenewed,
// errSpared, openfiles.ErrTooMany or errNoRoom: then the attempt does not count.
func (p *Postgres) attempt(ctx context.Context, call *Call, s *database.Statement, pass breaker.Pass) (answer *Answer, t *trouble, err error) {
	once, cancel := p.bounded(ctx, call, s)
	defer cancel()
	start, said := time.Now(), breaker.SaysNothing
	defer func() { // also after a panic
		switch {
		case p.breaker.Done(pass, said, t.text()) && call.Retry.Attempts > 1 && (!call.Once || t.undone):
			call.outcome().countSpared(time.Since(start))
			call.repetition().mayBeDone(t, s)
			answer, t, err = nil, nil, errSpared
		case errors.Is(err, errNoRoom):
			call.Record.Hold(engine.ThrottledBySlots, time.Since(start))
		default:
			call.Record.Service += time.Since(start)
		}
	}()
	if pass.Probe { // a probe takes no time of the step
		call.Clock.Hold()
		defer call.Clock.Release()
	}
	stood := clock.Lost()
	answer, connected, err := p.exchange(once, s, call.patience(&p.timeout))
	took := time.Since(start)
	if err != nil && !connected && ctx.Err() == nil {
		switch {
		case openfiles.Caused(err):
			call.budget().releaseClaim()
			return nil, nil, openfiles.ErrTooMany
		case stoodStill(clock.Lost()-stood, took):
			call.budget().releaseClaim()
			return nil, nil, errRenewed
		}
	}
	call.budget().pay(connected, answer)
	switch {
	case err == nil:
		said = breaker.Answered
		if err := call.space().claimRead(ctx, int64(len(answer.Body))); err != nil {
			return nil, nil, err
		}
		call.display().redact(answer)
		p.trace(s, call, &attempted{start, took, nil, answer, nil, nil})
		return answer, nil, nil
	case wasRenewed(ctx, context.Cause(once)):
		return nil, nil, errRenewed
	case !connected && database.NoRoom(err) != "" && ctx.Err() == nil:
		said = breaker.WantsLess
		p.pool.Refuse(database.NoRoom(err))
		return nil, nil, errNoRoom
	}
	if t, err = p.classify(ctx, once, err, connected, s, call); t != nil {
		said = call.outcome().orRepeated(t.says)
		p.trace(s, call, &attempted{start, took, nil, nil, t.failure, nil})
	} else {
		p.trace(s, call, &attempted{start, took, nil, nil, nil, err})
	}
	return nil, t, err
}

// timely returns a context that times out after patience, not counting time in which the process stood still.
func timely(ctx context.Context, patience time.Duration) (once context.Context, end func()) {
	once, cancel := context.WithCancelCause(ctx)
	timer := new(clock.Timer)
	timer.Start(patience, func() { cancel(errAttemptTimeout) })
	return once, func() {
		timer.Stop()
		cancel(context.Canceled)
	}
}

// bounded returns the context of one attempt. A statement that reads is repeated after the machine slept.
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

// exchange runs the statement on a connection. connected says that there was one.
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

// Divide limits a worker's client to one of several equal parts of the service's connections, by its index from 0. Call it after
// [NewPostgres], and again when workers join or leave: first with smaller parts, then, when [Postgres.Settled] reports true for all,
// with larger ones. It returns an error if there are more parts than connections.
func (p *Postgres) Divide(index, parts int) error {
	if err := p.pool.Divide(index, parts); err != nil {
		return fmt.Errorf("service %s: %w", p.name, err)
	}
	return nil
}

// Settled reports whether the open connections fit the client's part.
func (p *Postgres) Settled() bool { return p.pool.Settled() }

// Open returns the number of open connections.
func (p *Postgres) Open() int { return p.pool.Open() }

// Pool returns the state of the connections.
func (p *Postgres) Pool() engine.Pool { return p.pool.State() }

// Written returns the number of rows inserted, updated and deleted.
func (p *Postgres) Written() int64 { return p.written.Load() }

// Close closes all connections. No call may be in progress.
func (p *Postgres) Close() {
	p.breaker.Close()
	p.pool.Close()
}

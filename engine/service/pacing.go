package service

import (
	"context"
	"net/http"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/concurrency"
	"github.com/throng-sim/throng/engine/internal/pace"
)

// enter takes a place among the service's calls and among those of all that it shares a bound with, and its turn; held as
// long as it must wait. A call that waits for the turn of its bucket has no place meanwhile: those of other buckets need it.
func (t *transport) enter(ctx context.Context, call *Call) error {
	for {
		if err := call.enter(ctx, engine.PlaceGate, t.bound); err != nil {
			return err
		}
		if !t.try(call) {
			if err := t.wait(ctx, call); err != nil {
				return err
			}
			if !call.placed {
				continue
			}
		}
		recalled, err := t.share(ctx, call)
		switch {
		case err != nil:
			t.giveBack(call)
			t.bound.Release()
			return err
		case !recalled:
			call.left = time.Now()
			return nil
		}
		t.leave()
		t.giveBack(call)
	}
}

// try takes the turn of a call that need not wait for it.
func (t *transport) try(call *Call) bool {
	call.left = time.Now()
	call.bucket = t.buckets.of(call.Endpoint)
	if call.bucket != nil && !call.bucket.rateLimiter.Try(call.left) {
		return false
	}
	if t.rateLimiter.Try(call.left) {
		return true
	}
	if call.bucket != nil {
		call.bucket.rateLimiter.GiveBack()
	}
	return false
}

// wait waits for the turn of a call that has a place. Where the service has buckets it gives the place back for as long,
// and the turn if there is no place then: call.placed says whether it has both.
func (t *transport) wait(ctx context.Context, call *Call) error {
	call.placed = call.bucket == nil
	if !call.placed {
		t.bound.Release()
		if err := call.pace(ctx, call.bucket.rateLimiter, &call.ticket); err != nil {
			return err
		}
	}
	came := call.left
	if err := call.pace(ctx, t.rateLimiter, &call.whole); err != nil {
		if call.bucket != nil {
			call.bucket.rateLimiter.GiveBack()
		}
		if call.placed {
			t.bound.Release()
		}
		return err
	}
	if call.placed {
		return nil
	}
	call.placed = t.bound.TryAcquire()
	if call.placed && call.bucket.rateLimiter.Recalled(time.Now(), came) {
		t.bound.Release()
		call.placed = false
	}
	if !call.placed {
		t.giveBack(call)
	}
	return nil
}

// share takes a place among the calls of all services, which no call has that is made to wait, and reports whether the
// service refused something meanwhile, so that the turn is none.
func (t *transport) share(ctx context.Context, call *Call) (recalled bool, err error) {
	if t.shared == nil {
		return false, nil
	}
	if err := call.enter(ctx, engine.ModelGate, t.shared); err != nil {
		return false, err
	}
	now := time.Now()
	return t.rateLimiter.Recalled(now, call.left) || call.bucket != nil && call.bucket.rateLimiter.Recalled(now, call.left), nil
}

// giveBack gives the turn of a call back.
func (t *transport) giveBack(call *Call) {
	if call.bucket != nil {
		call.bucket.rateLimiter.GiveBack()
	}
	t.rateLimiter.GiveBack()
}

func (t *transport) leave() {
	t.bound.Release()
	if t.shared != nil {
		t.shared.Release()
	}
}

func (c *Call) enter(ctx context.Context, at engine.Gate, l *concurrency.Limit) error {
	if l.TryAcquire() {
		return nil
	}
	return c.held(at, func() error { return l.Acquire(ctx) })
}

// pace waits for the call's turn, held by the rate or by what the service refused. ticket is its rank there.
func (c *Call) pace(ctx context.Context, p *pace.Limiter, ticket *uint64) error {
	if c.left = time.Now(); p.Try(c.left) {
		return nil
	}
	turn := p.Join(c.left, *ticket)
	*ticket = turn.Ticket
	for {
		wait := turn.Ask(c.left)
		if wait.For == 0 {
			return nil
		}
		at := engine.RateGate
		if wait.Refused {
			at = engine.RefusalGate
		}
		if err := c.await(ctx, at, wait); err != nil {
			turn.Leave()
			return err
		}
		c.left = time.Now()
	}
}

// await waits for as long as it takes, or until something has changed.
func (c *Call) await(ctx context.Context, at engine.Gate, wait pace.Wait) error {
	return c.held(at, func() error {
		timer := time.NewTimer(wait.For)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-wait.Changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		return nil
	})
}

// limiter is what limits the requests of a call: its bucket, or the whole service.
func (t *transport) limiter(call *Call) *pace.Limiter {
	if call.bucket != nil {
		return call.bucket.rateLimiter
	}
	return t.rateLimiter
}

// heard tells the rate limiters what became of a request: what the service says that it has left, whether it answered or failed,
// and which bucket it belongs to. Of a 429 refused tells.
func (t *transport) heard(call *Call, answer *Answer, failure *engine.StepError) {
	now := time.Now()
	switch {
	case answer == nil:
		if failure != nil {
			t.trouble(call, now)
		}
		return
	case answer.Status == http.StatusTooManyRequests:
	case answer.Status >= 500:
		t.trouble(call, now)
	default:
		t.limiter(call).Accept(now, call.left)
		if call.bucket != nil {
			t.rateLimiter.Accept(now, call.left)
		}
	}
	if b := t.buckets.rename(call.Endpoint, answer.bucket); b != nil && b != call.bucket {
		call.former, call.bucket = call.bucket, b
	}
	if answer.quota != (pace.Quota{}) {
		t.limiter(call).Observe(now, answer.quota)
	}
}

func (t *transport) trouble(call *Call, now time.Time) {
	t.rateLimiter.Trouble(now)
	if call.bucket != nil {
		call.bucket.rateLimiter.Trouble(now)
	}
}

// refused has all calls of the bucket, or of the service, wait after a 429 as long as the service says. One whose quota is gone for long is exhausted:
// who asks for a session waits until it is there again, or the run's end; who asks for none is told.
func (t *transport) refused(call *Call, a *Answer, wait *refusals) error {
	t.rejected.Add(1)
	now := time.Now()
	why, until := a.exhausted(now)
	at := t.limiter(call)
	if a.global {
		at = t.rateLimiter
	}
	if call.bucket != nil {
		call.bucket.refused.Add(1)
	}
	switch {
	case why == "":
		pause := wait.next(a, t.limiter(call).Limits().Start > 0)
		at.Refuse(now, call.left, pause)
		if call.former != nil { // whose calls wait there
			call.former.rateLimiter.Refuse(now, call.left, pause)
			call.former = nil
		}
	case call.Session == nil:
		call.Record.Attempts++
		return engine.Fail(engine.ClientError, "%s%s", why, call.excerpt(a))
	default:
		at.Exhaust(now, why+call.excerpt(a), until)
	}
	return nil
}

// leastRate is the slowest that a rate limiter makes the calls of a service by itself, per second.
const leastRate = 1

// pace is what the limits say of the rate.
func (l Limits) pace() pace.Limits {
	return pace.Limits{Mode: l.Pace, Start: l.Rate, Floor: min(leastRate, l.Rate), Ceiling: max(l.MaxRate, l.Rate), Burst: l.Burst}
}

// spent tells the rate limiter how many tokens a call of a model used.
func (h *HTTP) spent(call *Call) {
	if u := call.Record.Usage; u != nil {
		h.transport.limiter(call).Spent(int(u.Input + u.Output))
	}
}

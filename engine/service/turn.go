package service

import (
	"context"
	"net/http"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/concurrency"
	"github.com/throng-sim/throng/engine/internal/pace"
	"github.com/throng-sim/throng/engine/internal/stopping"
)

// enter takes a slot of the service, its turn at the rate limiters, and a slot of the shared limit; it waits as long as necessary.
// A call that waits for its bucket holds no slot in the meantime, so that calls of other buckets can proceed.
func (t *transport) enter(ctx context.Context, call *Call) error {
	for {
		if err := call.queue().enter(ctx, engine.ThrottledBySlots, t.bound); err != nil {
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
			t.returnTurn(call)
			t.bound.Release()
			return err
		case !recalled:
			call.left = time.Now()
			return nil
		}
		t.leave()
		t.returnTurn(call)
	}
}

// try takes the turn of a call that does not have to wait.
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

// wait waits for the turn of a call that holds a slot. If the service has buckets, it releases the slot while waiting, and returns
// the turn if no slot is free then. call.placed says whether the call has both.
func (t *transport) wait(ctx context.Context, call *Call) error {
	call.placed = call.bucket == nil
	if !call.placed {
		t.bound.Release()
		if err := call.queue().pace(ctx, call.bucket.rateLimiter, &call.ticket); err != nil {
			return err
		}
	}
	came := call.left
	if err := call.queue().pace(ctx, t.rateLimiter, &call.whole); err != nil {
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
		t.returnTurn(call)
	}
	return nil
}

// share takes a slot of the shared limit; throttled calls hold none. It reports whether the service refused a request in the
// meantime, so that the turn is void.
func (t *transport) share(ctx context.Context, call *Call) (recalled bool, err error) {
	if t.shared == nil {
		return false, nil
	}
	if err := call.queue().enter(ctx, engine.ThrottledByModels, t.shared); err != nil {
		return false, err
	}
	now := time.Now()
	return t.rateLimiter.Recalled(now, call.left) || call.bucket != nil && call.bucket.rateLimiter.Recalled(now, call.left), nil
}

// returnTurn returns the turn of a call.
func (t *transport) returnTurn(call *Call) {
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

func (c queue) enter(ctx context.Context, at engine.ThrottleCause, l *concurrency.Limit) error {
	if l.TryAcquire() {
		return nil
	}
	return c.held(at, func() error { return l.Acquire(ctx) })
}

// pace waits for the call's turn, throttled by the rate or by a refusal. ticket is its rank in the queue.
func (c queue) pace(ctx context.Context, p *pace.Limiter, ticket *uint64) error {
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
		at := engine.ThrottledByRate
		if wait.Refused {
			at = engine.ThrottledByRefusal
		}
		if err := c.queue().await(ctx, at, wait); err != nil {
			turn.Leave()
			return err
		}
		c.left = time.Now()
	}
}

// await waits until the time is over or something has changed.
func (c queue) await(ctx context.Context, at engine.ThrottleCause, wait pace.Wait) error {
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

// available returns a function that waits until a service answers again. If the run is ending, the session is cut instead: it could
// delay the end for as long as the service is unavailable.
func (c queue) available(ctx context.Context, service string) func(wait func(ctx context.Context) error) error {
	return func(wait func(ctx context.Context) error) error {
		ctx, end := stopping.Until(ctx, engine.CutAlone(service+" does not answer, and the run is ending"))
		defer end()
		return c.held(engine.ThrottledByBreaker, func() error { return wait(ctx) })
	}
}

// limiter returns the rate limiter of a call: that of its bucket, or of the whole service.
func (t *transport) limiter(call *Call) *pace.Limiter {
	if call.bucket != nil {
		return call.bucket.rateLimiter
	}
	return t.rateLimiter
}

// observe tells the rate limiters the outcome of a request: what the service says is left, success or failure, and its bucket.
// refused handles 429s.
func (t *transport) observe(call *Call, answer *Answer, failure *engine.StepError) {
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

// refused makes all calls of the bucket, or of the service, wait after a 429 as long as the service says. A quota that is used up
// for long counts as exhausted: calls of a session then wait until it is available again, or for the end of the run; calls without
// a session fail.
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
		if call.former != nil { // calls already wait there
			call.former.rateLimiter.Refuse(now, call.left, pause)
			call.former = nil
		}
	case call.Session == nil:
		call.Record.Attempts++
		return engine.Fail(engine.ClientError, "%s%s", why, call.display().excerpt(a))
	default:
		at.Exhaust(now, why+call.display().excerpt(a), until)
	}
	return nil
}

// leastRate is the lowest rate that a rate limiter sets by itself, per second.
const leastRate = 1

// pace returns the limits of a rate limiter.
func (l Limits) pace() pace.Limits {
	return pace.Limits{Mode: l.Pace, Start: l.Rate, Floor: min(leastRate, l.Rate), Ceiling: max(l.MaxRate, l.Rate), Burst: l.Burst}
}

// spent tells the rate limiter how many tokens a model call used.
func (h *HTTP) spent(call *Call) {
	if u := call.Record.Usage; u != nil {
		h.transport.limiter(call).Spent(int(u.Input + u.Output))
	}
}

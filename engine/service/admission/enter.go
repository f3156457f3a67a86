package admission

import (
	"context"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/concurrency"
	"github.com/throng-sim/throng/engine/internal/pace"
)

// Enter implements [Admitter]. It takes a slot of the service, the turn at its rate limiters, and a slot of the shared limit; it
// waits as long as necessary. A request that waits for its bucket holds no slot in the meantime, so that requests of other buckets
// can proceed.
func (c *Controller) Enter(ctx context.Context, r *Request, h Holder) error {
	for {
		if err := enter(ctx, h, engine.ThrottledBySlots, c.bound); err != nil {
			return err
		}
		if !c.try(r) {
			if err := c.wait(ctx, r, h); err != nil {
				return err
			}
			if !r.placed {
				continue
			}
		}
		recalled, err := c.share(ctx, r, h)
		switch {
		case err != nil:
			c.GiveBack(r)
			c.bound.Release()
			return err
		case !recalled:
			r.Left = time.Now()
			return nil
		}
		c.Leave(r)
		c.GiveBack(r)
	}
}

// TryEnter is Enter for a request that does not wait. It reports whether the request was admitted.
func (c *Controller) TryEnter(r *Request) bool {
	if !c.bound.TryAcquire() {
		return false
	}
	if c.try(r) {
		if c.shared == nil || c.shared.TryAcquire() {
			return true
		}
		c.GiveBack(r)
	}
	c.bound.Release()
	return false
}

// Force counts n requests as in flight that were not admitted, even above the limits. Leave ends each of them.
func (c *Controller) Force(n int) {
	c.bound.Force(n)
	if c.shared != nil {
		c.shared.Force(n)
	}
}

// try takes the turn of a request that does not have to wait.
func (c *Controller) try(r *Request) bool {
	r.Left = time.Now()
	r.bucket = c.buckets.of(r.Endpoint)
	if r.bucket != nil && !r.bucket.rateLimiter.Try(r.Left) {
		return false
	}
	if c.whole.Try(r.Left) {
		return true
	}
	if r.bucket != nil {
		r.bucket.rateLimiter.GiveBack()
	}
	return false
}

// wait waits for the turn of a request that holds a slot. If the service has buckets, it releases the slot while waiting, and
// returns the turn if no slot is free then. r.placed says whether the request has both.
func (c *Controller) wait(ctx context.Context, r *Request, h Holder) error {
	r.placed = r.bucket == nil
	if !r.placed {
		c.bound.Release()
		if err := r.await(ctx, h, r.bucket.rateLimiter, &r.Ticket); err != nil {
			return err
		}
	}
	came := r.Left
	if err := r.await(ctx, h, c.whole, &r.whole); err != nil {
		if r.bucket != nil {
			r.bucket.rateLimiter.GiveBack()
		}
		if r.placed {
			c.bound.Release()
		}
		return err
	}
	if r.placed {
		return nil
	}
	r.placed = c.bound.TryAcquire()
	if r.placed && r.bucket.rateLimiter.Recalled(time.Now(), came) {
		c.bound.Release()
		r.placed = false
	}
	if !r.placed {
		c.GiveBack(r)
	}
	return nil
}

// share takes a slot of the shared limit; throttled requests hold none. It reports whether the service refused a request in the
// meantime, so that the turn is void.
func (c *Controller) share(ctx context.Context, r *Request, h Holder) (recalled bool, err error) {
	if c.shared == nil {
		return false, nil
	}
	if err := enter(ctx, h, engine.ThrottledByModels, c.shared); err != nil {
		return false, err
	}
	now := time.Now()
	return c.whole.Recalled(now, r.Left) || r.bucket != nil && r.bucket.rateLimiter.Recalled(now, r.Left), nil
}

// GiveBack implements [Admitter].
func (c *Controller) GiveBack(r *Request) {
	if r.bucket != nil {
		r.bucket.rateLimiter.GiveBack()
	}
	c.whole.GiveBack()
}

// Leave implements [Admitter].
func (c *Controller) Leave(*Request) {
	c.bound.Release()
	if c.shared != nil {
		c.shared.Release()
	}
}

func enter(ctx context.Context, h Holder, at engine.ThrottleCause, l *concurrency.Limit) error {
	if l.TryAcquire() {
		return nil
	}
	return h.Hold(at, func() (engine.ThrottleCause, error) { return at, l.Acquire(ctx) })
}

// await waits for the request's turn, throttled by the rate or by a refusal. ticket is its rank in the queue.
func (r *Request) await(ctx context.Context, h Holder, p *pace.Limiter, ticket *uint64) error {
	if r.Left = time.Now(); p.Try(r.Left) {
		return nil
	}
	turn := p.Join(r.Left, *ticket)
	*ticket = turn.Ticket
	for {
		wait := turn.Ask(r.Left)
		if wait.For == 0 {
			return nil
		}
		at := engine.ThrottledByRate
		if wait.Refused {
			at = engine.ThrottledByRefusal
		}
		if err := sleep(ctx, h, at, wait); err != nil {
			turn.Leave()
			return err
		}
		r.Left = time.Now()
	}
}

// sleep waits until the time is over or something has changed.
func sleep(ctx context.Context, h Holder, at engine.ThrottleCause, wait pace.Wait) error {
	return h.Hold(at, func() (engine.ThrottleCause, error) {
		timer := time.NewTimer(wait.For)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-wait.Changed:
		case <-ctx.Done():
			return at, context.Cause(ctx)
		}
		return at, nil
	})
}

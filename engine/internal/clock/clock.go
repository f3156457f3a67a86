// Package clock limits work by the time that it uses: a Clock pauses while the engine throttles the work, and ends its context when
// its limit is used up.
package clock

import (
	"context"
	"sync"
	"time"
)

// Clock counts the time that a piece of work uses. Clocks form a tree (cycle, session, chain, step). A parent is paused while it is
// held, or while it has children and all of them are paused. All methods are safe for concurrent use.
type Clock struct {
	mu     *sync.Mutex // of the whole tree, owned by the root; guards everything below
	own    sync.Mutex
	parent *Clock
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer // nil without a limit; cancel is nil for a child without one
	limit  time.Duration
	left   time.Duration
	since  time.Time     // time of the last start; zero while paused
	lost   time.Duration // total standstill of the process at that time

	holds    int // own
	children int // live
	stood    int // paused children
	stopped  bool
}

// New starts a clock whose context ends with cause when limit is used up; 0 sets no limit. Cancel ends it too.
func New(ctx context.Context, limit time.Duration, cause error) *Clock {
	c := new(Clock)
	c.mu = &c.own
	c.init(ctx, limit, cause)
	if c.cancel == nil {
		c.ctx, c.cancel = context.WithCancelCause(ctx)
	}
	return c
}

// Child starts a clock under c. Call Stop on it when its work has ended.
func (c *Clock) Child(limit time.Duration, cause error) *Clock {
	k := &Clock{mu: c.mu, parent: c}
	c.mu.Lock()
	defer c.mu.Unlock()
	k.init(c.ctx, limit, cause)
	c.change(func() { c.children++ })
	return k
}

// Branch starts a clock under c for concurrent work: it has no limit, and Cancel ends it. Call Stop on it when its work has ended.
func (c *Clock) Branch() *Clock {
	k := &Clock{mu: c.mu, parent: c}
	c.mu.Lock()
	defer c.mu.Unlock()
	k.start()
	k.ctx, k.cancel = context.WithCancelCause(c.ctx)
	c.change(func() { c.children++ })
	return k
}

// Cancel ends the context of a clock with cause, unless it has ended. The clock must be made by New or Branch, or have a limit. Its
// work must still end and call Stop.
func (c *Clock) Cancel(cause error) { c.cancel(cause) }

func (c *Clock) init(ctx context.Context, limit time.Duration, cause error) {
	c.ctx = ctx
	c.start()
	if limit > 0 {
		c.ctx, c.cancel = context.WithCancelCause(ctx)
		c.limit, c.left = limit, limit
		c.timer = time.AfterFunc(limit, func() { c.expire(cause) })
	}
}

// start starts counting. mu is held, or the clock is not shared yet.
func (c *Clock) start() { c.since, c.lost = time.Now(), Lost() }

// leastGap is how late a timer must fire to mean that the process stood still or the machine slept, and not that the work was slow.
// Such a time does not count.
const leastGap = 5 * time.Second

// used returns the time since the last start, without standstills of the process. mu is held.
func (c *Clock) used() time.Duration {
	d := time.Since(c.since) - (Lost() - c.lost)
	if d > c.left+leastGap {
		return 0
	}
	return d
}

// expire ends the context when the timer fires, unless the process stood still: then it starts the timer again.
func (c *Clock) expire(cause error) {
	c.mu.Lock()
	left := c.left - c.used()
	gone := left > 0
	if gone && !c.stopped && !c.still() {
		c.left = left
		c.start()
		c.timer.Reset(left)
	}
	c.mu.Unlock()
	if !gone {
		c.cancel(cause)
	}
}

// Context returns a context that ends when the limit of the clock, or of a clock above it, is used up. The cause says which.
func (c *Clock) Context() context.Context { return c.ctx }

// Hold pauses the clock until Release, and those above it that have no other running work.
func (c *Clock) Hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.change(func() { c.holds++ })
}

// Release undoes one Hold.
func (c *Clock) Release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.change(func() { c.holds-- })
}

// Stop ends the clock and its context, and releases its resources. Further calls do nothing.
func (c *Clock) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return
	}
	c.stopped = true
	if p := c.parent; p != nil {
		still := c.still()
		p.change(func() {
			p.children--
			if still {
				p.stood--
			}
		})
	}
	if c.timer != nil {
		c.timer.Stop()
	}
	if c.cancel != nil {
		c.cancel(context.Canceled)
	}
}

// Rest stops a clock without parent between two pieces of work and keeps its context, so that Again does not have to create one. It
// returns false if the time is over or work under the clock continues; then only Stop may be called.
func (c *Clock) Rest() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped || c.parent != nil || c.holds > 0 || c.children > 0 {
		return false
	}
	return (c.timer == nil || c.timer.Stop()) && c.ctx.Err() == nil
}

// Again starts a resting clock with its full limit.
func (c *Clock) Again() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = c.limit
	c.start()
	if c.timer != nil {
		c.timer.Reset(c.limit)
	}
}

// still reports whether the clock is paused. mu is held.
func (c *Clock) still() bool { return c.holds > 0 || c.children > 0 && c.stood == c.children }

// change applies f, then starts or stops this clock's timer and updates the parent. mu is held.
func (c *Clock) change(f func()) {
	before := c.still()
	f()
	after := c.still()
	if before == after || c.stopped {
		return
	}
	if c.timer != nil {
		if after {
			c.timer.Stop()
			c.left -= c.used()
		} else {
			c.start()
			c.timer.Reset(max(c.left, 0))
		}
	}
	if p := c.parent; p != nil {
		p.change(func() {
			if after {
				p.stood++
			} else {
				p.stood--
			}
		})
	}
}

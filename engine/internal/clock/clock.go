// Package clock bounds work by the time it uses: a Clock stands still while the engine holds the work back, and
// ends its context for real when its limit is used up.
package clock

import (
	"context"
	"sync"
	"time"
)

// Clock counts the time that a piece of work uses. Clocks form a tree (cycle, session, chain, step): a parent stands
// still while it is held itself or while it has children and all of them stand still. All methods are safe for
// concurrent use.
type Clock struct {
	mu     *sync.Mutex // of the whole tree, the root's own; guards all below
	own    sync.Mutex
	parent *Clock
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer // nil without a limit; cancel is nil for a child without one
	limit  time.Duration
	left   time.Duration
	since  time.Time     // of the last start; zero while it stands still
	lost   time.Duration // for how long the process stood still until then

	holds    int // own
	children int // live
	stood    int // of these, standing still
	stopped  bool
}

// New starts a clock whose context ends with cause once limit is used up; limit 0 is none. Cancel ends it too.
func New(ctx context.Context, limit time.Duration, cause error) *Clock {
	c := new(Clock)
	c.mu = &c.own
	c.init(ctx, limit, cause)
	if c.cancel == nil {
		c.ctx, c.cancel = context.WithCancelCause(ctx)
	}
	return c
}

// Child starts a clock under c. Stop must be called on it when its work has ended.
func (c *Clock) Child(limit time.Duration, cause error) *Clock {
	k := &Clock{mu: c.mu, parent: c}
	c.mu.Lock()
	defer c.mu.Unlock()
	k.init(c.ctx, limit, cause)
	c.change(func() { c.children++ })
	return k
}

// Branch starts a clock under c for work that goes on beside other work: it has no limit, and Cancel ends it. Stop must
// be called on it when its work has ended.
func (c *Clock) Branch() *Clock {
	k := &Clock{mu: c.mu, parent: c}
	c.mu.Lock()
	defer c.mu.Unlock()
	k.start()
	k.ctx, k.cancel = context.WithCancelCause(c.ctx)
	c.change(func() { c.children++ })
	return k
}

// Cancel ends the context of a clock that New or Branch made, or that has a limit, with cause, unless it has ended. The
// work under it still has to end, and Stop to be called.
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

// start counts from now on. mu is held, or nobody has the clock yet.
func (c *Clock) start() { c.since, c.lost = time.Now(), Lost() }

// leastGap is how much too late a timer runs out where not the work was slow, but the process stood still, or the machine
// slept: then nothing of that time is the work's.
const leastGap = 5 * time.Second

// used is the time since the last start that counts: not that in which the process stood still. mu is held.
func (c *Clock) used() time.Duration {
	d := time.Since(c.since) - (Lost() - c.lost)
	if d > c.left+leastGap {
		return 0
	}
	return d
}

// expire ends the context when the timer runs out, unless nobody could use the time: then it begins again.
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

// Context ends when the clock's limit, or that of a clock above it, is used up; its cause says which.
func (c *Clock) Context() context.Context { return c.ctx }

// Hold stops the clock, and those above it that have nothing else going on, until Release.
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

// Stop ends the clock and frees what it holds. Its context ends too. A second Stop does nothing.
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

// Rest stops a clock without parent between two pieces of work and keeps its context, so that Again need not make a
// new one. It reports false, and the clock is only good for Stop, if its time is over or work under it goes on.
func (c *Clock) Rest() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped || c.parent != nil || c.holds > 0 || c.children > 0 {
		return false
	}
	return (c.timer == nil || c.timer.Stop()) && c.ctx.Err() == nil
}

// Again starts a clock that rests, with all of its limit.
func (c *Clock) Again() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left = c.limit
	c.start()
	if c.timer != nil {
		c.timer.Reset(c.limit)
	}
}

// still reports whether the clock stands still. mu is held.
func (c *Clock) still() bool { return c.holds > 0 || c.children > 0 && c.stood == c.children }

// change applies f, then starts or stops this clock's timer and tells the parent. mu is held.
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

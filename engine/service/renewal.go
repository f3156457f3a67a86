package service

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// errRenewed is the cause of an attempt's context that ended because the machine slept meanwhile.
var errRenewed = errors.New("the machine slept while the request was under way")

// renewal ends attempts so that they are made again. It is safe for concurrent use.
type renewal struct {
	mu   sync.Mutex
	wake context.Context // of the attempts that began since the last time; nil is that none did
	end  context.CancelCauseFunc
}

// watch has end called, with the cause, if attempts are renewed before it is told that this one is over.
func (r *renewal) watch(end context.CancelCauseFunc) (over func() bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.wake == nil {
		r.wake, r.end = context.WithCancelCause(context.Background())
	}
	return context.AfterFunc(r.wake, func() { end(errRenewed) })
}

// renew ends all that is under way.
func (r *renewal) renew() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.wake != nil {
		r.end(errRenewed)
		r.wake = nil
	}
}

// wasRenewed reports whether an attempt ended to be made again, and its call goes on.
func wasRenewed(ctx, attempt context.Context) bool {
	return ctx.Err() == nil && errors.Is(context.Cause(attempt), errRenewed)
}

// patience is how long the next attempt may take: as the call says, or else as its service does by then, since it may be
// changed while the call waits.
func (c *Call) patience(service *atomic.Int64) time.Duration {
	return cmp.Or(c.Timeout, time.Duration(service.Load()))
}

// attempt bounds the time of one attempt, and has it made again when the machine slept, unless it must not leave twice.
// alive starts the time anew: of an answer that arrives in pieces, the timeout is for the silence between them.
func (c *Call) attempt(ctx context.Context, again *renewal, patience time.Duration) (once context.Context, alive, cancel func()) {
	if patience == 0 && c.Once {
		return ctx, func() {}, func() {}
	}
	once, end := context.WithCancelCause(ctx)
	over := func() bool { return true }
	if !c.Once {
		over = again.watch(end)
	}
	if patience == 0 {
		return once, func() {}, func() { over(); end(context.Canceled) }
	}
	timer := time.AfterFunc(patience, func() { end(errAttemptTimeout) })
	return once, func() { timer.Reset(patience) }, func() {
		timer.Stop()
		over()
		end(context.Canceled)
	}
}

package service

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// errRenewed is the cause of an attempt's context that ended because the machine slept.
var errRenewed = errors.New("the machine slept while the request was under way")

// renewal ends attempts so that they are repeated. It is safe for concurrent use.
type renewal struct {
	mu   sync.Mutex
	wake context.Context // of the statements that began since the last renewal; nil if there are none
	end  context.CancelCauseFunc

	under map[*term]struct{} // attempts by HTTP
}

func (r *renewal) enter(t *term) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.under == nil {
		r.under = map[*term]struct{}{}
	}
	r.under[t] = struct{}{}
}

func (r *renewal) leave(t *term) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.under, t)
}

// watch arranges that end is called if attempts are renewed before over is called.
func (r *renewal) watch(end context.CancelCauseFunc) (over func() bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.wake == nil {
		r.wake, r.end = context.WithCancelCause(context.Background())
	}
	return context.AfterFunc(r.wake, func() { end(errRenewed) })
}

// renew ends all attempts in progress.
func (r *renewal) renew() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.wake != nil {
		r.end(errRenewed)
		r.wake = nil
	}
	for t := range r.under {
		t.end(errRenewed)
	}
}

// wasRenewed reports whether an attempt ended to be repeated. cause is that of its context, ctx that of its call.
func wasRenewed(ctx context.Context, cause error) bool {
	return ctx.Err() == nil && errors.Is(cause, errRenewed)
}

// patience returns the timeout of the next attempt: the call's, or the service's present one, which may change while the call
// waits.
func (c *Call) patience(service *atomic.Int64) time.Duration {
	return cmp.Or(c.Timeout, time.Duration(service.Load()))
}

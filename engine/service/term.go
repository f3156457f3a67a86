package service

import (
	"context"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine/internal/clock"
	"github.com/throng-sim/throng/engine/service/direct"
)

// term is the context of one attempt. It ends with the call's context, when the attempt times out, and when the machine slept, with
// the respective cause. It replaces a chain of three contexts of the standard library.
type term struct {
	context.Context // of the call

	patience time.Duration // 0 sets no timeout
	timer    clock.Timer   // not running if patience is 0
	again    *renewal      // nil if the request must be sent at most once
	unwatch  func() bool   // stops watching the call's context

	single bool // the connection pool must not send it again by itself

	mu    sync.Mutex
	cause error         // nil until it has ended
	done  chan struct{} // nil until Done is called
	first *listener
}

var _ context.Context = (*term)(nil)

// listener is called at the end of a term.
type listener struct {
	of   *term
	f    func()
	next *listener
}

// attempt returns the context of one attempt. The attempt is repeated when the machine slept, unless again is nil or the request
// must be sent at most once. Call stop when the attempt is over.
func (c *Call) attempt(ctx context.Context, again *renewal, patience time.Duration) *term {
	t := &term{Context: ctx, patience: patience}
	t.unwatch = context.AfterFunc(ctx, t.checkParent)
	if patience > 0 {
		t.timer.Start(patience, t.expire)
	}
	if !c.Once && again != nil {
		t.again = again
		again.enter(t)
	}
	return t
}

func (t *term) expire() { t.end(errAttemptTimeout) }

// restart restarts the timeout. For a streamed response it limits the silence between two events.
func (t *term) restart() { t.timer.Again() }

// pause stops the timeout until resume is called.
func (t *term) pause() (resume func()) {
	if t.patience == 0 {
		return func() {}
	}
	t.timer.Stop()
	return func() { t.timer.Start(t.patience, t.expire) }
}

// stop ends the term and releases its resources.
func (t *term) stop() {
	t.timer.Stop()
	if t.again != nil {
		t.again.leave(t)
	}
	t.unwatch()
	t.end(context.Canceled)
}

// end ends the term, unless it has ended.
func (t *term) end(cause error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cause != nil {
		return
	}
	t.cause = cause
	if t.done != nil {
		close(t.done)
	}
	for l := t.first; l != nil; l = l.next {
		go l.f()
	}
	t.first = nil
}

// checkParent ends the term if the call's context has ended. The notification of that runs on another goroutine: without this
// check, a caller that asks before it runs would send a request that no one waits for.
func (t *term) checkParent() {
	if t.Context.Err() != nil {
		t.end(context.Cause(t.Context))
	}
}

// reason returns the cause of the end, or nil if the term has not ended.
func (t *term) reason() error {
	t.checkParent()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cause
}

// Done implements [context.Context].
func (t *term) Done() <-chan struct{} {
	t.checkParent()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done == nil {
		t.done = make(chan struct{})
		if t.cause != nil {
			close(t.done)
		}
	}
	return t.done
}

// Value implements [context.Context].
func (t *term) Value(key any) any {
	if key == (direct.Single{}) {
		return t.single
	}
	return t.Context.Value(key)
}

// Err implements [context.Context].
func (t *term) Err() error {
	if t.reason() == nil {
		return nil
	}
	return context.Canceled
}

// AfterFunc implements [context.AfterFunc], which looks for this method.
func (t *term) AfterFunc(f func()) (stop func() bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := &listener{t, f, t.first}
	if t.cause != nil {
		go f()
	} else {
		t.first = l
	}
	return l.remove
}

// stop removes the listener. It returns false if the listener was called or removed before.
func (l *listener) remove() bool {
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	for at := &l.of.first; *at != nil; at = &(*at).next {
		if *at == l {
			*at = l.next
			return true
		}
	}
	return false
}

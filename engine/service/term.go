package service

import (
	"context"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine/internal/clock"
)

// term is the context of one attempt: it ends with the call's, when the attempt's time is over, and when the machine slept,
// with the cause of that. One value does for all three what takes a chain of the standard library's contexts.
type term struct {
	context.Context // of the call

	patience time.Duration // 0 is without end
	timer    clock.Timer   // does not run with that
	again    *renewal      // nil is that it must not leave twice
	unwatch  func() bool   // the call's context

	single bool // the pool of connections must not send it again by itself

	mu    sync.Mutex
	cause error         // nil is that it has not ended
	done  chan struct{} // nil is that nobody has asked for it
	first *listener
}

var _ context.Context = (*term)(nil)

// listener hears of the end of a term.
type listener struct {
	of   *term
	f    func()
	next *listener
}

// attempt bounds the time of one attempt, and has it made again when the machine slept, unless again is nil or it must not
// leave twice.
// Its over must be called.
func (c *Call) attempt(ctx context.Context, again *renewal, patience time.Duration) *term {
	t := &term{Context: ctx, patience: patience}
	t.unwatch = context.AfterFunc(ctx, t.hear)
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

// alive starts the time anew: of an answer that arrives in pieces, the timeout is for the silence between them.
func (t *term) alive() { t.timer.Again() }

// pause lets its time stand still until resume is called.
func (t *term) pause() (resume func()) {
	if t.patience == 0 {
		return func() {}
	}
	t.timer.Stop()
	return func() { t.timer.Start(t.patience, t.expire) }
}

// over ends it, and all that it holds.
func (t *term) over() {
	t.timer.Stop()
	if t.again != nil {
		t.again.leave(t)
	}
	t.unwatch()
	t.end(context.Canceled)
}

// end ends it, unless it has ended.
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

// hear ends it if the call's context has ended, which tells of that on a goroutine of its own: whoever asks before that
// one runs must hear the same, or a request would leave that nobody waits for.
func (t *term) hear() {
	if t.Context.Err() != nil {
		t.end(context.Cause(t.Context))
	}
}

// why is the cause of its end; nil is that it has not ended.
func (t *term) why() error {
	t.hear()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cause
}

// Done implements [context.Context].
func (t *term) Done() <-chan struct{} {
	t.hear()
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
	if key == (singleKey{}) {
		return t.single
	}
	return t.Context.Value(key)
}

// singleKey asks the context of an attempt whether the pool of connections must not send it again by itself.
type singleKey struct{}

// Err implements [context.Context].
func (t *term) Err() error {
	if t.why() == nil {
		return nil
	}
	return context.Canceled
}

// AfterFunc is [context.AfterFunc] of it, which the standard library looks for.
func (t *term) AfterFunc(f func()) (stop func() bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := &listener{t, f, t.first}
	if t.cause != nil {
		go f()
	} else {
		t.first = l
	}
	return l.stop
}

// stop takes the listener out; false is that it has heard of the end, or was taken out before.
func (l *listener) stop() bool {
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

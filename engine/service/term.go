package service

import (
	"context"
	"sync"
	"time"
)

// term is the context of one attempt: it ends with the call's, when the attempt's time is over, and when the machine slept,
// with the cause of that. One value does for all three what takes a chain of the standard library's contexts.
type term struct {
	context.Context // of the call

	patience time.Duration // 0 is without end
	timer    *time.Timer   // nil with that
	again    *renewal      // nil is that it must not leave twice
	unwatch  func() bool   // the call's context

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

// attempt bounds the time of one attempt, and has it made again when the machine slept, unless it must not leave twice.
// Its over must be called.
func (c *Call) attempt(ctx context.Context, again *renewal, patience time.Duration) *term {
	o := &term{Context: ctx, patience: patience}
	o.unwatch = context.AfterFunc(ctx, func() { o.end(context.Cause(ctx)) })
	if patience > 0 {
		o.timer = time.AfterFunc(patience, o.expire)
	}
	if !c.Once {
		o.again = again
		again.enter(o)
	}
	return o
}

func (o *term) expire() { o.end(errAttemptTimeout) }

// alive starts the time anew: of an answer that arrives in pieces, the timeout is for the silence between them.
func (o *term) alive() {
	if o.timer != nil {
		o.timer.Reset(o.patience)
	}
}

// over ends it, and all that it holds.
func (o *term) over() {
	if o.timer != nil {
		o.timer.Stop()
	}
	if o.again != nil {
		o.again.leave(o)
	}
	o.unwatch()
	o.end(context.Canceled)
}

// end ends it, unless it has ended.
func (o *term) end(cause error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.cause != nil {
		return
	}
	o.cause = cause
	if o.done != nil {
		close(o.done)
	}
	for l := o.first; l != nil; l = l.next {
		go l.f()
	}
	o.first = nil
}

// why is the cause of its end; nil is that it has not ended.
func (o *term) why() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.cause
}

// Done implements [context.Context].
func (o *term) Done() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.done == nil {
		o.done = make(chan struct{})
		if o.cause != nil {
			close(o.done)
		}
	}
	return o.done
}

// Err implements [context.Context].
func (o *term) Err() error {
	if o.why() == nil {
		return nil
	}
	return context.Canceled
}

// AfterFunc is [context.AfterFunc] of it, which the standard library looks for.
func (o *term) AfterFunc(f func()) (stop func() bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	l := &listener{o, f, o.first}
	if o.cause != nil {
		go f()
	} else {
		o.first = l
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

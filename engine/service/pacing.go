package service

import (
	"bytes"
	"context"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/gate"
)

// attempt bounds the time of one attempt. alive starts it anew: of an answer that arrives in pieces, the timeout is
// for the silence between them.
func (c *Call) attempt(ctx context.Context) (once context.Context, alive, cancel func()) {
	if c.Timeout == 0 {
		return ctx, func() {}, func() {}
	}
	once, end := context.WithCancelCause(ctx)
	timer := time.AfterFunc(c.Timeout, func() { end(errAttemptTimeout) })
	return once, func() { timer.Reset(c.Timeout) }, func() {
		timer.Stop()
		end(context.Canceled)
	}
}

// enter takes a place among the service's calls and among those of all that it shares a bound with, and waits for its
// turn between the two; held as long as it must wait.
func (t *transport) enter(ctx context.Context, call *Call) error {
	if err := call.enter(ctx, t.bound); err != nil {
		return err
	}
	err := t.pace(ctx, call)
	if err == nil && t.shared != nil {
		err = call.enter(ctx, t.shared)
	}
	if err != nil {
		t.bound.Leave()
	}
	return err
}

func (t *transport) leave() {
	t.bound.Leave()
	if t.shared != nil {
		t.shared.Leave()
	}
}

func (c *Call) enter(ctx context.Context, g *gate.Gate) error {
	if g.TryEnter() {
		return nil
	}
	return c.held(func() error { return g.Enter(ctx) })
}

// pace waits for the call's turn, and on while the service wants nothing.
func (t *transport) pace(ctx context.Context, call *Call) error {
	if t.pacer == nil {
		return nil
	}
	for {
		if wait := t.pacer.Reserve(time.Now()); wait > 0 {
			if err := call.sleep(ctx, wait); err != nil {
				return err
			}
		}
		if t.pacer.Blocked(time.Now()) == 0 {
			return nil
		}
	}
}

// refused waits after a 429 as long as the service says; where there is a pacer, nobody asks before. An account that
// is used up is not waited for.
func (t *transport) refused(ctx context.Context, call *Call, a *Answer, wait *refusals) error {
	if bytes.Contains(a.Body, []byte(`"insufficient_quota"`)) {
		call.Record.Attempts++
		return engine.Fail(engine.ClientError, "the account has nothing left to spend (insufficient_quota)%s", call.excerpt(a))
	}
	if t.pacer == nil {
		return call.sleep(ctx, wait.next(a))
	}
	pause := maxWait
	if a.named {
		pause = max(a.wait, leastWait)
	}
	t.pacer.Refuse(time.Now(), pause)
	return nil
}

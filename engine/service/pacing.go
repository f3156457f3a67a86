package service

import (
	"bytes"
	"context"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/gate"
)

// enter takes a place among the service's calls and among those of all that it shares a bound with, and waits for its
// turn between the two; held as long as it must wait.
func (t *transport) enter(ctx context.Context, call *Call) error {
	if err := call.enter(ctx, engine.PlaceGate, t.bound); err != nil {
		return err
	}
	err := t.turn(ctx, call)
	if err != nil {
		t.bound.Leave()
	}
	return err
}

// turn waits for the call's turn and a place among those of all services, which no call has that is made to wait.
func (t *transport) turn(ctx context.Context, call *Call) error {
	for {
		if err := t.pace(ctx, call); err != nil || t.shared == nil {
			return err
		}
		if err := call.enter(ctx, engine.ModelGate, t.shared); err != nil {
			return err
		}
		if t.pacer == nil || t.pacer.Blocked(time.Now()) == 0 {
			return nil
		}
		t.shared.Leave() // it was refused meanwhile
	}
}

func (t *transport) leave() {
	t.bound.Leave()
	if t.shared != nil {
		t.shared.Leave()
	}
}

func (c *Call) enter(ctx context.Context, at engine.Gate, g *gate.Gate) error {
	if g.TryEnter() {
		return nil
	}
	return c.held(at, func() error { return g.Enter(ctx) })
}

// pace waits for the call's turn, and on while the service wants nothing.
func (t *transport) pace(ctx context.Context, call *Call) error {
	if t.pacer == nil {
		return nil
	}
	for {
		if wait := t.pacer.Reserve(time.Now()); wait > 0 {
			if err := call.sleep(ctx, engine.RateGate, wait); err != nil {
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
	pause := wait.next(a)
	if t.pacer == nil {
		return call.sleep(ctx, engine.RefusalGate, pause)
	}
	if a.named { // the pacer spreads those who come back
		pause = max(a.wait, leastWait)
	}
	t.pacer.Refuse(time.Now(), pause)
	return nil
}

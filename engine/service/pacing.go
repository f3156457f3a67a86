package service

import (
	"context"
	"net/http"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/gate"
	"github.com/throng-sim/throng/engine/internal/pace"
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
			t.pacer.GiveBack()
			return err
		}
		if !t.pacer.Recalled(time.Now(), call.left) {
			call.left = time.Now()
			return nil
		}
		t.shared.Leave()
		t.pacer.GiveBack()
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

// pace waits for the call's turn, held by the rate or by what the service refused.
func (t *transport) pace(ctx context.Context, call *Call) error {
	if call.left = time.Now(); t.pacer.Try(call.left) {
		return nil
	}
	turn := t.pacer.Join(call.left, call.ticket)
	call.ticket = turn.Ticket
	for {
		wait := turn.Ask(call.left)
		if wait.For == 0 {
			return nil
		}
		at := engine.RateGate
		if wait.Refused {
			at = engine.RefusalGate
		}
		if err := call.await(ctx, at, wait); err != nil {
			turn.Leave()
			return err
		}
		call.left = time.Now()
	}
}

// await waits for as long as it takes, or until something has changed.
func (c *Call) await(ctx context.Context, at engine.Gate, wait pace.Wait) error {
	return c.held(at, func() error {
		timer := time.NewTimer(wait.For)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-wait.Changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		return nil
	})
}

// heard tells the pacer what became of a request: what the service says that it has left, whether it answered or failed.
// Of a 429 refused tells.
func (t *transport) heard(call *Call, answer *Answer, failure *engine.StepError) {
	now := time.Now()
	switch {
	case answer == nil:
		if failure != nil {
			t.pacer.Trouble(now)
		}
		return
	case answer.Status == http.StatusTooManyRequests:
	case answer.Status >= 500:
		t.pacer.Trouble(now)
	default:
		t.pacer.Accept(now, call.left)
	}
	if answer.quota != (pace.Quota{}) {
		t.pacer.Observe(now, answer.quota)
	}
}

// refused has everybody wait after a 429 as long as the service says. One whose quota is gone for long is exhausted:
// who asks for a session waits until it is there again, or the run's end; who asks for none is told.
func (t *transport) refused(call *Call, a *Answer, wait *refusals) error {
	t.rejected.Add(1)
	now := time.Now()
	why, until := a.exhausted(now)
	switch {
	case why == "":
		t.pacer.Refuse(now, call.left, wait.next(a, t.pacer.Limits().Start > 0))
	case call.Session == nil:
		call.Record.Attempts++
		return engine.Fail(engine.ClientError, "%s%s", why, call.excerpt(a))
	default:
		t.pacer.Exhaust(now, why+call.excerpt(a), until)
	}
	return nil
}

// leastRate is the slowest that a pacer makes the calls of a service by itself, per second.
const leastRate = 1

// pace is what the limits say of the rate.
func (l Limits) pace() pace.Limits {
	return pace.Limits{Mode: l.Pace, Start: l.Rate, Floor: min(leastRate, l.Rate), Ceiling: max(l.MaxRate, l.Rate), Burst: l.Burst}
}

// spent tells the pacer what a call of a model took.
func (h *HTTP) spent(u *engine.Usage) {
	if u != nil {
		h.transport.pacer.Spent(int(u.Input + u.Output))
	}
}

package service

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/throng-sim/throng/engine"
)

// perform takes a call from its place in the journal to its result, for every kind of service. hash distinguishes the requests that
// the step may send. If changing is set, an intent is journaled before anything is sent. The result is that of send, or the
// journal's.
func (c *Call) perform(hash uint64, changing bool, send func(ctx context.Context) (*Answer, error)) (*Answer, error) {
	s, ctx := c.Session, c.Clock.Context()
	known, answer, err := c.recall(hash)
	switch {
	case answer != nil || err != nil:
		c.measure(answer)
		return answer, err
	case ctx.Err() != nil:
		if s.Settings().Record {
			c.journal(0, false, nil, context.Cause(ctx))
		}
		return nil, context.Cause(ctx)
	case s.Run().Recording != "": // known or not, it never had a response
		return nil, Unrecorded(s)
	case known && c.batched == nil:
		c.Record.Label, c.resent, c.doubt = engine.NotRepeated, true, c.changing
	}
	c.hash = hash
	c.doubt = c.doubt || c.changing && c.Verify != nil && s.Take > 0 // an earlier take may have carried it out
	if !known || !c.Once {
		// Sign in before the intent: a failed login has sent nothing for the step.
		if _, err := c.signIn(ctx); err != nil {
			c.journal(0, changing && known, nil, err)
			return nil, err
		}
	}
	defer c.budget().releaseClaim()
	if changing && (!known || c.bill != nil) { // a call that may be charged again journals another intent
		if err := c.budget().claim(ctx); err != nil {
			return nil, err
		}
		if err := c.intend(ctx); err != nil {
			return nil, err
		}
	}
	if known && c.Once {
		err = engine.Fail(engine.Network, "it may have been sent before a crash, and must not be sent twice")
		c.Record.Attempts = 1
	} else {
		answer, err = send(ctx)
	}
	if c.Record.Label == engine.Unconfirmed {
		s.Unconfirmed(c.Path, c.what)
	}
	jar{c}.keepRenewed(answer)
	c.journal(hash, changing, answer, err)
	c.measure(answer)
	return answer, err
}

// measure adds the size of an answer to the record.
func (c *Call) measure(a *Answer) {
	if a != nil {
		c.Record.Size += int64(len(a.Body))
	}
}

// recall returns the call's result from the journal, if there is one. known says that the journal has an entry, at least an intent.
func (c *Call) recall(hash uint64) (known bool, answer *Answer, err error) {
	entry, known := c.Session.Replay(c.Path)
	if known && c.Session.Run().Recording == "" {
		c.spent = entry.Spent
	}
	switch {
	case !known:
	case entry.Hash != hash && entry.Hash != 0: // 0: it ended before there was a request
		err = diverged(c.Session)
	case entry.Attempts > 0:
		answer, err = c.replayed(entry)
	}
	return known, answer, err
}

// key returns the idempotency key of the call. It is the same for every attempt, after a resume and for another take of the
// session, unless the request differs.
func (c *Call) key(hash uint64) string {
	return IdempotencyKey(c.Session.Run().ID, c.Session.Cycle, c.Session.Agent, c.Path, hash)
}

// IdempotencyKey returns the key of a changing request. hash is that of its intent.
func IdempotencyKey(run engine.RunID, cycle, agent int, path string, hash uint64) string {
	key := append(make([]byte, 0, 64), run...)
	key = append(key, '/')
	key = strconv.AppendInt(key, int64(cycle), 10)
	key = append(key, '/')
	key = strconv.AppendInt(key, int64(agent), 10)
	key = append(key, '/')
	key = append(append(key, path...), '/')
	return string(strconv.AppendUint(key, hash, 16))
}

// intend journals that a changing request is about to be sent. If that fails, the session is cut. A request that waits for a batch is
// not sent yet.
func (c *Call) intend(ctx context.Context) error {
	claimed := &c.claimed
	if c.batched != nil {
		claimed = &engine.Outlay{}
	}
	err := c.held(engine.ThrottledByJournal, func() error { return c.Session.Intend(ctx, c.Path, c.hash, &c.spent, claimed) })
	switch {
	case err == nil:
		c.intended = c.spent.Requests + c.claimed.Requests
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return fmt.Errorf("%w: journal the intent of %s: %w", engine.ErrCut, c.Path, err)
}

// journal stores the result of the call, unless the session ends with it: it was cut, or timed out as a whole.
func (c *Call) journal(hash uint64, changing bool, answer *Answer, err error) {
	e := engine.Entry{Path: c.Path, Private: c.Private}
	if err == nil {
		e.Output = encodeAnswer(jar{c}.without(answer))
	} else if !c.keepError(&e, err) {
		return
	}
	e.Hash, e.Attempts, e.Statuses = hash, max(c.Record.Attempts, 1), c.Record.Statuses
	e.Spent, e.Again = c.spent, c.resent && c.Record.Attempts > 0
	e.Unconfirmed = c.Record.Label == engine.Unconfirmed
	record := c.Session.Observed
	if changing {
		record = c.Session.Answered
	}
	if err == nil && (jar{c}).keeps(answer) {
		record(cookieEntry(c.Path+cookiesEntry, answer))
	}
	record(e)
}

// keepError fills in the journal entry of a failed call, and reports whether there is one.
func (c *Call) keepError(e *engine.Entry, err error) bool {
	if overtime, ok := errors.AsType[*Overtime](err); ok {
		*e = overtime.Entry(c.Path) // it has no response
		return true
	}
	if timeout, ok := errors.AsType[*engine.TimeoutError](err); ok && c.Session.Settings().Record {
		*e = TimeoutEntry(c.Path, timeout) // a recording holds how its sessions ended
		return true
	}
	failure, ok := errors.AsType[*engine.StepError](err)
	if ok {
		e.Status, e.Class, e.Error = engine.StepFailed, failure.Class, failure.Error()
	}
	return ok
}

// again reports whether a failed attempt may be retried. undone says that it certainly did nothing, so that even a call that must
// be sent at most once may be retried.
func (c *Call) again(undone bool) bool {
	return c.Record.Attempts < c.Retry.Attempts && (!c.Once || undone)
}

// pauses are the waits between the attempts of a call. They double, with full jitter: each is random between zero and twice the
// interval.
type pauses struct{ of *backoff.ExponentialBackOff }

func (p *pauses) next(c *Call) time.Duration {
	if p.of == nil {
		p.of = &backoff.ExponentialBackOff{
			InitialInterval: min(c.Retry.Wait, c.Retry.Max) / 2, MaxInterval: c.Retry.Max / 2, Multiplier: 2, RandomizationFactor: 1,
		}
		p.of.Reset()
	}
	return p.of.NextBackOff()
}

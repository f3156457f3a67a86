package chain

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/service/llm"
)

// key identifies a shared answer: the services, the request, and its retries and timeouts.
func (c *completion) key(services []*Service, chat *llm.Chat, retry engine.Retry, limit time.Duration) (engine.SharedKey, error) {
	asked := struct {
		Who  [][]string
		What any
		Form json.RawMessage
	}{What: []any{chat.Messages, chat.Temperature, chat.MaxTokens, chat.Completion, chat.Effort, chat.Extra, chat.Stream, retry.Attempts, limit}}
	for _, s := range services {
		asked.Who = append(asked.Who, append([]string{s.Name}, s.asked()...))
	}
	if c.shape != nil {
		asked.Form = c.shape.Schema
	}
	text, err := json.Marshal(asked)
	if err != nil {
		return engine.SharedKey{}, err
	}
	sum := sha256.Sum256(text)
	return engine.SharedKey(sum[:len(engine.SharedKey{})]), nil
}

// shared returns the run's answer if there is one, or asks for it on behalf of the run: one session asks and the
// others wait. Waiting does not count as the session's own time; the step's time is that of the request.
func (c *completion) shared(t *turn, chat llm.Chat) (value.Value, error) {
	t.asked = true
	if e, ok := t.x.s.Replay(t.path); ok { // it failed in an earlier process: a session with an answer leaves no entry
		if t.x.s.Run().Recording != "" {
			t.record().Label = engine.Recorded
		}
		return nil, service.Failure(e)
	}
	headers, err := c.headers(t) // evaluate these first, because they may fail
	if err != nil {
		return nil, err
	}
	retry, limit, services := t.retry(), t.step.timeout, t.x.in.Bound.of(c.services)
	key, err := c.key(services, &chat, retry, limit)
	if err != nil {
		return nil, err
	}
	if e, ok := t.x.s.Recall(key); ok {
		if t.x.s.Run().Recording != "" { // the answer was journaled, so no session asks now
			t.record().Label = engine.Recorded
		} else {
			t.record().Usage = &engine.Usage{Hits: 1}
		}
		return value.DecodeJSON(e.Output)
	}
	if t.x.s.Run().Recording != "" {
		return nil, service.Unrecorded(t.x.s)
	}
	path := flightPath(key)
	f := &flight{completion: c, services: services, key: key, path: path, chat: chat, headers: headers, retry: retry}
	f.session = t.x.s.ForRun(key, limit, &service.Overtime{Path: path, Limit: limit})
	clock, start := t.clock(), time.Now()
	clock.Hold()
	defer clock.Release()
	mine := false
	result := services[0].flights.DoChan(string(key[:]), func() (any, error) {
		mine = true
		return f.fly()
	})
	select {
	case <-clock.Context().Done():
		return nil, context.Cause(clock.Context())
	case r := <-result:
		rec := t.record()
		rec.Service += time.Since(start)
		if r.Err != nil {
			err := t.own(r.Err, path)
			t.observe(err)
			return nil, err
		}
		if mine { // otherwise the result of the request belongs to another session
			rec.Class = f.class
		}
		rec.Usage = &engine.Usage{Hits: 1}
		return r.Val.(value.Value), nil
	}
}

// flightPath is the request's path in the journal and for the mock. It belongs to no step, so it does not depend on
// which step asks first.
func flightPath(key engine.SharedKey) string { return "cached." + hex.EncodeToString(key[:6]) }

// own assigns an error of the request at path to the step: each waiting step had its own timeout.
func (t *turn) own(err error, path string) error {
	if limit, ok := errors.AsType[*service.Overtime](err); ok && limit.Path == path {
		return &service.Overtime{Path: t.path, Limit: limit.Limit}
	}
	return err
}

// observe journals why the step got no answer, so that a resumed session gets none either.
func (t *turn) observe(err error) {
	if limit, ok := errors.AsType[*service.Overtime](err); ok {
		t.x.s.Observed(limit.Entry(t.path))
	} else if _, ok := errors.AsType[*engine.StepError](err); ok {
		t.x.s.Observed(service.FailedEntry(t.path, err))
	}
}

// flight is a request that belongs to the run.
type flight struct {
	*completion
	services []*Service      // as bound
	session  *engine.Session // of the run
	key      engine.SharedKey
	path     string
	chat     llm.Chat
	headers  map[*Service]http.Header
	retry    engine.Retry
	class    engine.Class // for a failure before the answer
}

// fly sends the request and stores the answer before any session sees it. A panic counts as a failure.
func (f *flight) fly() (out value.Value, err error) {
	e, known, release, err := engine.AwaitShared(f.session, f.key)
	defer release()
	if known { // it completed since the caller looked
		return value.DecodeJSON(e.Output)
	} else if err != nil {
		return nil, err
	}
	q := &inquiry{
		completion: f.completion, services: f.services, session: f.session, clock: f.session.Clock(), path: f.path, retry: f.retry, headers: f.headers,
		key: draw.Key{}.Int(f.session.Settings().Seed).Text(string(f.key[:])),
	}
	entry := engine.Entry{Path: f.path}
	if out, err = q.answer(f.chat); err == nil {
		entry.Output, err = value.AppendJSON(nil, out)
	}
	if limit, ok := errors.AsType[*service.Overtime](err); ok {
		entry = limit.Entry(f.path)
	} else if err != nil {
		entry = service.FailedEntry(f.path, err)
	}
	if err == nil && q.record.Usage != nil {
		q.record.Usage.Hits-- // after a crash, any of the waiting sessions can have it
	}
	entry.Attempts = max(q.record.Attempts, 1)
	f.class = q.record.Class
	q.record.Path, q.record.Status, q.record.Class = f.path, entry.Status, entry.Class
	f.session.Answered(entry)
	if kept := f.session.Settle(q.record); kept != nil && err == nil {
		err = fmt.Errorf("%w: keep the answer of %s: %w", engine.ErrCut, f.path, kept)
	}
	return out, err
}

// answer calls run and converts a panic to a failure, because no caller would catch it.
func (q *inquiry) answer(chat llm.Chat) (out value.Value, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicError(p)
		}
	}()
	return q.run(chat)
}

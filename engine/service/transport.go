package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/gate"
)

const (
	maxBody = 32 << 20 // bytes of an answer that are read
	// unnamedWait is how long a 429 without Retry-After is waited out at first; it doubles up to maxWait.
	unnamedWait = time.Second
	maxWait     = time.Minute
)

// transport carries the calls of one service. It is safe for concurrent use.
type transport struct {
	base  http.RoundTripper
	bound *gate.Gate
	tag   bool // tell the rehearsal which cycle, step and attempt this is
}

// do is one call from its place in the journal to its result: the request is sent until it has an answer that is not
// to be tried again, or the answer is taken from the journal.
func (t *transport) do(req *http.Request, call *Call) (*Answer, error) {
	s := call.Session
	changing := req.Method != http.MethodGet && req.Method != http.MethodHead
	hash, err := requestHash(req)
	if err != nil {
		return nil, err
	}
	entry, known := s.Replay(call.Path)
	if known && entry.Hash != hash {
		return nil, engine.Fail(engine.ConfigError, "the journal holds another request for this step: the scenario does not repeat itself")
	}
	if known && entry.Attempts > 0 {
		call.Record.Label, call.Record.Attempts, call.Record.Statuses = engine.Replayed, entry.Attempts, entry.Statuses
		return replayed(entry, call)
	}
	if known {
		call.Record.Label = engine.Uncertain
	}
	ctx := req.Context()
	if changing {
		key := fmt.Sprintf("%s/%d/%d/%s", s.Run(), s.Cycle, s.Agent, call.Path)
		req.Header.Set("Idempotency-Key", key)
		if !known {
			if err := call.held(func() error { return s.Intend(ctx, call.Path, hash) }); err != nil {
				return nil, err
			}
		}
	}
	answer, err := t.send(ctx, req, call)
	t.journal(call, hash, changing, answer, err)
	return answer, err
}

// journal keeps the result of a call, unless the call was cut or ran out of a time that is not its own.
func (t *transport) journal(call *Call, hash uint64, changing bool, answer *Answer, err error) {
	e := engine.Entry{Path: call.Path, Hash: hash, Attempts: max(call.Record.Attempts, 1), Statuses: call.Record.Statuses}
	var failure *engine.StepError
	switch {
	case err == nil:
		e.Output = encodeAnswer(answer)
	case errors.As(err, &failure):
		e.Status, e.Class, e.Error = engine.StepFailed, failure.Class, failure.Error()
	default:
		return
	}
	if changing {
		call.Session.Answered(e)
	} else {
		call.Session.Observed(e)
	}
}

func replayed(e engine.Entry, call *Call) (*Answer, error) {
	if e.Status != engine.StepOK {
		return nil, &engine.StepError{Class: e.Class, Err: errors.New(e.Error)}
	}
	answer, err := decodeAnswer(e.Output)
	if err != nil {
		return nil, fmt.Errorf("read the journaled answer of %s: %w", e.Path, err)
	}
	if call.Accept != nil && answer.Status < 400 {
		if err := call.Accept(answer); err != nil {
			return nil, err
		}
	}
	return answer, nil
}

// send makes attempts until one counts.
func (t *transport) send(ctx context.Context, req *http.Request, call *Call) (*Answer, error) {
	wait := backoff.ExponentialBackOff{ // full jitter: anything between nothing and twice the interval
		InitialInterval: call.Retry.Wait / 2, MaxInterval: call.Retry.Max / 2, Multiplier: 2, RandomizationFactor: 1,
	}
	wait.Reset()
	unnamed := unnamedWait
	for sends := 1; ; sends++ {
		if err := t.enter(ctx, call); err != nil {
			return nil, err
		}
		answer, failure, err := t.attempt(ctx, req, call, sends)
		t.bound.Leave()
		if err != nil {
			call.Record.Attempts++
			return nil, err
		}
		if answer != nil && answer.Status == http.StatusTooManyRequests {
			call.Record.Statuses = append(call.Record.Statuses, answer.Status)
			d, named := RetryAfter(answer.Header.Get("Retry-After"), time.Now())
			if !named {
				d, unnamed = unnamed, min(2*unnamed, maxWait)
			}
			if err := call.sleep(ctx, d+wait.NextBackOff()/8); err != nil { // spread, so that not all come back at once
				return nil, err
			}
			continue
		}
		call.Record.Attempts++
		if answer != nil {
			call.Record.Statuses = append(call.Record.Statuses, answer.Status)
		}
		if failure == nil {
			return answer, nil
		}
		if call.Record.Attempts >= call.Retry.Attempts || call.Once && !neverSent(failure) {
			if answer != nil && failure.Class == engine.ServerError {
				return answer, nil // the step says what a status means
			}
			return nil, failure
		}
		if err := call.sleep(ctx, wait.NextBackOff()); err != nil {
			return nil, err
		}
	}
}

// enter takes a place among the service's calls, held if it must wait.
func (t *transport) enter(ctx context.Context, call *Call) error {
	if t.bound.TryEnter() {
		return nil
	}
	return call.held(func() error { return t.bound.Enter(ctx) })
}

// attempt sends the request once. failure is set where another attempt may help; err ends the call.
func (t *transport) attempt(ctx context.Context, req *http.Request, call *Call, sends int) (answer *Answer, failure *engine.StepError, err error) {
	once := ctx
	if call.Timeout > 0 {
		var cancel context.CancelFunc
		once, cancel = context.WithTimeoutCause(ctx, call.Timeout, errAttemptTimeout)
		defer cancel()
	}
	r := req.WithContext(once)
	if req.GetBody != nil {
		if r.Body, err = req.GetBody(); err != nil {
			return nil, nil, err
		}
	}
	if t.tag {
		s := call.Session
		r.Header.Set("X-Throng-Request", fmt.Sprintf("%d/%s/%d %s", s.Cycle, call.Path, sends, s.Now.UTC().Format(time.RFC3339)))
	}
	start := time.Now()
	answer, err = t.exchange(r, call)
	call.Record.Service += time.Since(start)
	if err != nil {
		failure, err = classify(ctx, once, err)
		return nil, failure, err
	}
	if failure = statusFailure(answer.Status); failure != nil {
		return answer, failure, nil
	}
	if call.Accept != nil && answer.Status < 400 {
		if err := call.Accept(answer); err != nil {
			return answer, &engine.StepError{Class: engine.BadAnswer, Err: err}, nil
		}
	}
	return answer, nil, nil
}

// exchange sends the request and reads the whole answer.
func (t *transport) exchange(r *http.Request, call *Call) (*Answer, error) {
	resp, err := t.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := readBody(resp)
	if err != nil {
		return nil, err
	}
	if call.Record.Label == engine.Uncertain && resp.Header.Get("Idempotency-Replayed") == "true" {
		call.Record.Label = engine.Confirmed
	}
	return &Answer{resp.StatusCode, steadyHeader(resp.Header), body}, nil
}

func readBody(resp *http.Response) ([]byte, error) {
	if resp.ContentLength > maxBody {
		return nil, fmt.Errorf("an answer of %d bytes, more than %d", resp.ContentLength, maxBody)
	}
	buf := bytes.NewBuffer(make([]byte, 0, max(resp.ContentLength, 512)))
	if _, err := buf.ReadFrom(io.LimitReader(resp.Body, maxBody+1)); err != nil {
		return nil, err
	}
	if buf.Len() > maxBody {
		return nil, fmt.Errorf("an answer of more than %d bytes", maxBody)
	}
	return buf.Bytes(), nil
}

// requestHash tells requests apart that a step may send: method, address and body.
func requestHash(req *http.Request) (uint64, error) {
	h := fnv.New64a()
	_, _ = io.WriteString(h, req.Method+" "+req.URL.RequestURI()+"\n") // the address without its host: the rehearsal's port changes
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return 0, err
		}
		if _, err := io.Copy(h, body); err != nil {
			return 0, err
		}
	}
	return h.Sum64(), nil
}

// RetryAfter reads a Retry-After header: seconds, or an HTTP date (RFC 9110, section 10.2.3).
func RetryAfter(value string, now time.Time) (time.Duration, bool) {
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds >= 0 {
		return time.Duration(min(seconds, 24*3600) * float64(time.Second)), true
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(at.Sub(now), 0), true
	}
	return 0, false
}

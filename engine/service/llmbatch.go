package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/stopping"
	"github.com/throng-sim/throng/engine/service/batch"
)

// mostExpired is how many batches may end before the provider reaches a call. After that the call fails.
const mostExpired = 3

// newBatches returns the queue for the batches of a service.
func newBatches(h *HTTP, cfg batch.Config) *batch.Queue {
	return batch.NewQueue(batch.Service{
		Name: h.name, Transport: h.pool, Address: func(path string) *url.URL { return h.address(Target{path: path}) },
	}, cfg)
}

// batched is the part of a call that goes through batches. Nothing is sent when its intent is journaled, so the intent claims nothing:
// the journal of batches says whether the call is out.
type batched struct {
	queue    *batch.Queue
	endpoint string
	model    string
	req      *http.Request // set when the call is sent

	requests int64 // spent when tries was 0
	tries    int   // batches so far, without one that counts as a request
	expired  int   // in a row
	answer   *batch.Answer
	lost     error // why there is no answer
}

// inBatch makes a call wait for a batch. Calls of the run itself, whose answers other sessions wait for, and those of the population
// are sent alone.
func (l *LLM) inBatch(call *Call, path, model string) bool {
	if l.batches == nil || call.Session == nil || call.Session.Agent < 0 || call.Session.Run().Recording != "" {
		return false
	}
	call.batched = &batched{queue: l.batches, endpoint: "/v1" + path, model: model}
	return true
}

// await waits for the answer of a batch, with the step's clock paused and its slot left to other sessions.
func (b *batched) await(ctx context.Context, call *Call) error {
	ctx, end := stopping.Until(ctx, engine.CutAlone("the answer of a batch is awaited, and the run is ending; resume the run for it"))
	defer end()
	for {
		if b.requests != call.spent.Requests {
			b.requests, b.tries = call.spent.Requests, 0
		}
		c, err := b.call(call)
		if err != nil {
			return err
		}
		ticket := b.queue.Enter(batchJournal{call.Session}, c)
		err = call.held(engine.ThrottledByBatch, func() (err error) {
			back := engine.Park(call.Session)
			defer back()
			b.answer, err = ticket.Wait(ctx)
			return err
		})
		b.tries++
		if err == nil {
			b.lost, b.expired = nil, 0
			return nil
		}
		rejected, isRejected := errors.AsType[*batch.Rejected](err)
		switch {
		case errors.Is(err, batch.ErrExpired):
			if b.expired++; b.expired < mostExpired {
				continue
			}
			return engine.Fail(engine.Timeout, "%d batches ended before the model reached the request", mostExpired)
		case errors.Is(err, batch.ErrMissing):
			b.lost = err
			return nil
		case isRejected:
			return engine.Fail(engine.ConfigError, "%w; to call the model without batches, set `batch: off` in its service", rejected)
		case ticket.Sent() && !errors.Is(err, engine.ErrCut):
			call.budget().pay(true, nil) // its answer will be billed
		}
		return err
	}
}

// call returns the request for the next batch.
func (b *batched) call(call *Call) (*batch.Call, error) {
	body, err := b.req.GetBody()
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	header := b.req.Header.Clone()
	call.sign(header)
	s := call.Session
	return &batch.Call{ID: b.id(call), Endpoint: b.endpoint, Model: b.model, Header: header, Body: text, Idle: func() bool { return engine.Idle(s) }}, nil
}

// id returns the ID of the call in its run. A resumed run comes to the same one.
func (b *batched) id(call *Call) string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d %x %d %d", call.Path, call.Session.Take, call.hash, b.requests, b.tries)
	return fmt.Sprintf("%d-%d-%016x", call.Session.Cycle, call.Session.Agent, h.Sum64())
}

// response returns the answer of the batch as that of a request.
func (b *batched) response(r *http.Request) (*http.Response, error) {
	if b.lost != nil {
		return nil, b.lost
	}
	return &http.Response{
		StatusCode: b.answer.Status, Status: strconv.Itoa(b.answer.Status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(b.answer.Body)),
		Body: io.NopCloser(bytes.NewReader(b.answer.Body)),
	}, nil
}

// roundTrip sends the request of an attempt, unless a batch has answered it.
func (c *Call) roundTrip(by http.RoundTripper, r *http.Request) (*http.Response, error) {
	if c.batched != nil {
		return c.batched.response(r)
	}
	return by.RoundTrip(r)
}

// batchJournal keeps what a run knows of its batches, as answers that belong to the run.
type batchJournal struct{ session *engine.Session }

var _ batch.Journal = batchJournal{}

// RunID implements [batch.Journal].
func (j batchJournal) RunID() engine.RunID { return j.session.Run().ID }

// Recall implements [batch.Journal].
func (j batchJournal) Recall(key engine.SharedKey) ([]byte, bool) {
	e, ok := j.session.Recall(key)
	return e.Output, ok
}

// batchPath is the path of what the journal has of batches.
const batchPath = "batch"

// Keep implements [batch.Journal].
func (j batchJournal) Keep(key engine.SharedKey, data []byte) error {
	s := j.session.ForRun(key, 0, nil)
	s.Answered(engine.Entry{Path: batchPath, Status: engine.StepOK, Attempts: 1, Output: data})
	return s.Settle(engine.StepRecord{Path: batchPath, Status: engine.StepOK})
}

// pauseRefused waits after a refusal in a batch. The limits of the service do not apply to batches.
func (t *transport) pauseRefused(ctx context.Context, call *Call, a *Answer, waits *refusals) error {
	if !refuses(a, call) {
		return nil
	}
	t.rejected.Add(1)
	return call.sleep(ctx, engine.ThrottledByRefusal, max(waits.next(a, false), time.Second))
}

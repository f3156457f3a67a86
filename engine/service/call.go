package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/clock"
)

// Call is one step's use of a service: what the transport must know of the step, and what it found out.
type Call struct {
	Session *engine.Session
	Clock   *clock.Clock // of the step; its context bounds the call
	Path    string       // of the step
	Retry   engine.Retry
	Timeout time.Duration // of one attempt; 0 is none
	Once    bool          // never sent again once it may have arrived
	// Accept says whether an answer can be used; its error counts as a bad answer and is tried again. Nil accepts all.
	Accept func(*Answer) error

	Record engine.StepRecord // attempts, statuses, times and label, as far as the call got
}

// Answer is a response read to its end.
type Answer struct {
	Status int
	Header http.Header // without what varies from one time to the next
	Body   []byte
}

// held runs wait with the step's clock standing still, and counts the time as held.
func (c *Call) held(wait func() error) error {
	start := time.Now()
	c.Clock.Hold()
	err := wait()
	c.Clock.Release()
	c.Record.Held += time.Since(start)
	return err
}

// sleep waits for d, held.
func (c *Call) sleep(ctx context.Context, d time.Duration) error {
	return c.held(func() error {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
}

// errAttemptTimeout is the cause of an attempt's context whose time ran out.
var errAttemptTimeout = errors.New("no answer in time")

// classify turns the error of an attempt into a step's failure. A context that ended for another reason than the
// attempt's own timeout ends the call with its cause.
func classify(ctx context.Context, attempt context.Context, err error) (failure *engine.StepError, final error) {
	if ctx.Err() != nil {
		cause := context.Cause(ctx)
		var timeout *engine.TimeoutError
		if errors.As(cause, &timeout) {
			return nil, &engine.StepError{Class: engine.Timeout, Err: cause}
		}
		return nil, cause
	}
	if errors.Is(context.Cause(attempt), errAttemptTimeout) {
		return &engine.StepError{Class: engine.Timeout, Err: errAttemptTimeout}, nil
	}
	var netErr net.Error
	if errors.As(err, &netErr) && netErr.Timeout() {
		return &engine.StepError{Class: engine.Timeout, Err: err}, nil
	}
	return &engine.StepError{Class: engine.Network, Err: err}, nil
}

// neverSent reports whether an error says that the request did not leave.
func neverSent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// statusFailure sorts a status that asks for another try; nil for any other.
func statusFailure(status int) *engine.StepError {
	switch {
	case status == http.StatusRequestTimeout || status == http.StatusTooEarly:
		return engine.Fail(engine.Timeout, "status %d", status)
	case status >= 500 && status != http.StatusNotImplemented:
		return engine.Fail(engine.ServerError, "status %d", status)
	}
	return nil
}

// Check returns the failure that a status outside of expect means; an empty expect wants less than 400.
func Check(status int, expect []int, body []byte) error {
	if len(expect) == 0 && status < 400 {
		return nil
	}
	for _, want := range expect {
		if status == want {
			return nil
		}
	}
	class := engine.ClientError
	switch {
	case status == http.StatusTooManyRequests:
		class = engine.RateLimited
	case status >= 500:
		class = engine.ServerError
	}
	return engine.Fail(class, "status %d%s", status, excerpt(body))
}

// excerpt is the beginning of a body, for an error text.
func excerpt(body []byte) string {
	if len(body) == 0 {
		return ""
	}
	const most = 200
	if len(body) > most {
		return fmt.Sprintf(": %q…", body[:most])
	}
	return fmt.Sprintf(": %q", body)
}

package service

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/clock"
	"github.com/throng-sim/throng/engine/service/admission"
	"github.com/throng-sim/throng/engine/service/openfiles"
	"github.com/throng-sim/throng/engine/service/redact"
	"github.com/throng-sim/throng/engine/spans"
)

// Call is one step's use of a service: the settings of the step, and the record of the call.
type Call struct {
	Session *engine.Session // nil if the call belongs to no session: it is not journaled, and Auth must be nil
	Purse   Purse           // budget for a call without a Session; nil if its usage is not counted
	Clock   *clock.Clock    // of the step; its context bounds the call
	Path    string          // of the step
	Retry   engine.Retry
	Timeout time.Duration // of one attempt; 0 uses the service's
	Once    bool          // never sent again once it may have arrived, not even after a crash
	Repeats Repeats       // how the service treats a repeated request
	Verify  *Verify       // asks whether a request was carried out before it is sent again; nil does not ask
	Keyless bool          // the service does not support Idempotency-Key
	// Endpoint is the unit that a service may limit separately: the method and the path's template, such as "GET /api/products/{}".
	// If it is "", it is derived from the request.
	Endpoint string
	Expect   []int // expected statuses; empty is 200 to 299
	// Accept returns an error if a response with an expected or 2xx status cannot be used. The attempt is then retried; an error
	// other than a *engine.StepError has the class of bad answers. Nil accepts everything.
	Accept func(*Answer) error
	// Adapt returns the body to send instead, after a response that rejects something in the request; nil keeps the response. The
	// attempt then does not count. A nil Adapt never changes the body.
	Adapt func(*Answer) []byte
	// Pieces starts reading a streamed response. The function that it returns gets the stream line by line and reports when it has
	// enough. Timeout then limits the silence between two lines. A nil Pieces reads every response to its end.
	Pieces  func() (enough func(event []byte) bool)
	Secrets []string // spellings to remove from responses and error texts; see [redact.Spellings]
	Auth    *Auth    // nil if no one signs in, or the request's headers do
	Cookies *Cookies // nil sends none and keeps none
	// Private keeps the response out of error texts and is noted in the journal. The journal keeps the response for a replay only
	// until its cycle is closed, and never shows it.
	Private bool

	Record engine.StepRecord // attempts, statuses, times and label so far

	account
	memory
	credentials
	doubts
	request admission.Request
}

// account is what a call claims and spends.
type account struct {
	bill     *bill                     // nil if it calls no model
	settle   func(spent engine.Outlay) // settles the claim for the next attempt; nil if there is none
	claimed  engine.Outlay             // for the next attempt, at most
	spent    engine.Outlay             // by all attempts, including those of earlier processes
	intended int64                     // requests covered by the newest intent in the journal
	batched  *batched                  // nil if the call is sent alone
	announcement
}

// announcement names the requests of a call to its service, for traces.
type announcement struct {
	announced int            // requests with a header traceparent
	sent      *spans.Request // the newest of them; nil if there is none
}

// memory is what the response of an attempt takes.
type memory struct {
	reserved int64         // in bytes
	waited   time.Duration // for it
	probe    bool          // other calls wait for the outcome of this attempt
}

// credentials sign a call in, and are removed from its texts.
type credentials struct {
	token     *token
	spelled   *token // its forms and those of Secrets are the spellings
	spellings []string
}

// doubts are whether the request of a call was carried out, and may be sent again.
type doubts struct {
	changing bool                                                   // it changes something at a service that is not a model
	what     string                                                 // the request, for display
	named    InDoubt                                                // the request, for Verify
	resent   bool                                                   // an earlier process sent it
	doubt    bool                                                   // it may have been carried out, and no response says so
	repeated bool                                                   // it was sent again while it was in doubt
	silently atomic.Bool                                            // the connection pool sent it again by itself
	verified bool                                                   // the service was asked whether it was carried out
	ask      func(ctx context.Context) (instead *Answer, err error) // calls Verify; nil if there is none
	failed   bool                                                   // an attempt failed for a reason that may be the call's own
	hash     uint64                                                 // of the request, as in the journal
}

// The methods of a call, by what they are about.
type (
	budget     struct{ *Call } // claims and costs of its attempts
	space      struct{ *Call } // memory for its response
	display    struct{ *Call } // its texts without secrets, and what people are shown
	queue      struct{ *Call } // waits for limits and rates
	repetition struct{ *Call } // requests that are sent again
	outcome    struct{ *Call } // what its attempts say about the service
)

func (c *Call) budget() budget         { return budget{c} }
func (c *Call) space() space           { return space{c} }
func (c *Call) display() display       { return display{c} }
func (c *Call) queue() queue           { return queue{c} }
func (c *Call) repetition() repetition { return repetition{c} }
func (c *Call) outcome() outcome       { return outcome{c} }

// Purse is the budget of calls. A claim is made before a request leaves, and settled when it has returned.
type Purse interface {
	TryClaim(most engine.Outlay) (settle func(spent engine.Outlay), ok bool)
	Claim(ctx context.Context, most engine.Outlay) (settle func(spent engine.Outlay), err error)
}

var (
	_ Purse = (*engine.Session)(nil)
	_ Purse = (*engine.Ledger)(nil)
)

// purse returns the budget of the call, or nil if its usage is not counted.
func (c *Call) purse() Purse {
	if c.Session != nil {
		return c.Session
	}
	return c.Purse
}

// expects reports whether a status is expected.
func (c *Call) expects(status int) bool {
	if len(c.Expect) == 0 {
		return status >= 200 && status < 300
	}
	return slices.Contains(c.Expect, status)
}

// readable reports whether the body of a response must be valid. A response with an unexpected status may be damaged.
func (c *Call) readable(status int) bool { return status/100 == 2 || c.expects(status) }

// accept returns why a response cannot be used, or nil.
func (c *Call) accept(a *Answer) *engine.StepError {
	if c.Accept == nil {
		return nil
	}
	err := c.Accept(a)
	if err == nil {
		return nil
	}
	failure, ok := errors.AsType[*engine.StepError](err)
	if !ok {
		failure = &engine.StepError{Class: engine.BadAnswer, Err: err}
	}
	if c.Private {
		return engine.Fail(failure.Class, "the answer, which is private, cannot be used")
	}
	return failure
}

// check returns the failure that a response's status means, or nil.
func (c *Call) check(a *Answer) error {
	if c.expects(a.Status) {
		return nil
	}
	return &engine.StepError{Class: statusClass(a.Status), Err: &engine.StatusError{Status: a.Status, Text: c.display().excerpt(a)}}
}

// excerpt returns the redirect target of a response, or the beginning of its body, for an error text.
func (c display) excerpt(a *Answer) string {
	const most, scanned = 200, 64 << 10 // more than is shown, so that no secret is cut in two
	if c.Private {
		return ""
	}
	text := string(a.Body[:min(len(a.Body), scanned)])
	if to, err := url.Parse(a.Header.Get("Location")); a.Status/100 == 3 && err == nil && to.String() != "" {
		return c.display().forDisplay(fmt.Sprintf(" to %s; redirects are not followed", (&url.URL{Scheme: to.Scheme, Host: to.Host, Path: to.Path}).Redacted()))
	}
	if text = strings.TrimSpace(c.display().forDisplay(titleOf(text))); text == "" {
		return ""
	}
	return fmt.Sprintf(": %q", redact.Shorten(text, most))
}

var (
	htmlStart = regexp.MustCompile(`(?i)^\s*<(?:!doctype\s+html|html)\b`)
	htmlTitle = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)
)

// titleOf returns the title of a web page. Any other text is returned as it is.
func titleOf(text string) string {
	if !htmlStart.MatchString(text) {
		return text
	}
	title := htmlTitle.FindStringSubmatch(text)
	if title == nil {
		return "a web page"
	}
	return "a web page: " + strings.Join(strings.Fields(html.UnescapeString(title[1])), " ")
}

// held calls wait with the step's clock paused, and counts the time as throttled.
func (c *Call) held(at engine.ThrottleCause, wait func() error) error {
	return c.queue().held(at, func() (engine.ThrottleCause, error) { return at, wait() })
}

// held is the same for a wait that returns the cause that its time counts for.
func (c queue) held(at engine.ThrottleCause, wait func() (engine.ThrottleCause, error)) error {
	start := time.Now()
	c.Session.Throttle(at)
	c.Clock.Hold()
	unblocked := func() {}
	if at == engine.ThrottledBySlots || at == engine.ThrottledByModels {
		unblocked = c.Session.Blocked()
	}
	at, err := wait()
	unblocked()
	c.Clock.Release()
	c.Session.Unthrottle()
	c.Record.Hold(at, time.Since(start))
	c.Session.Trail().Hold(c.Path, at, start)
	return err
}

// awaitFile lets a call wait until a connection may be opened again.
func awaitFile(ctx context.Context, c *Call, w *openfiles.Waits, service string) error {
	w.Report(service, time.Now())
	return c.sleep(ctx, engine.ThrottledByFiles, openfiles.Pause)
}

// sleep waits for d with the step's clock paused.
func (c *Call) sleep(ctx context.Context, at engine.ThrottleCause, d time.Duration) error {
	return c.held(at, func() error {
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

// errAttemptTimeout is the cause of an attempt's context that timed out.
var errAttemptTimeout = errors.New("no answer in time")

// classify returns the error of an attempt as a failure that another attempt may fix, or as the final error of the call. The final
// error is the cause of ctx if that ended. cause is why the context of the attempt ended.
func classify(ctx context.Context, cause, err error) (failure *engine.StepError, final error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var netErr net.Error
	switch {
	case errors.Is(err, errTooBig):
		return nil, &engine.StepError{Class: engine.BadAnswer, Err: err}
	case errors.Is(cause, errAttemptTimeout):
		return &engine.StepError{Class: engine.Timeout, Err: errAttemptTimeout}, nil
	case errors.As(err, &netErr) && netErr.Timeout():
		return &engine.StepError{Class: engine.Timeout, Err: err}, nil
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("the connection ended before the answer did: %w", err)
	}
	return &engine.StepError{Class: engine.Network, Err: err}, nil
}

// passing reports whether a status may be different on another attempt.
func passing(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly:
		return true
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return false
	}
	return status >= 500
}

// statusClass returns the class of an unexpected status.
func statusClass(status int) engine.Class {
	switch {
	case status == http.StatusTooManyRequests:
		return engine.RateLimited
	case status == http.StatusRequestTimeout || status == http.StatusTooEarly:
		return engine.Timeout
	case status >= 500:
		return engine.ServerError
	}
	return engine.ClientError
}

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
	"github.com/throng-sim/throng/engine/service/redact"
)

// Call is one step's use of a service: what the transport must know of the step, and what it found out.
type Call struct {
	Session *engine.Session // nil is that the call belongs to none: nothing of it is journaled, and Auth must be nil
	Purse   Purse           // what a call without a Session is paid from; nil is that nobody counts
	Clock   *clock.Clock    // of the step; its context bounds the call
	Path    string          // of the step
	Retry   engine.Retry
	Timeout time.Duration // of one attempt; 0 is the service's
	Once    bool          // never sent again once it may have arrived, after a crash neither
	Repeats Repeats       // how the service treats a request that it gets again
	Verify  *Verify       // asks whether a request was carried out before it is sent again; nil does not ask
	Keyless bool          // the service knows no Idempotency-Key
	// Endpoint is what the service may limit by itself: the method and the path's template, such as "GET /api/products/{}"; ""
	// is found out from the request.
	Endpoint string
	Expect   []int // statuses that are good answers; empty is 200 to 299
	// Accept says whether an answer that looks good (expected, or 200 to 299) can be used; its error, a bad answer where
	// it is no *engine.StepError, has it tried again. Nil accepts all.
	Accept func(*Answer) error
	// Adapt returns the body to send instead, after an answer that says that something in the request is not known; nil
	// leaves the answer as it is. The attempt then counts as none. Nil adapts nothing.
	Adapt func(*Answer) []byte
	// Pieces begins an answer that arrives in pieces: what it returns takes its events, line by line, and says when
	// nothing more is wanted; Timeout is then for the silence between two. Nil reads any answer to its end.
	Pieces  func() (enough func(event []byte) bool)
	Secrets []string // kept out of the answer and of error texts; see [Spellings]
	Auth    *Auth    // nil is that nobody signs in, or that the request's headers do
	// Private keeps the answer out of error texts, and marks it in the journal: it stands there, for a replay, only
	// until its cycle is closed, is never kept beyond that, whatever became of the session, and is shown to nobody.
	Private bool
	bill    *bill // nil if it calls no model

	Record engine.StepRecord // attempts, statuses, times and label, as far as the call got

	token     *token // that it is signed in with
	spelled   *token // whose forms, with those of Secrets, are the spellings
	spellings []string
	ticket    uint64                                                 // its rank among those who wait for the bucket's rate; 0 is that it did not
	whole     uint64                                                 // the same, for the service's
	bucket    *bucket                                                // whose turn it waits for or has; nil is the service's
	former    *bucket                                                // that it was in, until its answer named another
	placed    bool                                                   // it has a place among the service's calls
	left      time.Time                                              // when its request was let go
	resent    bool                                                   // an earlier process had sent its request
	changing  bool                                                   // it changes something at a service, which is no model
	what      string                                                 // its request, for people
	named     InDoubt                                                // its request, for Verify
	doubt     bool                                                   // its request may have been carried out, and no answer says so
	repeated  bool                                                   // its request was sent again while it was in doubt
	silently  atomic.Bool                                            // the pool of connections sent it again by itself
	verified  bool                                                   // the service was asked whether it was carried out
	ask       func(ctx context.Context) (instead *Answer, err error) // does that; nil does not ask
	failed    bool                                                   // an attempt of it failed in a way that may be its own
	probe     bool                                                   // others wait for what this attempt finds out
	reserved  int64                                                  // of memory, for the answer of this attempt
	waited    time.Duration                                          // for memory, in this attempt
	settle    func(spent engine.Outlay)                              // of what is claimed for the next attempt; nil is nothing
	claimed   engine.Outlay                                          // for it, at most
	spent     engine.Outlay                                          // by all attempts, those of earlier processes too
	intended  int64                                                  // requests that its newest intent in the journal tells of
	hash      uint64                                                 // of its request, as the journal has it
}

// Purse is what calls are paid from: a claim is made before a request leaves, and settled when it has come back.
type Purse interface {
	TryClaim(most engine.Outlay) (settle func(spent engine.Outlay), ok bool)
	Claim(ctx context.Context, most engine.Outlay) (settle func(spent engine.Outlay), err error)
}

var (
	_ Purse = (*engine.Session)(nil)
	_ Purse = (*engine.Ledger)(nil)
)

// purse is what the call is paid from; nil is that nobody counts.
func (c *Call) purse() Purse {
	if c.Session != nil {
		return c.Session
	}
	return c.Purse
}

// expects reports whether a status is a good answer.
func (c *Call) expects(status int) bool {
	if len(c.Expect) == 0 {
		return status >= 200 && status < 300
	}
	return slices.Contains(c.Expect, status)
}

// readable reports whether an answer's body must be in order: one of a status that is not expected may be the right
// answer garbled on its way.
func (c *Call) readable(status int) bool { return status/100 == 2 || c.expects(status) }

// accept says why an answer cannot be used, as the failure that it is; nil if it can.
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

// check returns the failure that an answer's status means.
func (c *Call) check(a *Answer) error {
	if c.expects(a.Status) {
		return nil
	}
	return &engine.StepError{Class: statusClass(a.Status), Err: &engine.StatusError{Status: a.Status, Text: c.excerpt(a)}}
}

// excerpt is where an answer that is no good one points to, or else the beginning of its body, for an error text.
func (c *Call) excerpt(a *Answer) string {
	const most, scanned = 200, 64 << 10 // the secret must not be cut in two where the text is
	if c.Private {
		return ""
	}
	text := string(a.Body[:min(len(a.Body), scanned)])
	if to, err := url.Parse(a.Header.Get("Location")); a.Status/100 == 3 && err == nil && to.String() != "" {
		return c.said(fmt.Sprintf(" to %s; redirects are not followed", (&url.URL{Scheme: to.Scheme, Host: to.Host, Path: to.Path}).Redacted()))
	}
	if text = strings.TrimSpace(c.said(inBrief(text))); text == "" {
		return ""
	}
	return fmt.Sprintf(": %q", redact.Shorten(text, most))
}

var (
	htmlStart = regexp.MustCompile(`(?i)^\s*<(?:!doctype\s+html|html)\b`)
	htmlTitle = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)
)

// inBrief is the title of a web page; any other text is itself.
func inBrief(text string) string {
	if !htmlStart.MatchString(text) {
		return text
	}
	title := htmlTitle.FindStringSubmatch(text)
	if title == nil {
		return "a web page"
	}
	return "a web page: " + strings.Join(strings.Fields(html.UnescapeString(title[1])), " ")
}

// held runs wait with the step's clock standing still, and counts the time as held at a gate.
func (c *Call) held(at engine.Gate, wait func() error) error {
	start := time.Now()
	c.Session.Held(at)
	c.Clock.Hold()
	unblocked := func() {}
	if at == engine.PlaceGate || at == engine.ModelGate {
		unblocked = c.Session.Blocked()
	}
	err := wait()
	unblocked()
	c.Clock.Release()
	c.Session.Released()
	c.Record.Hold(at, time.Since(start))
	c.Session.Trail().Hold(c.Path, at, start)
	return err
}

// holdAt returns a function that runs wait as held does.
func (c *Call) holdAt(at engine.Gate) func(wait func() error) error {
	return func(wait func() error) error { return c.held(at, wait) }
}

// sleep waits for d, held at a gate.
func (c *Call) sleep(ctx context.Context, at engine.Gate, d time.Duration) error {
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

// errAttemptTimeout is the cause of an attempt's context whose time ran out.
var errAttemptTimeout = errors.New("no answer in time")

// classify turns the error of an attempt into a step's failure, which another attempt may help, or into one that ends the
// call: the cause of a context that ended for another reason than the attempt's own timeout. cause is why the attempt's ended.
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

// neverSent reports whether an error says that the request did not leave.
func neverSent(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// passing reports whether a status asks for another try.
func passing(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly:
		return true
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return false
	}
	return status >= 500
}

// statusClass sorts the statuses that are no good answers.
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

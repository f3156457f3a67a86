package service

import (
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/openai"
	"github.com/throng-sim/throng/engine/service/redact"
)

// forms are those of all secrets of the call: of its service, and of the token that it is signed in with.
func (c *Call) forms() []string {
	if c.token == nil {
		return c.Secrets
	}
	if c.spelled != c.token {
		c.spelled, c.spellings = c.token, append(redact.Spellings(c.token.value), c.Secrets...)
	}
	return c.spellings
}

// redact removes from a response what the service repeats of the secrets that it was sent, so that neither the journal nor an
// expression contains them: a session does not depend on which token its agent has.
func (c *Call) redact(a *Answer) {
	spellings := c.Secrets
	if c.token != nil && redact.MayRepeat(a.Body, a.Header, c.token.value) { // searching for the forms of a long token is slow
		spellings = c.forms()
	}
	a.Body = redact.Response(a.Body, a.Header, spellings)
	if openai.IsStream(a.Header) { // a secret may begin in one event and end in another
		a.Body = openai.RedactStream(a.Body, c.forms())
	}
}

// redacted removes the secrets of the call from a text that was put together from the pieces of a response.
func (c *Call) redacted(text string) string { return redact.Text(text, c.forms()) }

// said returns a text for people without the secrets of the call, however short they are.
func (c *Call) said(text string) string { return redact.ShownText(text, c.forms()) }

// muted is the failure of an attempt without what a service put into it of secrets, or of a private answer: the errors
// of Go's HTTP client repeat what they cannot read.
func (c *Call) muted(failure *engine.StepError) *engine.StepError {
	if failure == nil || failure.Err == nil {
		return failure
	}
	text := failure.Err.Error()
	quiet := c.said(text)
	if c.Private && (strings.Contains(text, "malformed") || strings.Contains(text, "transport connection broken")) {
		quiet = "the answer, which is private, is malformed"
	}
	if quiet == text {
		return failure
	}
	return &engine.StepError{Class: failure.Class, Err: mutedError{quiet, failure.Err}}
}

// mutedError says another text than the error that it is.
type mutedError struct {
	text string
	err  error
}

func (e mutedError) Error() string { return e.text }
func (e mutedError) Unwrap() error { return e.err }

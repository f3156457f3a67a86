package service

import (
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/llm"
	"github.com/throng-sim/throng/engine/service/redact"
)

// forms returns the spellings of all secrets of the call: of its service, and of its token.
func (c display) forms() []string {
	if c.token == nil || c.token.value == "" {
		return c.Secrets
	}
	if c.spelled != c.token {
		c.spelled, c.spellings = c.token, append(redact.Spellings(c.token.value), c.Secrets...)
	}
	return c.spellings
}

// redact removes the secrets that a service repeats from its response, so that neither the journal nor an expression contains them:
// a session does not depend on which token its agent has.
func (c display) redact(a *Answer) {
	spellings := c.Secrets
	if c.token != nil && c.token.value != "" && redact.MayRepeat(a.Body, a.Header, c.token.value) { // searching for the forms of a long token is slow
		spellings = c.display().forms()
	}
	a.Body = redact.Response(a.Body, a.Header, spellings)
	if llm.IsStream(a.Header) { // a secret may begin in one event and end in another
		a.Body = llm.RedactStream(a.Body, c.display().forms())
	}
}

// redacted removes the secrets of the call from a text that was put together from the pieces of a response.
func (c display) redacted(text string) string { return redact.Text(text, c.display().forms()) }

// forDisplay returns a text for people without the secrets of the call, however short they are, and without its cookies.
func (c display) forDisplay(text string) string {
	return redact.ShownText(redact.ShownText(redact.Unmarked(text), c.display().forms()), c.Cookies.spellings())
}

// redactedFailure returns the failure of an attempt without secrets, and without a private response: errors of Go's HTTP client
// quote what they cannot parse.
func (c display) redactedFailure(failure *engine.StepError) *engine.StepError {
	if failure == nil || failure.Err == nil {
		return failure
	}
	text := failure.Err.Error()
	quiet := c.display().forDisplay(text)
	if c.Private && (strings.Contains(text, "malformed") || strings.Contains(text, "transport connection broken")) {
		quiet = "the answer, which is private, is malformed"
	}
	if quiet == text {
		return failure
	}
	return &engine.StepError{Class: failure.Class, Err: mutedError{quiet, failure.Err}}
}

// mutedError is an error with another text.
type mutedError struct {
	text string
	err  error
}

func (e mutedError) Error() string { return e.text }
func (e mutedError) Unwrap() error { return e.err }

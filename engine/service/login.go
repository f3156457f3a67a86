package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/redact"
)

// Login gets a token with a request of its own. That is not a step: it is neither journaled nor among the session's steps, and its
// time counts for the step that needed it. It is retried as the run's settings say, and obeys 429.
type Login struct {
	Client  *HTTP
	Request Request
	Expect  []int     // expected statuses; empty is 200 to 299
	Token   TokenPath // position of the token in the response
	// Explain adds to errors the text of a refusal, and the fields of a response without a token. Use it for errors that are shown
	// once and not stored.
	Explain bool
}

// LoginError is a failed login.
type LoginError struct{ Err error }

func (e *LoginError) Error() string { return "the login before it failed: " + e.Err.Error() }

// Unwrap returns the reason.
func (e *LoginError) Unwrap() error { return e.Err }

var _ Issuer = (*Login)(nil)

func (l *Login) issue(ctx context.Context, by *Call) (*token, error) {
	var got *token
	var missing error
	call := &Call{
		Session: by.Session, Clock: by.Clock, Path: by.Path + ".login", Retry: by.Session.Settings().Retry,
		Expect: l.Expect, Private: true, Secrets: by.Secrets,
		Accept: func(a *Answer) error {
			if got, missing = l.Token.in(a); missing != nil && l.Explain {
				missing = fmt.Errorf("%w%s", missing, fieldsOf(a.Body))
			}
			return missing
		},
	}
	r, err := l.Request.revealed()
	if err != nil {
		return nil, err
	}
	r.Header = r.Header.Clone() // the login may be repeated
	var req http.Request
	l.Client.request(&r, &req)
	answer, err := l.Client.transport.send(ctx, &req, call)
	by.Record.Take(&engine.StepRecord{Throttled: call.Record.Throttled, Waits: call.Record.Waits, Service: call.Record.Service})
	by.spent = by.spent.Plus(call.spent)
	if err == nil {
		call.Private = !l.Explain || answer.Status < http.StatusMultipleChoices // a good response may contain the token
		err = call.check(answer)
	}
	failure, ok := errors.AsType[*engine.StepError](err)
	switch {
	case !ok:
		return got, err
	case failure.Class == engine.BadAnswer && missing != nil:
		failure = &engine.StepError{Class: failure.Class, Err: missing}
	}
	return nil, &engine.StepError{Class: failure.Class, Err: &LoginError{failure}}
}

// fieldsOf lists the fields of a response, without their values.
func fieldsOf(body []byte) string {
	const most = 10
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil || len(fields) == 0 || len(fields) > most {
		return ""
	}
	return "; it has " + redact.Shorten(strings.Join(slices.Sorted(maps.Keys(fields)), ", "), mostListed)
}

// mostListed limits the names in an error, in bytes.
const mostListed = 200

// TokenPath is the position of a token in a response: body.access_token, headers.x-token, or body for the whole body.
type TokenPath struct {
	names  []string // of fields of the body
	header string   // or of a header
}

// ParseTokenPath parses a path with dots.
func ParseTokenPath(text string) (TokenPath, error) {
	first, rest, more := strings.Cut(text, ".")
	switch {
	case first == "headers" && rest != "":
		return TokenPath{header: rest}, nil
	case first == "body" && !more:
		return TokenPath{}, nil
	case first == "body":
		if names := strings.Split(rest, "."); !strings.Contains("."+rest+".", "..") {
			return TokenPath{names: names}, nil
		}
	}
	return TokenPath{}, errors.New("it names neither the body of the answer nor a header of it")
}

func (p TokenPath) String() string {
	if p.header != "" {
		return "headers." + p.header
	}
	return strings.Join(append([]string{"body"}, p.names...), ".")
}

// in finds the token of a response. Its errors do not repeat the response.
func (p TokenPath) in(a *Answer) (*token, error) {
	text := ""
	switch {
	case p.header != "":
		text = a.Header.Get(p.header)
	case len(p.names) == 0:
		text = string(a.Body)
	default:
		var v any
		if err := json.Unmarshal(a.Body, &v); err != nil {
			return nil, errors.New("its answer is not JSON")
		}
		for _, name := range p.names {
			fields, _ := v.(map[string]any)
			v = fields[name]
		}
		text, _ = v.(string)
	}
	text = strings.TrimSpace(text)
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil, fmt.Errorf("its answer has no token at %s", p)
	}
	return &token{value: text}, nil
}

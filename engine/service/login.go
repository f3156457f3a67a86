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

// Login gets a token by a request of its own. That is no step: it stands neither in the journal nor among the session's
// steps, and its time is that of the step that needed it. It is retried as the run says, and obeys 429.
type Login struct {
	Client  *HTTP
	Request Request
	Expect  []int     // statuses that are good answers; empty is 200 to 299
	Token   TokenPath // where the token is in the answer
	// Explain has errors tell what a refusal says, and which fields an answer without a token has. It is for errors that are
	// shown once and kept nowhere.
	Explain bool
}

// LoginError is why a login failed.
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
	r.Header = r.Header.Clone() // it may have to log in again
	var req http.Request
	l.Client.request(&r, &req)
	answer, err := l.Client.transport.send(ctx, &req, call)
	by.Record.Take(&engine.StepRecord{Held: call.Record.Held, Waits: call.Record.Waits, Service: call.Record.Service})
	by.spent = by.spent.Plus(call.spent)
	if err == nil {
		call.Private = !l.Explain || answer.Status < http.StatusMultipleChoices // which may hold the token
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

// fieldsOf lists the fields of an answer, without their values.
func fieldsOf(body []byte) string {
	const most = 10
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil || len(fields) == 0 || len(fields) > most {
		return ""
	}
	return "; it has " + redact.Shorten(strings.Join(slices.Sorted(maps.Keys(fields)), ", "), mostListed)
}

// mostListed is how many bytes of names an error lists.
const mostListed = 200

// TokenPath is where an answer holds a token: body.access_token, headers.x-token, or body for all of it.
type TokenPath struct {
	names  []string // of fields of the body
	header string   // or of a header
}

// ParseTokenPath reads a path with dots. Its error says what is wrong.
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

// in finds the token of an answer. Its errors repeat nothing of that.
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
			return nil, errors.New("its answer is no JSON")
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

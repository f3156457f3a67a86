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
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/cookies"
	"github.com/throng-sim/throng/engine/service/redact"
	"github.com/throng-sim/throng/engine/service/tokenpath"
)

// Login gets a token with a request of its own. That is not a step: it is neither journaled nor among the session's steps, and its
// time counts for the step that needed it. It is retried as the run's settings say, and obeys 429.
type Login struct {
	Client  *HTTP
	Request Request
	Secrets []string       // spellings to remove from texts, in addition to those of the call
	Expect  []int          // expected statuses; empty is 200 to 299
	Token   tokenpath.Path // position of the token in the response; the zero value wants none
	Cookies bool           // the cookies of the response sign the agent in, alone or with the token
	Cookie  string         // name of a cookie that the response must set; "" is any, unless there is a token
	Expires bool           // the response says when the token expires (RFC 6749, section 5.1)
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
		Expect: l.expected(), Private: true, Secrets: slices.Concat(by.Secrets, l.Secrets),
		Accept: func(a *Answer) error {
			if got, missing = l.read(a); missing != nil && l.Explain {
				missing = fmt.Errorf("%w%s", missing, fieldsOf(a.Body))
			}
			return missing
		},
	}
	if l.Cookies {
		call.Cookies = &Cookies{}
	}
	r, err := l.Request.revealed()
	if err != nil {
		return nil, err
	}
	req := l.Client.request(r)
	req.Header = req.Header.Clone() // the login may be repeated
	answer, err := l.Client.transport.send(ctx, req, call)
	by.repetition().addCost(call)
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

// expected returns the statuses of a successful login. Without a token, a redirect is one: forms lead to the next page.
func (l *Login) expected() []int {
	if len(l.Expect) > 0 || l.Token.IsSet() {
		return l.Expect
	}
	return []int{200, 201, 202, 203, 204, 205, 206, 301, 302, 303, 307, 308}
}

// read returns what signs the agent in: the token of a response, its cookies, or both.
func (l *Login) read(a *Answer) (*token, error) {
	t := &token{}
	if l.Token.IsSet() {
		var err error
		if t.value, err = l.Token.Find(a.Header, a.Body); err != nil {
			return nil, err
		}
		if l.Expires {
			t.due = tokenpath.Expiry(a.Body, time.Now())
		}
	}
	if !l.Cookies {
		return t, nil
	}
	t.cookies = a.Cookies()
	sent := cookies.Sent(t.cookies, l.Client.base)
	switch _, set := cookies.Value(sent, l.Cookie); {
	case l.Cookie != "" && !set:
		names := "its answer sets none"
		if all := cookies.Names(sent); len(all) > 0 {
			names = "its answer sets " + redact.Shorten(strings.Join(all, ", "), mostListed)
		}
		return nil, fmt.Errorf("its answer does not set the cookie %s: %s", l.Cookie, names)
	case len(t.cookies) == 0 && !l.Token.IsSet():
		return nil, errors.New("its answer sets no cookie")
	}
	return t, nil
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

package service

import (
	"container/list"
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/cookies"
)

// Auth configures how the requests of a call are signed in: with a token of the agent.
type Auth struct {
	Tokens *Tokens // tokens of the service's agents
	Issuer Issuer  // creates a token if the agent has none, or if the service rejects the one it has
	Header string  // header of the token, in canonical form
	Scheme string  // prefix of the token; "" for none
	// Path is where a session journals the cookies of the login that it uses, so that it is resumed with the same ones; "" if the
	// login sets none.
	Path string
}

// Issuer creates tokens for agents: a [*Login] or a [*JWT].
type Issuer interface {
	// issue returns a *engine.StepError, or the cause of a context that ended.
	issue(ctx context.Context, call *Call) (*token, error)
}

// token signs an agent in. It stays in memory and is never journaled.
type token struct {
	value   string    // "" if cookies alone sign the agent in
	due     time.Time // when it must be replaced; zero is when the service rejects it
	cookies []string  // of the login, normalized
}

func (t *token) good(now time.Time) bool { return t != nil && (t.due.IsZero() || now.Before(t.due)) }

// mostTokens limits the agents whose tokens a service keeps. It is above the number of sessions in flight.
const mostTokens = 1 << 16

// Tokens holds a token for each of a service's agents. If there are too many, the least recently used are dropped, and their agents
// sign in again. The zero value is ready to use. It is safe for concurrent use.
type Tokens struct {
	mu    sync.Mutex
	most  int                   // 0 is mostTokens
	of    map[int]*list.Element // of *seat, by agent
	order list.List             // of *seat, most recently used first
}

// seat holds an agent's token. The holder of the lock may read and change it, so that an agent's steps share one login.
type seat struct {
	agent   int
	turn    chan struct{}
	token   *token
	session engine.Place // newest session that journaled the cookies of its login
	first   *token       // with those cookies; nil if there is none
}

// seat returns the seat of an agent.
func (k *Tokens) seat(agent int) *seat {
	k.mu.Lock()
	defer k.mu.Unlock()
	if e, ok := k.of[agent]; ok {
		k.order.MoveToFront(e)
		return e.Value.(*seat)
	}
	most := k.most
	if most == 0 {
		most = mostTokens
	}
	if k.of == nil {
		k.of = map[int]*list.Element{}
	}
	for len(k.of) >= most {
		last := k.order.Back()
		delete(k.of, k.order.Remove(last).(*seat).agent)
	}
	s := &seat{agent: agent, turn: make(chan struct{}, 1)}
	k.of[agent] = k.order.PushFront(s)
	return s
}

// lock waits for the lock. Another step of the agent holds it and uses its own time.
func (s *seat) lock(ctx context.Context, call *Call) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	default:
	}
	return call.held(engine.ThrottledByToken, func() error {
		select {
		case s.turn <- struct{}{}:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
}

func (s *seat) unlock() { <-s.turn }

// signIn signs the call in with a valid token other than its present one. issued means that the token is new; otherwise the agent already
// had it.
func (c *Call) signIn(ctx context.Context) (issued bool, err error) {
	if c.Auth == nil {
		return false, nil
	}
	s := c.Auth.Tokens.seat(c.Session.Agent)
	if err := s.lock(ctx, c); err != nil {
		return false, err
	}
	defer s.unlock()
	before := c.token
	if kept := s.journaled(c); kept != nil && before == nil {
		s.token = kept
	}
	if s.token == before || !s.token.good(time.Now()) {
		fresh, err := c.Auth.Issuer.issue(ctx, c)
		if err != nil {
			return false, err
		}
		s.token, issued = fresh, true
	}
	c.token = s.token
	s.note(c)
	if c.Cookies != nil {
		c.Cookies.signIn(s.first, c.token)
	}
	return issued, nil
}

// loginHeader has the token in the journal of a login that also sets cookies.
const loginHeader = "Token"

// journaled returns the login of the session from the journal of an earlier process, or nil.
func (s *seat) journaled(c *Call) *token {
	if c.Auth.Path == "" {
		return nil
	}
	e, ok := c.Session.Replay(c.Auth.Path)
	if !ok {
		return nil
	}
	a, err := decodeAnswer(e.Output)
	if err != nil {
		return nil
	}
	s.session, s.first = c.Session.Place, &token{value: a.Header.Get(loginHeader), cookies: a.Cookies()}
	return s.first
}

// note journals the login that a session uses first. Those that replace it are in the answers of the steps that needed them.
func (s *seat) note(c *Call) {
	if c.Auth.Path == "" || s.first != nil && s.session == c.Session.Place {
		return
	}
	s.session, s.first = c.Session.Place, c.token
	a := &Answer{Status: http.StatusOK, Header: http.Header{cookies.Header: c.token.cookies}}
	if c.token.value != "" {
		a.Header.Set(loginHeader, c.token.value)
	}
	c.Session.Observed(engine.Entry{Path: c.Auth.Path, Attempts: 1, Output: encodeAnswer(a), Private: true})
}

// refresh signs the call in again if its token expired while the call waited.
func (c *Call) refresh(ctx context.Context) error {
	if c.token == nil || c.token.good(time.Now()) {
		return nil
	}
	_, err := c.signIn(ctx)
	return err
}

// sign adds the call's token to the headers of an attempt.
func (c *Call) sign(h http.Header) {
	if c.token == nil || c.token.value == "" {
		return
	}
	value := c.token.value
	if c.Auth.Scheme != "" {
		value = c.Auth.Scheme + " " + value
	}
	h[c.Auth.Header] = []string{value}
}

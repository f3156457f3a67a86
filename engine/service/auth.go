package service

import (
	"container/list"
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Auth says how the requests of a call are signed in: with a token that its agent keeps.
type Auth struct {
	Kept   *Tokens // of the service
	Issuer Issuer  // gives the agent a token when it has none, and when a service refuses the one that it has
	Header string  // where the token stands, in canonical form
	Scheme string  // stands before it; "" is nothing
}

// Issuer gives an agent a new token: a [*Login] or a [*JWT].
type Issuer interface {
	// issue returns a *engine.StepError, or the cause of a context that ended.
	issue(ctx context.Context, call *Call) (*token, error)
}

// token is what an agent signs in with. It stays in memory: nothing journals it.
type token struct {
	value string
	due   time.Time // when another must take its place; zero is when it is refused
}

func (t *token) good(now time.Time) bool { return t != nil && (t.due.IsZero() || now.Before(t.due)) }

// mostTokens bounds the agents whose tokens a service keeps. It is above what can be in flight at once.
const mostTokens = 1 << 16

// Tokens are those of a service's agents, one each. Of too many, those go that were not used for longest: their agents
// sign in again. The zero value is ready and safe for concurrent use.
type Tokens struct {
	mu    sync.Mutex
	most  int                   // 0 is mostTokens
	of    map[int]*list.Element // of *seat, by agent
	order list.List             // of *seat, the last used in front
}

// seat is where an agent's token is kept. Who holds the turn may look at it and change it, so that the steps of an
// agent share one login.
type seat struct {
	agent int
	turn  chan struct{}
	token *token
}

// seat returns that of an agent.
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

// take waits for the turn. Another step of the agent has it meanwhile and uses its own time.
func (s *seat) take(ctx context.Context, call *Call) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	default:
	}
	return call.held(engine.TokenGate, func() error {
		select {
		case s.turn <- struct{}{}:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
}

func (s *seat) give() { <-s.turn }

// signIn gives the call a token that is good, and another than the one that it has. issued says that it is new; else
// the agent had it already, or another of its steps has got it meanwhile.
func (c *Call) signIn(ctx context.Context) (issued bool, err error) {
	if c.Auth == nil {
		return false, nil
	}
	s := c.Auth.Kept.seat(c.Session.Agent)
	if err := s.take(ctx, c); err != nil {
		return false, err
	}
	defer s.give()
	if s.token != c.token && s.token.good(time.Now()) {
		c.token = s.token
		return false, nil
	}
	fresh, err := c.Auth.Issuer.issue(ctx, c)
	if err != nil {
		return false, err
	}
	s.token, c.token = fresh, fresh
	return true, nil
}

// refresh signs the call in anew whose token ran out while it waited.
func (c *Call) refresh(ctx context.Context) error {
	if c.token == nil || c.token.good(time.Now()) {
		return nil
	}
	_, err := c.signIn(ctx)
	return err
}

// sign puts the call's token into the headers of an attempt.
func (c *Call) sign(h http.Header) {
	if c.token == nil {
		return
	}
	value := c.token.value
	if c.Auth.Scheme != "" {
		value = c.Auth.Scheme + " " + value
	}
	h[c.Auth.Header] = []string{value}
}

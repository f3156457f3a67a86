package chain

import (
	"errors"
	"net/http"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/chain/retry"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service"
)

// SignIn is the result of signing an agent in to a service.
type SignIn struct {
	Login string // the login request for display; "" if the service has no login, or the request could not be made
	Err   error  // status of the login, or of the service's base URL if it is not 200 to 299
}

// SignIn signs the session's agent in, as a step would, and requests the service's base URL. It makes one attempt.
func (s *Service) SignIn(session *engine.Session, in *Input) SignIn {
	asks := &signIn{request: request{service: s, method: http.MethodGet, target: expr.Target{Fixed: &service.Target{}}}}
	step := &Step{Name: "check", Kind: "http", retry: retry.Policy{Attempts: 1}, action: asks}
	c := &Chain{Name: step.Name, Body: &Block{Steps: []*Step{step}, segments: []segment{{to: 1}}}}
	c.Run(session, in)
	if row := session.Row; asks.result.Err == nil && !row.Outcome.Commits() {
		asks.result.Err = errors.New(row.Error)
	}
	return asks.result
}

// signIn is a step that is not in the file.
type signIn struct {
	request
	result SignIn
}

func (a *signIn) run(t *turn) (out value.Value, err error) {
	out, err = a.ask(t)
	a.result.Err = err
	return out, err
}

func (a *signIn) ask(t *turn) (value.Value, error) {
	r, auth, err := a.make(t)
	if err != nil {
		return nil, err
	}
	if auth != nil {
		if login, ok := auth.Issuer.(*service.Login); ok {
			login.Explain = true
			a.result.Login = login.Request.Described()
		}
	}
	call := t.call(a.service)
	call.Auth = auth
	_, err = a.service.HTTP.Do(call, r)
	return value.Missing, err
}

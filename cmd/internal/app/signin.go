package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/runid"
	"github.com/throng-sim/throng/cmd/internal/consent"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/service"
)

// signs reports whether requests to a service carry credentials.
func (o PlannedService) signs() bool {
	return o.Bearer != "" || o.JWT != nil || o.Login != nil || o.Key != nil
}

// signedIn is the result of signing an agent in to a service.
type signedIn struct {
	chain.SignIn
	agent     string
	exchanges []engine.Exchange // the last one may lack its answer, if time ran out
}

// checkSignIn signs the first agent in to a service as its sessions do, requests the service's own address, and describes
// the answer. If the service refuses, the error says what was sent where, and what to change.
func (l checks) checkSignIn(ctx context.Context, o PlannedService) (string, error) {
	if l.Scenario.Agents == 0 || l.Scenario.Writing(l.Settings.Seed) != nil {
		trusted, err := l.trust(o.Service)
		if err != nil {
			return "", err
		}
		text, err := l.checkHTTP(ctx, o, trusted)
		return text + "; not signed in: no agents yet", err
	}
	s, err := l.signIn(ctx, o.Service)
	if err != nil {
		return "", err
	}
	return s.describe(ctx, o)
}

// signIn runs a session of the first agent that only signs in to a service. The budget of the checks pays for its requests.
func (l checks) signIn(ctx context.Context, s *chain.Service) (*signedIn, error) {
	bearer, _, err := l.Secrets.Of(s)
	if err != nil {
		return nil, err
	}
	asked := []*chain.Service{s}
	if s.Login != nil && s.Login.At != nil {
		if err := l.equipIssuer(s.Login.At); err != nil {
			return nil, err
		}
		asked = append(asked, s.Login.At)
	}
	l.Settings = alone(l.Settings)
	l.Settings.Retry.Attempts = 1
	j := &Job{Program: l.Scenario.Program(l.Settings.Seed)}
	defer func() { _ = j.Close() }()
	if err := l.connect(j, map[string]string{s.Name: bearer}, asked); err != nil {
		return nil, err
	}
	id, err := j.Program.AgentID(0)
	if err != nil {
		return nil, err
	}
	result, traced := &signedIn{agent: id}, &sessionTrial{}
	ctx, cut := context.WithCancelCause(ctx)
	defer cut(nil)
	ledger, _ := ctx.Value(ledgerKey{}).(*engine.Ledger)
	j.Run, err = run.Start(ctx, run.Config{
		ID: runid.New(time.Now()), Program: j.Program.SignIn(s, func(s chain.SignIn) {
			traced.mu.Lock()
			defer traced.mu.Unlock()
			result.SignIn = s
		}), Agents: l.Scenario.Agents, Chosen: []int{0},
		Clock: l.Scenario.Clock.Together(), Settings: l.Settings, Services: j.services,
		Descriptions: run.Descriptions{Name: j.Program.AgentID}, Prior: run.Prior{Ledger: ledger},
		Hooks: run.Hooks{Tracer: func(e engine.Exchange) {
			traced.trace(e)
			if e.Status == http.StatusTooManyRequests { // a run would wait
				cut(engine.ErrCut)
			}
		}},
	})
	if err != nil {
		return nil, err
	}
	j.Run.Wait()
	traced.mu.Lock()
	defer traced.mu.Unlock()
	result.exchanges = traced.exchanges
	return result, nil
}

// equipIssuer hands the service that issues the tokens of another its secrets. Its address must be allowed.
func (l checks) equipIssuer(s *chain.Service) error {
	found, _ := l.destinations(s)
	for _, d := range found {
		if !l.mayCall(s, d) {
			return &engine.FieldError{
				Field: "service " + s.Name, Problem: fmt.Sprintf("nothing was sent to %s, which issues the tokens: it is not allowed yet, and would get %s", d.Address(), d.Gets()),
				Hint: "allow it: --allow " + consent.Name(d),
			}
		}
	}
	_, others, err := l.Secrets.Of(s)
	if err == nil {
		s.Unlock(others)
	}
	return err
}

// last returns the newest exchange of the login, or with the service's own address.
func (s *signedIn) last(login bool) (e engine.Exchange) {
	for _, one := range s.exchanges {
		if strings.HasSuffix(one.Path, ".login") == login {
			e = one
		}
	}
	return e
}

// answered describes the answer to a request.
func answered(e engine.Exchange) string {
	return fmt.Sprintf("%d %s in %s", e.Status, http.StatusText(e.Status), engine.FormatDuration(e.Took))
}

// describe describes the result. Errors are *engine.FieldError, *doubtError, or the error of a request without an answer.
func (s *signedIn) describe(ctx context.Context, o PlannedService) (string, error) {
	text := ""
	if login := s.last(true); o.Login != nil && login.Status != 0 {
		text = fmt.Sprintf("logged in as %s (%s: %s); ", s.agent, login.Request, answered(login))
	}
	own := s.last(false)
	_, isLogin := errors.AsType[*service.LoginError](s.Err)
	status, isStatus := errors.AsType[*engine.StatusError](s.Err)
	switch {
	case s.Err == nil:
		return text + "answered " + answered(own) + o.signature(), nil
	case isLogin, o.Login != nil && own.Status == 0:
		return "", s.loginRefused(ctx, o)
	case own.Status == http.StatusTooManyRequests:
		return "", &doubtError{text + "answered " + answered(own), "wait before you check again: the service limits requests"}
	case !isStatus:
		return "", s.unanswered(ctx, o, s.Err)
	}
	return s.answeredWith(o, status, text)
}

// answeredWith explains a status of the service's own address outside of 200 to 299.
func (s *signedIn) answeredWith(o PlannedService, status *engine.StatusError, text string) (string, error) {
	own := s.last(false)
	host := o.HTTP.Host()
	said := text + "answered " + answered(own)
	code := status.Status
	switch {
	case code == http.StatusBadRequest && strings.Contains(status.Text, "SSL certificate"): // nginx and its derivatives
		text, fix := service.Peer{Service: o.Name, Host: host, Certified: o.TLS != nil && o.TLS.Cert != nil}.RefusesClient("status 400")
		return "", &engine.FieldError{Field: "service " + o.Name, Problem: text, Hint: fix}
	case code >= http.StatusInternalServerError:
		return "", &doubtError{said, "see the log of the service before a run"}
	case !refusesKey(code):
		return said + o.signature(), nil
	case o.Login != nil && o.Cookies:
		return "", &doubtError{
			said + ": " + host + " rejects the cookies of the login",
			"if sessions fail too, check the user and the password in `login` of the scenario, and name the session cookie in its key `cookie`",
		}
	case o.Login != nil:
		return "", &doubtError{
			said + ": " + host + " rejects the token of the login",
			"if sessions fail too, check `token`, `header` and `scheme` of `" + o.Login.Key() + "` in the scenario",
		}
	case o.JWT != nil:
		return "", &engine.FieldError{
			Field:   "service " + o.Name,
			Problem: fmt.Sprintf("%s rejects the token made for %s with %s (%d)", host, s.agent, names(o.Secrets), code),
			Hint:    "check the secret, and `alg`, `claims` and `header` of `jwt` in the scenario",
		}
	}
	kind := "the token "
	if o.Key != nil {
		kind = "the key "
	}
	return "", &engine.FieldError{
		Field: "service " + o.Name, Problem: fmt.Sprintf("%s rejects %s%s (%d)", host, kind, cmp.Or(o.Bearer, names(o.Secrets)), code), Hint: "check the secret",
	}
}

// signature names the secrets that were sent.
func (o PlannedService) signature() string {
	if o.Login != nil || len(o.Secrets) == 0 {
		return ""
	}
	return ", with " + names(o.Secrets)
}

// loginRefused explains why there is no token: what was sent where, what came back, and what to change.
func (s *signedIn) loginRefused(ctx context.Context, o PlannedService) error {
	last := s.last(true)
	err := s.Err
	if login, ok := errors.AsType[*service.LoginError](err); ok {
		err = login.Err
	}
	if _, ok := errors.AsType[*engine.PermanentError](err); ok || last.Status == 0 {
		return s.unanswered(ctx, o, err)
	}
	host, secrets := o.HTTP.Host(), o.Service.Secrets()
	if at := o.Login.At; at != nil {
		host, secrets = at.HTTP.Host(), at.Secrets()
	}
	sent := "sent to " + host + ": " + s.Login
	if len(secrets) > 0 {
		sent += ", with the secret " + strings.Join(secrets, ", ")
	}
	status, isStatus := errors.AsType[*engine.StatusError](err)
	what, code := err.Error(), last.Status
	if isStatus {
		what, code = status.Error(), status.Status
	} else if code >= http.StatusMultipleChoices {
		what = "status " + strconv.Itoa(code)
	}
	return &engine.FieldError{
		Field: "service " + o.Name, Problem: fmt.Sprintf("the login of %s failed: %s\n%s", s.agent, what, sent), Hint: loginHint(o, secrets, code),
	}
}

// loginHint says what to change after the status of a login.
func loginHint(o PlannedService, secrets []string, code int) string {
	way := "`" + o.Login.Key() + "` of the scenario"
	switch {
	case o.Cookies && code < http.StatusBadRequest:
		return "check the user and the password in " + way + ", and `cookie`, the name of the cookie that a successful login sets"
	case o.Login.Key() == "oauth2" && code < http.StatusMultipleChoices:
		return "check the address in `post`: the answer of a token endpoint has the field access_token (RFC 6749, section 5.1)"
	case code < http.StatusMultipleChoices:
		return "set `token` of `login` to the place of the token in the answer, and `expect` to the statuses of a successful login"
	case code < http.StatusBadRequest:
		return "use the address of the redirect in " + way
	case refusesKey(code) && len(secrets) > 0:
		return "check the secret " + strings.Join(secrets, ", ") + " and the user in " + way
	case refusesKey(code):
		return "check the user and the password in " + way
	case code == http.StatusNotFound, code == http.StatusMethodNotAllowed:
		return "check the method and the path of `" + o.Login.Key() + "` in the scenario, and the path in `url`"
	case o.Login.Key() == "oauth2" && code == http.StatusBadRequest:
		return "check `grant`, `client`, `secret` and `scope` in " + way + ", and whether the client is sent in the form: `client_auth: form`"
	case code == http.StatusTooManyRequests:
		return "wait before you check again: the service limits logins"
	case code >= http.StatusInternalServerError:
		return "see the log of the service"
	}
	return "check the fields in " + way + ", and whether to send them as `json` or `form`"
}

// unanswered returns the error of a request without an answer.
func (s *signedIn) unanswered(ctx context.Context, o PlannedService, err error) error {
	host := o.HTTP.Host()
	if lasting, ok := errors.AsType[*engine.PermanentError](err); ok {
		return &engine.FieldError{Field: "service " + o.Name, Problem: lasting.Error(), Hint: lasting.Fix}
	}
	switch {
	case errors.Is(err, engine.ErrCut) && ctx.Err() == nil: // by a budget
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("%s does not answer within %s", host, engine.FormatDuration(checkTime))
	}
	if failure, ok := errors.AsType[*engine.StepError](err); ok && failure.Class != engine.Network && failure.Class != engine.Timeout {
		return err // it was not sent
	}
	return fmt.Errorf("%s does not answer: %w", host, service.Plain(err))
}

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

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/service"
)

// signs reports whether requests to a service are signed in.
func (o Outlook) signs() bool {
	return o.Bearer != "" || o.JWT != nil || o.Login != nil || o.Key != nil
}

// signedIn is what came of signing an agent in to a service.
type signedIn struct {
	chain.SignIn
	agent     string
	exchanges []engine.Exchange // the last may be one whose answer was awaited when the time was over
}

// checkSignIn signs the first agent in to a service as its sessions would, and asks for the service's own address. It says in
// words what answered, and of a refusal what was sent where, and what to change.
func (l checks) checkSignIn(ctx context.Context, o Outlook) (string, error) {
	if l.Scenario.Agents == 0 || l.Scenario.Writing(l.Settings.Seed) != nil {
		trusted, err := l.trust(o.Service)
		if err != nil {
			return "", err
		}
		text, err := l.checkHTTP(ctx, o, trusted)
		return text + "; not signed in: there are no agents yet", err
	}
	s, err := l.signIn(ctx, o.Service)
	if err != nil {
		return "", err
	}
	return s.words(ctx, o)
}

// signIn runs a session of the first agent that signs in to a service, and does nothing else. The requests are paid from the
// budget of the checks.
func (l checks) signIn(ctx context.Context, s *chain.Service) (*signedIn, error) {
	bearer, _, err := l.Secrets.Of(s)
	if err != nil {
		return nil, err
	}
	l.Settings = alone(l.Settings)
	l.Settings.Retry.Attempts = 1
	j := &Job{Program: l.Scenario.Program(l.Settings.Seed)}
	defer func() { _ = j.Close() }()
	if err := l.connect(j, map[string]string{s.Name: bearer}, []*chain.Service{s}); err != nil {
		return nil, err
	}
	id, err := j.Program.AgentID(0)
	if err != nil {
		return nil, err
	}
	came, heard := &signedIn{agent: id}, &trying{}
	ctx, cut := context.WithCancelCause(ctx)
	defer cut(nil)
	ledger, _ := ctx.Value(purseKey{}).(*engine.Ledger)
	j.Run, err = run.Start(ctx, run.Config{
		ID: NewRunID(time.Now()), Program: j.Program.SignIn(s, func(s chain.SignIn) {
			heard.mu.Lock()
			defer heard.mu.Unlock()
			came.SignIn = s
		}), Agents: l.Scenario.Agents, Chosen: []int{0},
		Name: j.Program.AgentID, Clock: l.Scenario.Clock, Settings: l.Settings, Services: j.services, Ledger: ledger,
		Tracer: func(e engine.Exchange) {
			heard.heard(e)
			if e.Status == http.StatusTooManyRequests { // a run would wait
				cut(engine.ErrCut)
			}
		},
	})
	if err != nil {
		return nil, err
	}
	j.Run.Wait()
	heard.mu.Lock()
	defer heard.mu.Unlock()
	came.exchanges = heard.exchanges
	return came, nil
}

// last is the newest exchange of the login, or of the service's own address.
func (s *signedIn) last(login bool) (e engine.Exchange) {
	for _, one := range s.exchanges {
		if strings.HasSuffix(one.Path, ".login") == login {
			e = one
		}
	}
	return e
}

// answered says how a request was answered.
func answered(e engine.Exchange) string {
	return fmt.Sprintf("%d %s in %s", e.Status, http.StatusText(e.Status), engine.FormatDuration(e.Took))
}

// words say what came of it. Errors are *engine.FieldError or *doubtError, or that there was no answer.
func (s *signedIn) words(ctx context.Context, o Outlook) (string, error) {
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
		return "", &doubtError{text + "answered " + answered(own), "wait before you check again: it limits requests"}
	case !isStatus:
		return "", s.unanswered(ctx, o, s.Err)
	}
	return s.answeredWith(o, status, text)
}

// answeredWith says what another status than 200 to 299 of the service's own address means.
func (s *signedIn) answeredWith(o Outlook, status *engine.StatusError, text string) (string, error) {
	own := s.last(false)
	host := o.HTTP.Host()
	said := text + "answered " + answered(own)
	code := status.Status
	switch {
	case code == http.StatusBadRequest && strings.Contains(status.Text, "SSL certificate"): // as nginx says it, and those like it
		words, fix := service.Peer{Service: o.Name, Host: host, Certified: o.TLS != nil && o.TLS.Cert != nil}.RefusesClient("status 400")
		return "", &engine.FieldError{Field: "service " + o.Name, Problem: words, Hint: fix}
	case code >= http.StatusInternalServerError:
		return "", &doubtError{said, "look at its log before many agents ask it"}
	case !refusesKey(code):
		return said + o.signature(), nil
	case o.Login != nil:
		return "", &doubtError{
			said + ": the token of the login was sent to " + host + ", and refused",
			"if sessions are refused too: `token`, `header` and `scheme` of `login` in the scenario",
		}
	case o.JWT != nil:
		return "", &engine.FieldError{
			Field:   "service " + o.Name,
			Problem: fmt.Sprintf("%s refuses the token that was made for %s with %s (%d)", host, s.agent, names(o.Secrets), code),
			Hint:    "check the secret, and `alg`, `claims` and `header` of `jwt` in the scenario",
		}
	}
	kind := "the token "
	if o.Key != nil {
		kind = "the key "
	}
	return "", &engine.FieldError{
		Field: "service " + o.Name, Problem: fmt.Sprintf("%s refuses %s%s (%d)", host, kind, cmp.Or(o.Bearer, names(o.Secrets)), code), Hint: "another token",
	}
}

// signature says with which secrets a service was asked.
func (o Outlook) signature() string {
	if o.Login != nil || len(o.Secrets) == 0 {
		return ""
	}
	return ", with " + names(o.Secrets)
}

// loginRefused says why there is no token: what was sent where, what came back, and what to change.
func (s *signedIn) loginRefused(ctx context.Context, o Outlook) error {
	last := s.last(true)
	err := s.Err
	if login, ok := errors.AsType[*service.LoginError](err); ok {
		err = login.Err
	}
	if _, ok := errors.AsType[*engine.PermanentError](err); ok || last.Status == 0 {
		return s.unanswered(ctx, o, err)
	}
	sent := "sent to " + o.HTTP.Host() + ": " + s.Login
	if len(o.Secrets) > 0 {
		sent += ", with the secret " + names(o.Secrets)
	}
	status, isStatus := errors.AsType[*engine.StatusError](err)
	what, code := err.Error(), last.Status
	if isStatus {
		what, code = status.Error(), status.Status
	} else if code >= http.StatusMultipleChoices {
		what = "status " + strconv.Itoa(code)
	}
	return &engine.FieldError{
		Field: "service " + o.Name, Problem: fmt.Sprintf("the login of %s failed: %s\n%s", s.agent, what, sent), Hint: loginHint(o, code),
	}
}

// loginHint says what to change after a login was answered with a status.
func loginHint(o Outlook, code int) string {
	switch {
	case code < http.StatusMultipleChoices:
		return "say in `token` of `login` where the answer has the token, and in `expect` which statuses are good"
	case code < http.StatusBadRequest:
		return "log in at the address that it names, in `login` of the scenario"
	case refusesKey(code) && len(o.Secrets) > 0:
		return "check the secret " + names(o.Secrets) + ", and the user that `login` of the scenario sends"
	case refusesKey(code):
		return "check the user and the password that `login` of the scenario sends"
	case code == http.StatusNotFound, code == http.StatusMethodNotAllowed:
		return "check the method and the path of `login` in the scenario, and the path in `url`"
	case code == http.StatusTooManyRequests:
		return "wait before you check again: it limits logins"
	case code >= http.StatusInternalServerError:
		return "look at the log of the service"
	}
	return "check the fields that `login` of the scenario sends, and whether they go as `json` or as `form`"
}

// unanswered is the error of a request without an answer.
func (s *signedIn) unanswered(ctx context.Context, o Outlook, err error) error {
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
	return fmt.Errorf("%s does not answer: %w", host, err)
}

package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/cmd/internal/app/services"
	"github.com/throng-sim/throng/cmd/internal/consent"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/service"
)

// serviceKey is what the answer of a service depends on.
func (l checks) serviceKey(o Outlook) string {
	if o.Embedded || len(o.Unallowed) > 0 || locked(o) != nil {
		return ""
	}
	key := fmt.Sprint("service ", o.Name, o.Kind, o.Address, o.Bearer, o.Models, l.Settings.Simulation, l.Settings.Remote)
	if l.automatic {
		return automaticKey + key
	}
	return key
}

// names lists secrets.
func names(all []Secret) string {
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}

// locked is the first secret of a service that is not there; nil is that all are.
func locked(o Outlook) *Secret {
	for i := range o.Secrets {
		if o.Secrets[i].Err != nil {
			return &o.Secrets[i]
		}
	}
	return nil
}

// automaticKey begins the keys of checks that nobody asked for: an answer to somebody counts for them too.
const automaticKey = "automatic "

// checkService looks whether a service answers, and takes what it is signed in to with. Nothing is sent to an address that
// the file was not allowed, and no secrets where nobody asked for the check.
func (l checks) checkService(ctx context.Context, o Outlook) engine.Check {
	missing := locked(o)
	switch {
	case o.Embedded:
		return fine("starts with the run, on this machine")
	case missing != nil:
		text := missing.Err.Error()
		if mistake, ok := errors.AsType[*engine.FieldError](missing.Err); ok { // its hint is for the terminal
			text = mistake.Problem
		}
		return mended(problem("", "%s", text), engine.MendSecret, missing.Name)
	case len(o.Unallowed) > 0:
		d := o.Unallowed[0]
		return mended(warning("a launch asks for that, too", "nothing was sent to %s, which you have not allowed yet: it would get %s", d.Address(), d.Gets()),
			engine.MendAllow, consent.Name(d))
	case o.Postgres != nil && l.automatic && len(o.Secrets) > 0:
		return mended(unknown("not asked yet: automatic checks send no secrets, and this one needs %s", names(o.Secrets)), engine.MendAgain, "")
	case o.Postgres != nil:
		return l.checkPool(ctx, o)
	}
	text, err := l.askService(ctx, o, !l.automatic)
	var doubt *doubtError
	switch {
	case err != nil && l.automatic && o.TLS != nil && o.TLS.Cert != nil && wantsCertificate(err):
		return mended(unknown("not asked yet: automatic checks show no client certificate"), engine.MendAgain, "")
	case errors.Is(err, engine.ErrCut):
		return unknown("not asked: %v", err)
	case errors.As(err, &doubt):
		return mended(warning(doubt.hint, "%s", doubt.text), engine.MendAgain, "")
	case err != nil:
		return mended(refused(err), engine.MendAgain, "")
	}
	return fine("%s", text)
}

// refused is a problem that a service had, with the hint of its error.
func refused(err error) engine.Check {
	if mistake, ok := errors.AsType[*engine.FieldError](err); ok {
		return problem(mistake.Hint, "%s", mistake.Problem)
	}
	return problem("", "%v", err)
}

// doubtError is what a service answers that may be well.
type doubtError struct{ text, hint string }

func (e *doubtError) Error() string { return e.text }

// equip makes a service ready to be asked: with what it trusts, and with its secrets if it may have them.
func (l checks) equip(s *chain.Service, secrets bool) {
	if !secrets || s.Postgres != nil || l.mocks(s) {
		return
	}
	if _, others, err := l.Secrets.Of(s); err == nil {
		s.Unlock(others)
	}
}

// trusts is how a service is asked over TLS: with the client's certificate if signed is set.
func (l checks) trusts(s *chain.Service, signed bool) (*tls.Config, error) {
	if !signed {
		return s.Anonymous(), nil
	}
	return l.trust(s)
}

// askService asks a service that is equipped, signed in to as the run would be if signed is set, and says in words what answered.
func (l checks) askService(ctx context.Context, o Outlook, signed bool) (string, error) {
	trusted, err := l.trusts(o.Service, signed)
	switch {
	case err != nil:
		return "", err
	case o.Kind == "llm":
		return CheckModels(ctx, ModelService{Name: o.Name, Address: o.Address, Key: o.Bearer, Models: o.Models, Unnamed: o.Unnamed, TLS: trusted}, signed)
	case signed && o.signs():
		return l.checkSignIn(ctx, o)
	}
	return l.checkHTTP(ctx, o, trusted)
}

// checkHTTP asks for the service's own address, without secrets. Whatever it answers, it is there; but its own errors, and that
// it wants a token, are told.
func (l checks) checkHTTP(ctx context.Context, o Outlook, trusted *tls.Config) (string, error) {
	header := http.Header{}
	if l.Settings.Simulation {
		header.Set("X-Simulation-Mode", "true")
	}
	a, err := askHTTP(ctx, target{o.Name, o.Address, trusted}, header)
	switch {
	case err != nil:
		return "", err
	case a.Code >= http.StatusInternalServerError:
		return "", &doubtError{a.String(), "look at its log before many agents ask it"}
	case l.automatic && o.Login != nil:
		return a.String() + "; automatic checks do not log in", nil
	case l.automatic && len(o.Secrets) > 0:
		return fmt.Sprintf("%s; %s was not sent: automatic checks send no secrets", a, names(o.Secrets)), nil
	case refusesKey(a.Code):
		return "", &doubtError{a.String() + "; the scenario sends it no token", "auth of the service in the scenario, if sessions are refused too"}
	}
	return a.String(), nil
}

// HTTPAnswer is what an address answered.
type HTTPAnswer struct {
	Host   string
	Code   int
	Status string
	Header http.Header
	Took   time.Duration
}

func (a HTTPAnswer) String() string {
	return fmt.Sprintf("answered %s in %s", a.Status, engine.FormatDuration(a.Took))
}

// target is what a check asks.
type target struct {
	name, address string
	trusted       *tls.Config // nil is what the machine trusts
}

// transport carries one request, by what is usual unless the target is trusted in its own way.
func (t target) transport(usual http.RoundTripper) http.RoundTripper {
	if t.trusted == nil {
		return usual
	}
	own := http.DefaultTransport.(*http.Transport).Clone()
	own.TLSClientConfig, own.DisableKeepAlives = t.trusted, true
	return own
}

// awayError explains why no connection can be made.
type awayError struct {
	*engine.FieldError
	err error
}

func (e *awayError) Unwrap() []error { return []error{e.FieldError, e.err} }

// wantsCertificate reports whether a service was not reached because it wants a client certificate.
func wantsCertificate(err error) bool {
	away, ok := errors.AsType[*awayError](err)
	return ok && service.WantsCertificate(away.err)
}

// away is the error of a request that had no answer. What no waiting heals is explained, with what to do.
func (t target) away(host string, err error) error {
	if inner, ok := errors.AsType[*url.Error](err); ok { // whose text is the whole request
		err = inner.Err
	}
	if lasting, ok := errors.AsType[*engine.PermanentError](service.Peer{Service: t.name, Host: host, Certified: t.trusted != nil && len(t.trusted.Certificates) > 0}.Explain(err)); ok {
		return &awayError{&engine.FieldError{Field: "service " + t.name, Problem: lasting.Error(), Hint: lasting.Fix}, err}
	}
	if said := secrets.Redact(err.Error()); said != err.Error() { // Go's client repeats what is no HTTP
		err = errors.New(said)
	}
	return fmt.Errorf("%s does not answer: %w", host, err)
}

// askHTTP sends a GET to an address. Redirects are not followed: they could lead a token elsewhere. It costs nothing, and
// takes ten seconds at most.
func askHTTP(ctx context.Context, t target, header http.Header) (HTTPAnswer, error) {
	u, err := service.CheckAddress(t.address)
	if err != nil {
		return HTTPAnswer{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return HTTPAnswer{}, err
	}
	req.Header = header
	if err := payRequest(ctx); err != nil {
		return HTTPAnswer{}, err
	}
	client := http.Client{
		Transport:     t.transport(http.DefaultTransport),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	began := time.Now()
	resp, err := client.Do(req)
	if err != nil {
		return HTTPAnswer{}, t.away(u.Host, err)
	}
	_ = resp.Body.Close() // nothing of it is wanted
	return HTTPAnswer{u.Host, resp.StatusCode, resp.Status, resp.Header, time.Since(began)}, nil
}

// TestService asks a service of the launch once because somebody wants it, at an address that may be another than the
// launch's, and says in words what answered. Nothing is sent to an address that the file names and was not allowed; one that
// the person typed gets no secrets before it is allowed.
func (l checks) TestService(ctx context.Context, name, address string) (string, error) {
	i := slices.IndexFunc(l.Scenario.Services, func(s *chain.Service) bool { return s.Name == name })
	if i < 0 {
		return "", &engine.FieldError{Field: "service " + name, Problem: "the scenario has no such service"}
	}
	s := l.Scenario.Services[i]
	l.Settings.Services = maps.Clone(l.Settings.Services)
	delete(l.Settings.Services, name)
	if address != s.URL {
		if l.Settings.Services == nil {
			l.Settings.Services = map[string]string{}
		}
		l.Settings.Services[name] = address
	}
	typed := address != s.URL && !l.fromElsewhere()
	found, _ := l.destinations(s)
	asks := slices.DeleteFunc(found, func(d engine.Destination) bool { return l.mayCall(s, d) })
	if len(asks) > 0 && (!typed || s.Postgres != nil) {
		d := asks[0]
		return "", &engine.FieldError{
			Field: "service " + name, Problem: fmt.Sprintf("nothing was sent to %s, which would get %s and was not allowed yet", d.Address(), d.Gets()),
			Hint: "allow it under Before launch; a launch asks, too",
		}
	}
	switch {
	case s.Postgres != nil:
		return CheckPostgres(ctx, PostgresService{name, address, s.Postgres.Password, s.Postgres.Role})
	case s.Kind == "llm" && len(asks) > 0:
		m := ModelService{Name: name, Address: address, Key: s.Bearer, Models: l.models(s), Unnamed: l.unnamed(s), TLS: s.Anonymous()}
		return CheckModels(ctx, m, m.OwnsKey())
	}
	if at, _ := services.SplitModel(address); address != "" {
		if _, err := service.CheckAddress(at); err != nil {
			return "", &engine.FieldError{Field: "service " + name, Problem: err.Error()}
		}
	}
	o := Outlook{Service: s, Address: address, Models: l.models(s), Unnamed: l.unnamed(s), Secrets: l.needed(s)}
	if missing := locked(o); missing != nil && len(asks) == 0 {
		return "", missing.Err
	}
	l.automatic = false
	l.equip(s, len(asks) == 0)
	return l.askService(ctx, o, len(asks) == 0)
}

// limitHeaders say how many requests a client may make.
var limitHeaders = []string{"X-RateLimit-Limit", "RateLimit-Limit", "RateLimit-Policy"}

// simulationItem looks whether services lift their limits for a simulation that says it is one.
func (l checks) simulationItem(outlook []Outlook) item {
	var asked, embedded []Outlook
	key := "simulation"
	for _, o := range outlook {
		switch {
		case o.Kind != "http":
		case o.Embedded:
			embedded = append(embedded, o)
		case len(o.Unallowed) == 0 && locked(o) == nil:
			asked = append(asked, o)
			key += " " + o.Address
		}
	}
	if len(asked) == 0 || !l.Settings.Simulation {
		key = ""
	}
	return item{"X-Simulation-Mode", key, func(ctx context.Context) engine.Check {
		switch {
		case !l.Settings.Simulation:
			return mended(warning("switch simulation-mode on, if the services know the header", "not sent: the services' limits count"), engine.MendSettings, "")
		case len(asked) > 0:
			return l.lifts(ctx, asked)
		case len(embedded) > 0:
			return fine("sent; the mock lifts its limits for it")
		}
		return unknown("no service could be asked")
	}}
}

// lifts asks each service with the header and without.
func (l checks) lifts(ctx context.Context, services []Outlook) engine.Check {
	var lifted, kept, silent, away []string
	for _, o := range services {
		limit := func(header http.Header) (string, bool) {
			trusted, err := l.trusts(o.Service, !l.automatic)
			if err != nil {
				return "", false
			}
			a, err := askHTTP(ctx, target{o.Name, o.Address, trusted}, header)
			for _, name := range limitHeaders {
				if value := a.Header.Get(name); value != "" {
					return value, err == nil
				}
			}
			return "", err == nil
		}
		without, ok := limit(http.Header{})
		with, okToo := limit(http.Header{"X-Simulation-Mode": {"true"}})
		switch {
		case !ok || !okToo:
			away = append(away, o.Name)
		case without == "":
			silent = append(silent, o.Name)
		case with != without:
			lifted = append(lifted, o.Name)
		default:
			kept = append(kept, fmt.Sprintf("%s (%s)", o.Name, with))
		}
	}
	switch {
	case len(kept) > 0:
		return warning("ask whoever runs it, or set a rate in the scenario", "sent, but the limit stays the same at %s", strings.Join(kept, ", "))
	case len(away) > 0:
		return unknown("%s does not answer", strings.Join(away, ", "))
	case len(silent) > 0:
		return unknown("sent; %s does not say whether that lifts its limits: a 429 would", strings.Join(silent, ", "))
	}
	return fine("sent; %s lifts its limits for it", strings.Join(lifted, ", "))
}

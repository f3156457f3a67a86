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

// serviceKey returns the cache key of a service's check; "" if the check sends nothing.
func (l checks) serviceKey(o PlannedService) string {
	if o.Embedded || len(o.Unallowed) > 0 || locked(o) != nil {
		return ""
	}
	key := fmt.Sprint("service ", o.Name, o.Kind, o.Address, o.Bearer, o.Models, l.Settings.Simulation, l.Settings.Remote)
	if l.automatic {
		return automaticKey + key
	}
	return key
}

// names joins the names of secrets.
func names(all []Secret) string {
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}

// locked returns the first missing secret of a service; nil if none is missing.
func locked(o PlannedService) *Secret {
	for i := range o.Secrets {
		if o.Secrets[i].Err != nil {
			return &o.Secrets[i]
		}
	}
	return nil
}

// automaticKey is the prefix of cache keys of automatic checks. They also accept the result of a check that the user
// started.
const automaticKey = "automatic "

// checkService checks whether a service answers and accepts its secrets. It sends nothing to an address that the user has
// not allowed, and an automatic check sends no secrets.
func (l checks) checkService(ctx context.Context, o PlannedService) engine.Check {
	missing := locked(o)
	switch {
	case o.Embedded:
		return fine("starts with the run, on this machine")
	case missing != nil:
		text := missing.Err.Error()
		if mistake, ok := errors.AsType[*engine.FieldError](missing.Err); ok { // its hint is meant for the terminal
			text = mistake.Problem
		}
		return withFix(problem("", "%s", text), engine.FixSecret, missing.Name)
	case len(o.Unallowed) > 0:
		d := o.Unallowed[0]
		return withFix(warning("allow it here or at launch", "nothing was sent to %s: you have not allowed it yet; it would get %s", d.Address(), d.Gets()),
			engine.FixAllow, consent.Name(d))
	case o.Postgres != nil && l.automatic && len(o.Secrets) > 0:
		return withFix(unknown("not checked yet: the check needs %s, and automatic checks send no secrets", names(o.Secrets)), engine.FixAgain, "")
	case o.Postgres != nil:
		return l.checkPool(ctx, o)
	}
	text, err := l.askService(ctx, o, !l.automatic)
	var doubt *doubtError
	switch {
	case err != nil && l.automatic && o.TLS != nil && o.TLS.Cert != nil && wantsCertificate(err):
		return withFix(unknown("not checked yet: automatic checks send no client certificate"), engine.FixAgain, "")
	case errors.Is(err, engine.ErrCut):
		return unknown("not checked: %v", err)
	case errors.As(err, &doubt):
		return withFix(warning(doubt.hint, "%s", doubt.text), engine.FixAgain, "")
	case err != nil:
		return withFix(failedCheck(err), engine.FixAgain, "")
	}
	if prices, err := l.pricesOf(o.Service); err == nil && o.Batch != nil && prices.Undiscounted(o.Models) != "" {
		return warning("add input_cost_per_token_batches and output_cost_per_token_batches to prices.json", "%s; the price table has no lower price for batches of %s", text, prices.Undiscounted(o.Models))
	}
	return fine("%s", text)
}

// failedCheck returns an error as a failed check, with the error's hint.
func failedCheck(err error) engine.Check {
	if mistake, ok := errors.AsType[*engine.FieldError](err); ok {
		return problem(mistake.Hint, "%s", mistake.Problem)
	}
	return problem("", "%v", err)
}

// doubtError is an answer of a service that may be fine.
type doubtError struct{ text, hint string }

func (e *doubtError) Error() string { return e.text }

// equip hands a service its secrets if it may have them.
func (l checks) equip(s *chain.Service, secrets bool) {
	if !secrets || s.Postgres != nil || l.mocks(s) {
		return
	}
	if _, others, err := l.Secrets.Of(s); err == nil {
		s.Unlock(others)
	}
}

// trusts returns the TLS configuration of a check, with the client certificate if signed is set.
func (l checks) trusts(s *chain.Service, signed bool) (*tls.Config, error) {
	if !signed {
		return s.TLS.Anonymous(), nil
	}
	return l.trust(s)
}

// askService sends a request to an equipped service and describes the answer. If signed is set, it signs in as a run does.
func (l checks) askService(ctx context.Context, o PlannedService, signed bool) (string, error) {
	trusted, err := l.trusts(o.Service, signed)
	switch {
	case err != nil:
		return "", err
	case o.Kind == "llm":
		return checkModels(ctx, modelService{Name: o.Name, Address: o.Address, Key: o.Bearer, Models: o.Models, Unnamed: o.Unnamed, TLS: trusted, Wire: o.Wire}, signed)
	case signed && o.signs():
		return l.checkSignIn(ctx, o)
	}
	return l.checkHTTP(ctx, o, trusted)
}

// checkHTTP requests the service's own address without secrets. Any answer shows that the service is up; server errors and
// a required token are doubts.
func (l checks) checkHTTP(ctx context.Context, o PlannedService, trusted *tls.Config) (string, error) {
	header := http.Header{}
	if l.Settings.Simulation {
		header.Set("X-Simulation-Mode", "true")
	}
	a, err := askHTTP(ctx, o.target(trusted), header)
	switch {
	case err != nil:
		return "", err
	case a.Code >= http.StatusInternalServerError:
		return "", &doubtError{a.String(), "see the log of the service before a run"}
	case l.automatic && o.Login != nil:
		return a.String() + "; automatic checks do not log in", nil
	case l.automatic && len(o.Secrets) > 0:
		return fmt.Sprintf("%s; %s not sent: automatic checks send no secrets", a, names(o.Secrets)), nil
	case refusesKey(a.Code) && o.For == nil:
		return "", &doubtError{a.String() + "; the scenario sends no token", "if sessions fail too, set `auth` of the service in the scenario"}
	}
	return a.String(), nil
}

// httpAnswer is the answer of an address to a check.
type httpAnswer struct {
	Host   string
	Code   int
	Status string
	Header http.Header
	Took   time.Duration
}

func (a httpAnswer) String() string {
	return fmt.Sprintf("answered %s in %s", a.Status, engine.FormatDuration(a.Took))
}

// target is the service that a check sends a request to.
type target struct {
	name, address string
	trusted       *tls.Config // nil trusts what the machine trusts
	proxy         *url.URL    // nil is as the environment says
	wire          service.NamedAPI
}

// target returns the service as the target of a check.
func (o PlannedService) target(trusted *tls.Config) target {
	t := target{name: o.Name, address: o.Address, trusted: trusted}
	if o.Proxy != nil {
		t.proxy = o.Proxy.URL(&o.Store)
	}
	return t
}

// transport returns the transport for one request: usual, unless the target has a TLS configuration of its own.
func (t target) transport(usual http.RoundTripper) http.RoundTripper {
	if t.trusted == nil && t.proxy == nil {
		return usual
	}
	own := http.DefaultTransport.(*http.Transport).Clone()
	own.DisableKeepAlives = true
	if t.trusted != nil {
		own.TLSClientConfig = t.trusted
	}
	if t.proxy != nil {
		own.Proxy = http.ProxyURL(t.proxy)
	}
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

// away returns the error of a request without an answer. Permanent causes are explained, with what to do.
func (t target) away(host string, err error) error {
	if inner, ok := errors.AsType[*url.Error](err); ok { // its text repeats the request
		err = inner.Err
	}
	if lasting, ok := errors.AsType[*engine.PermanentError](service.Peer{Service: t.name, Host: host, Certified: t.trusted != nil && len(t.trusted.Certificates) > 0}.Explain(err)); ok {
		return &awayError{&engine.FieldError{Field: "service " + t.name, Problem: lasting.Error(), Hint: lasting.Fix}, err}
	}
	if said := secrets.Redact(err.Error()); said != err.Error() { // Go's client repeats answers that are not HTTP
		err = errors.New(said)
	}
	return fmt.Errorf("%s does not answer: %w", host, service.Plain(err))
}

// get sends a GET request, which the budget of the checks pays for. It does not follow redirects, which could lead a token
// elsewhere.
func (t target) get(ctx context.Context, u *url.URL, header http.Header, usual http.RoundTripper) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header = header
	if err := payRequest(ctx); err != nil {
		return nil, err
	}
	client := http.Client{Transport: t.transport(usual), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return nil, t.away(u.Host, err)
	}
	return resp, nil
}

// askHTTP sends a GET request to an address, for at most ten seconds.
func askHTTP(ctx context.Context, t target, header http.Header) (httpAnswer, error) {
	u, err := service.CheckAddress(t.address)
	if err != nil {
		return httpAnswer{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	began := time.Now()
	resp, err := t.get(ctx, u, header, http.DefaultTransport)
	if err != nil {
		return httpAnswer{}, err
	}
	_ = resp.Body.Close() // the body is not read
	return httpAnswer{u.Host, resp.StatusCode, resp.Status, resp.Header, time.Since(began)}, nil
}

// TestService sends one request to a service, at an address that may differ from the launch's, and describes the answer. It
// sends nothing to an address of the file that the user has not allowed. An address that the user typed gets no secrets
// before it is allowed.
func (l checks) TestService(ctx context.Context, name, address string) (string, error) {
	s := l.Scenario.Service(name)
	if s == nil {
		return "", &engine.FieldError{Field: "service " + name, Problem: "the scenario has no such service"}
	}
	l.Settings.Services = maps.Clone(l.Settings.Services)
	delete(l.Settings.Services, name)
	if address != s.URL {
		if l.Settings.Services == nil {
			l.Settings.Services = map[string]string{}
		}
		l.Settings.Services[name] = address
	}
	typed := address != s.URL && !l.Foreign
	found, _ := l.destinations(s)
	asks := slices.DeleteFunc(found, func(d engine.Destination) bool { return l.mayCall(s, d) })
	if len(asks) > 0 && (!typed || s.Postgres != nil) {
		d := asks[0]
		return "", &engine.FieldError{
			Field: "service " + name, Problem: fmt.Sprintf("nothing was sent to %s, which is not allowed yet; it would get %s", d.Address(), d.Gets()),
			Hint: "allow it under Before launch, or at launch",
		}
	}
	switch {
	case s.Postgres != nil:
		return checkPostgres(ctx, postgresService{name, address, s.Postgres.Password, s.Postgres.Role})
	case s.Kind == "llm" && len(asks) > 0:
		m := modelService{Name: name, Address: address, Key: s.Bearer, Models: l.models(s), Unnamed: l.unnamed(s), TLS: s.TLS.Anonymous(), Wire: s.Wire}
		return checkModels(ctx, m, m.ownsKey())
	}
	if at, _ := services.SplitModel(address); address != "" {
		if _, err := service.CheckAddress(at); err != nil {
			return "", &engine.FieldError{Field: "service " + name, Problem: err.Error()}
		}
	}
	o := PlannedService{Service: s, Address: address, Models: l.models(s), Unnamed: l.unnamed(s), Secrets: l.needed(s)}
	if missing := locked(o); missing != nil && len(asks) == 0 {
		return "", missing.Err
	}
	l.automatic = false
	l.equip(s, len(asks) == 0)
	return l.askService(ctx, o, len(asks) == 0)
}

// limitHeaders announce rate limits of a service.
var limitHeaders = []string{"X-RateLimit-Limit", "RateLimit-Limit", "RateLimit-Policy"}

// simulationItem checks whether services lift their rate limits for requests marked as simulated.
func (l checks) simulationItem(planned []PlannedService) item {
	var asked, embedded []PlannedService
	key := "simulation"
	for _, o := range planned {
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
			return withFix(warning("turn simulation-mode on if the services know the header", "not sent: the rate limits of the services apply"), engine.FixSettings, "")
		case len(asked) > 0:
			return l.checkLifted(ctx, asked)
		case len(embedded) > 0:
			return fine("sent; the mock lifts its rate limits")
		}
		return unknown("not checked until the services may be called")
	}}
}

// checkLifted compares the announced limits of each service with and without the header.
func (l checks) checkLifted(ctx context.Context, services []PlannedService) engine.Check {
	var lifted, kept, silent, away []string
	for _, o := range services {
		limit := func(header http.Header) (string, bool) {
			trusted, err := l.trusts(o.Service, !l.automatic)
			if err != nil {
				return "", false
			}
			a, err := askHTTP(ctx, o.target(trusted), header)
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
		return warning("ask the operator of the service, or set a rate in the scenario", "sent, but the rate limit is unchanged at %s", strings.Join(kept, ", "))
	case len(away) > 0:
		return unknown("%s does not answer", strings.Join(away, ", "))
	case len(silent) > 0:
		return unknown("sent; %s announces no rate limit, so it is unknown whether it is lifted", strings.Join(silent, ", "))
	}
	return fine("sent; rate limit lifted by %s", strings.Join(lifted, ", "))
}

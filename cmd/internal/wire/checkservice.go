package wire

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/cmd/internal/consent"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/service"
)

// serviceKey is what the answer of a service depends on.
func (l Launch) serviceKey(o Outlook) string {
	if o.Embedded || len(o.Unallowed) > 0 || locked(o) != nil {
		return ""
	}
	key := fmt.Sprint("service ", o.Name, o.Kind, o.Address, o.Bearer, o.Models, l.Settings.Simulation, l.Settings.Remote)
	if l.Automatic {
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
func (l Launch) checkService(ctx context.Context, o Outlook) engine.Check {
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
	case o.Postgres != nil && l.Automatic && len(o.Secrets) > 0:
		return mended(unknown("not asked yet: automatic checks send no secrets, and this one needs %s", names(o.Secrets)), engine.MendAgain, "")
	case o.Postgres != nil:
		return l.checkPool(ctx, o)
	}
	var text string
	var err error
	if o.Kind == "llm" {
		text, err = CheckModels(ctx, ModelService{o.Name, o.Address, o.Bearer, o.Models, o.Unnamed}, !l.Automatic)
	} else {
		text, err = l.checkHTTP(ctx, o)
	}
	var doubt *doubtError
	switch {
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

// checkHTTP asks for the service's own address, with its token if it has one. Whatever it answers, it is there; but its
// own errors, and a token that it misses or does not take, are told.
func (l Launch) checkHTTP(ctx context.Context, o Outlook) (string, error) {
	header := http.Header{}
	if o.Bearer != "" && !l.Automatic {
		token, _, err := l.Secrets.Find("service "+o.Name, o.Bearer)
		if err != nil {
			return "", err
		}
		header.Set("Authorization", "Bearer "+token)
	}
	if l.Settings.Simulation {
		header.Set("X-Simulation-Mode", "true")
	}
	a, err := AskHTTP(ctx, o.Address, header)
	switch {
	case err != nil:
		return "", err
	case l.Automatic && len(o.Secrets) > 0 && a.Code < http.StatusInternalServerError:
		return fmt.Sprintf("%s; %s was not sent: automatic checks send no secrets", a, names(o.Secrets)), nil
	case o.Bearer != "" && refusesKey(a.Code):
		return "", &engine.FieldError{Field: "service " + o.Name, Problem: fmt.Sprintf("%s refuses the token %s (%d)", a.Host, o.Bearer, a.Code), Hint: "another token"}
	case refusesKey(a.Code) && o.JWT == nil && o.Login == nil: // whose tokens are agents', and not asked for here
		return "", &doubtError{a.String() + "; the scenario sends it no token", "auth of the service in the scenario, if sessions are refused too"}
	case a.Code >= http.StatusInternalServerError:
		return "", &doubtError{a.String(), "look at its log before many agents ask it"}
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

// AskHTTP sends a GET to an address. Redirects are not followed: they could lead a token elsewhere. It costs nothing, and
// takes ten seconds at most.
func AskHTTP(ctx context.Context, address string, header http.Header) (HTTPAnswer, error) {
	u, err := service.CheckAddress(address)
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
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	began := time.Now()
	resp, err := client.Do(req)
	if err != nil {
		if inner, ok := errors.AsType[*url.Error](err); ok { // whose text is the whole request
			err = inner.Err
		}
		return HTTPAnswer{}, fmt.Errorf("%s does not answer: %w", u.Host, err)
	}
	_ = resp.Body.Close() // nothing of it is wanted
	return HTTPAnswer{u.Host, resp.StatusCode, resp.Status, resp.Header, time.Since(began)}, nil
}

// TestService asks a service of the launch once because somebody wants it, at an address that may be another than the
// launch's, and says in words what answered. Nothing is sent to an address that the file names and was not allowed; one that
// the person typed gets no secrets before it is allowed.
func (l Launch) TestService(ctx context.Context, name, address string) (string, error) {
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
	case s.Kind == "llm":
		m := ModelService{name, address, s.Bearer, l.models(s), l.unnamed(s)}
		return CheckModels(ctx, m, len(asks) == 0 || m.OwnsKey())
	}
	if _, err := service.CheckAddress(address); err != nil {
		return "", &engine.FieldError{Field: "service " + name, Problem: err.Error()}
	}
	answer, err := AskHTTP(ctx, address, http.Header{})
	if err != nil {
		return "", err
	}
	return answer.String(), nil
}

// limitHeaders say how many requests a client may make.
var limitHeaders = []string{"X-RateLimit-Limit", "RateLimit-Limit", "RateLimit-Policy"}

// simulationItem looks whether services lift their limits for a simulation that says it is one.
func (l Launch) simulationItem() item {
	var asked, embedded []Outlook
	key := "simulation"
	for _, o := range l.Outlook() {
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
			return lifts(ctx, asked)
		case len(embedded) > 0:
			return fine("sent; the rehearsal lifts its limits for it")
		}
		return unknown("no service could be asked")
	}}
}

// lifts asks each service with the header and without.
func lifts(ctx context.Context, services []Outlook) engine.Check {
	var lifted, kept, silent, away []string
	for _, o := range services {
		limit := func(header http.Header) (string, bool) {
			a, err := AskHTTP(ctx, o.Address, header)
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

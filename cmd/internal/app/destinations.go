package app

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/consent"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/service"
)

// destinations returns the addresses of a service outside of Throng, with the secrets that it receives. hidden says that
// they are unknown: the address of a database may be a secret that was not found, which other checks report.
func (l Permits) destinations(s *chain.Service) (all []engine.Destination, hidden bool) {
	if l.mocks(s) {
		return nil, false
	}
	one := engine.Destination{Service: s.Name, Secrets: l.secretsOf(s)}
	if s.Postgres != nil {
		d, _, err := l.database(s)
		if err != nil {
			return nil, true
		}
		for _, host := range d.Hosts() {
			one.Host, one.Database = host, d.Name()
			one.Results = l.holdsResults(one)
			all = append(all, one)
		}
		return all, false
	}
	u, err := service.CheckAddress(l.address(s))
	if err != nil { // other checks report it
		return nil, false
	}
	one.Host = hostOf(u)
	all = append(all, one)
	if p := s.Proxy; p != nil {
		proxy := engine.Destination{Service: s.Name, Host: hostOf(p.Address), Secrets: one.Secrets}
		if u.Scheme == "https" { // it sees no more than the password for itself
			proxy.Secrets = slices.DeleteFunc([]string{p.Secret}, func(n string) bool { return n == "" })
		}
		all = append(all, proxy)
	}
	return all, false
}

// hostOf returns the host:port of an address.
func hostOf(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// secretsOf returns the names of all secrets that a service receives.
func (l Services) secretsOf(s *chain.Service) []string {
	names := slices.Clone(s.Secrets())
	names = append(names, s.Bearer)
	if s.Postgres != nil {
		name, _ := strings.CutPrefix(l.address(s), expr.SecretPrefix)
		if expr.IsSecret(name) && strings.HasPrefix(l.address(s), expr.SecretPrefix) {
			names = append(names, name)
		}
		names = append(names, s.Postgres.Password)
	}
	names = slices.DeleteFunc(names, func(n string) bool { return n == "" })
	slices.Sort(names)
	return slices.Compact(names)
}

// Unallowed returns the destinations that the user has not allowed for the file yet, in the order of the services.
func (l Permits) Unallowed() (all []engine.Destination) {
	if l.Settings.Replay != "" { // a replay sends no requests
		return nil
	}
	for _, s := range l.Scenario.Services {
		found, _ := l.destinations(s)
		all = append(all, slices.DeleteFunc(found, func(d engine.Destination) bool { return l.mayCall(s, d) })...)
	}
	return all
}

// Allowed returns the distinct addresses that the file may call, in the form of --allow.
func (l Permits) Allowed() (all []string) {
	for _, s := range l.Scenario.Services {
		found, _ := l.destinations(s)
		for _, d := range found {
			if l.mayCall(s, d) && !slices.Contains(all, d.Address()) {
				all = append(all, d.Address())
			}
		}
	}
	return all
}

// mayCall decides whether a service may be called at a destination. All callers go through it. Without explicit consent,
// only this machine may be called: by files that are the user's own, or at an address that the user typed, if it receives
// no secrets.
func (l Permits) mayCall(s *chain.Service, d engine.Destination) bool {
	if consent.Named(l.Allow, d) || consent.Of(l.Data).Allows(l.consentKey(), d) {
		return true
	}
	if d.Results || !d.Local() || l.Foreign {
		return false
	}
	_, typed := l.Settings.Services[s.Name]
	return l.Trusted || typed && len(d.Secrets) == 0 || authoring.IsOwn(l.Data, l.Scenario.Source.Files)
}

// consentKey returns the key of the user's consent: the path of the file, or a hash of its content if the path is unknown.
func (l Permits) consentKey() string {
	return cmp.Or(l.Scenario.Source.Path, "source:"+l.Scenario.Source.Hash)
}

// holdsResults reports whether results of runs go to a database. Addresses of this machine match in any spelling.
func (l Permits) holdsResults(d engine.Destination) bool {
	var results []string
	if l.Remote != nil {
		results = append(results, l.Remote.Target())
	}
	if l.Data != "" {
		if db, _, err := config.FindDatabaseSettings(nil, os.Getenv, l.Data); err == nil {
			results = append(results, db.Target())
		}
	}
	return slices.ContainsFunc(append(results, l.Results), func(target string) bool {
		host, name, _ := strings.Cut(target, "/")
		if target != "" && strings.HasPrefix(target, "/") { // a socket
			i := strings.LastIndex(target, "/")
			host, name = target[:i], target[i+1:]
		}
		return name == d.Database && target != "" && sameHost(host, d.Host)
	})
}

func sameHost(a, b string) bool {
	hostA, portA, errA := net.SplitHostPort(strings.ToLower(a))
	hostB, portB, errB := net.SplitHostPort(strings.ToLower(b))
	if errA != nil || errB != nil {
		return strings.EqualFold(a, b)
	}
	return portA == portB && (hostA == hostB || engine.IsThisMachine(hostA) && engine.IsThisMachine(hostB))
}

// Consent stores what the user allows with this launch, for later launches of the file. It returns an error if the launch
// would call an address that is not allowed.
func (l Permits) Consent() error {
	if err := l.refuseUnallowed(); err != nil {
		return err
	}
	return l.KeepAllowed()
}

// KeepAllowed stores what the user allows with this launch, for later launches of the file.
func (l Permits) KeepAllowed() error {
	var named []engine.Destination
	for _, s := range l.Scenario.Services {
		found, _ := l.destinations(s)
		for _, d := range found {
			if consent.Named(l.Allow, d) {
				named = append(named, d)
			}
		}
	}
	if err := consent.Of(l.Data).Allow(l.consentKey(), engine.Merged(named)); err != nil {
		return fmt.Errorf("store the consent for %s: %w", l.Scenario.Source.Name, err)
	}
	return nil
}

// refuseUnallowed returns an error for each destination that is not allowed.
func (l Permits) refuseUnallowed() error {
	var mistakes []error
	for _, d := range l.Unallowed() {
		problem := fmt.Sprintf("would send %s to %s, which you have not allowed for %s yet", d.Gets(), d.Address(), l.Scenario.Source.Name)
		hint := "to allow it: --allow " + consent.Name(d)
		if d.Local() {
			hint += "; a file that Throng wrote needs this once it is edited"
		}
		if d.Results {
			problem = fmt.Sprintf("would send %s to %s, which holds the results of your runs", d.Gets(), d.Address())
			hint = "use another database, or allow this one: --allow " + consent.Name(d)
		}
		mistakes = append(mistakes, &engine.FieldError{Field: "service " + d.Service, Problem: problem, Hint: hint})
	}
	return errors.Join(mistakes...)
}

// Consents returns the consents stored in a data folder.
func Consents(data string) *consent.Table { return consent.Of(data) }

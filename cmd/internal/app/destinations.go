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

// destinations are the addresses outside of Throng that a service is at, with the secrets that it gets. hidden is that they
// cannot be known: where a database is may be a secret, and one that is not found is told elsewhere.
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
	if err != nil { // told elsewhere
		return nil, false
	}
	one.Host = hostOf(u)
	return []engine.Destination{one}, false
}

// hostOf is host:port of an address.
func hostOf(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// secretsOf are the names of all secrets that a service is sent.
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

// Unallowed are the destinations of the launch that nobody has allowed its file yet, by service.
func (l Permits) Unallowed() (all []engine.Destination) {
	if l.Settings.Replay != "" { // it asks nobody
		return nil
	}
	for _, s := range l.Scenario.Services {
		found, _ := l.destinations(s)
		all = append(all, slices.DeleteFunc(found, func(d engine.Destination) bool { return l.mayCall(s, d) })...)
	}
	return all
}

// Allowed are the addresses of the launch that its file may call, each once, as --allow takes them.
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

// mayCall is the one place where it is decided whether a service may be called at a destination. Without a word of the
// person that is so only on this machine: for files that are known to be the person's own, or where the person has typed
// the address and no secret goes there.
func (l Permits) mayCall(s *chain.Service, d engine.Destination) bool {
	if consent.Named(l.Allow, d) || consent.Of(l.Data).Allows(l.consentKey(), d) {
		return true
	}
	if d.Results || !d.Local() || l.fromElsewhere() {
		return false
	}
	_, typed := l.Settings.Services[s.Name]
	return l.Trusted || typed && len(d.Secrets) == 0 || authoring.IsOwn(l.Data, l.Scenario.Source.Files)
}

// fromElsewhere reports whether the launch continues what was fetched from a database: its settings are nobody's word.
func (l Permits) fromElsewhere() bool { return l.Foreign }

// consentKey is what the answers of a person are kept under: the file, or what it says where it is not known.
func (l Permits) consentKey() string {
	return cmp.Or(l.Scenario.Source.Path, "source:"+l.Scenario.Source.Hash)
}

// holdsResults reports whether a database is the one that results of runs go to. Its address may be written otherwise, as
// that of this machine is.
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

// Consent keeps what the person has allowed with the launch, for the next one of the file, and refuses what is still
// unallowed.
func (l Permits) Consent() error {
	if err := l.refuseUnallowed(); err != nil {
		return err
	}
	return l.KeepAllowed()
}

// KeepAllowed keeps what the person has allowed with the launch, for the next one of the file.
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
		return fmt.Errorf("keep what %s is allowed: %w", l.Scenario.Source.Name, err)
	}
	return nil
}

// refuseUnallowed finds destinations that nobody allowed.
func (l Permits) refuseUnallowed() error {
	var mistakes []error
	for _, d := range l.Unallowed() {
		problem := fmt.Sprintf("would send %s to %s, which %s was not allowed yet", d.Gets(), d.Address(), l.Scenario.Source.Name)
		hint := "if that is what you want: --allow " + consent.Name(d)
		if d.Results {
			problem = fmt.Sprintf("would send %s to %s, which holds the results of your runs", d.Gets(), d.Address())
			hint = "use another database; if it has to be this one: --allow " + consent.Name(d)
		}
		mistakes = append(mistakes, &engine.FieldError{Field: "service " + d.Service, Problem: problem, Hint: hint})
	}
	return errors.Join(mistakes...)
}

// Consents is the table of what files were allowed, in a data folder.
func Consents(data string) *consent.Table { return consent.Of(data) }

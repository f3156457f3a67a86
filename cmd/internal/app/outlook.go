package app

import (
	"slices"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/consent"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/scenario"
)

// Outlook is what a launch would do with a service, found out without calling it.
type Outlook struct {
	*chain.Service
	Address  string   // in force
	Models   []string // that would be asked for
	Unnamed  bool     // which one is found out by asking the service
	Replaced bool     // it is not the scenario's
	Embedded bool     // it is the mock, in this program
	Hidden   bool     // where it is says a secret that was not found
	Away     []string // addresses that would be called, but for those of this machine
	// Unallowed are the destinations that nobody allowed the file yet.
	Unallowed []engine.Destination
	Secrets   []Secret // that it would be signed in to with
}

// Secret is a secret that is needed: where it was found, or what is to be done. It does not hold its value.
type Secret struct {
	Name  string
	Place string
	Err   error
}

// Outlook tells of every service of the scenario what a launch would do with it.
func (l Permits) Outlook() []Outlook {
	var all []Outlook
	for _, s := range l.Scenario.Services {
		o := Outlook{Service: s, Address: l.address(s), Models: l.models(s), Unnamed: l.unnamed(s)}
		o.Replaced = o.Address != s.URL
		o.Embedded = strings.HasPrefix(o.Address, scenario.Mock)
		if !o.Embedded {
			o.Away, o.Hidden = l.away(s)
			found, _ := l.destinations(s)
			o.Unallowed = slices.DeleteFunc(found, func(d engine.Destination) bool { return l.mayCall(s, d) })
			o.Secrets = l.needed(s)
		}
		all = append(all, o)
	}
	return all
}

// away returns the addresses of a service that are not this machine, as short as they are allowed by; hidden is that they
// cannot be known.
func (l Permits) away(s *chain.Service) (hosts []string, hidden bool) {
	all, hidden := l.destinations(s)
	for _, d := range all {
		if !d.Local() {
			d.Results = false
			hosts = append(hosts, consent.Name(d))
		}
	}
	return hosts, hidden
}

// needed looks for the secrets of a service.
func (l Permits) needed(s *chain.Service) []Secret {
	var all []Secret
	for _, name := range l.secretsOf(s) {
		_, place, err := l.Secrets.Find("service "+s.Name, name)
		all = append(all, Secret{name, place, err})
	}
	return all
}

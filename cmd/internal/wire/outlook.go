package wire

import (
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/service"
)

// Outlook is what a launch would do with a service, found out without calling it.
type Outlook struct {
	*chain.Service
	Address  string   // in force
	Models   []string // that would be asked for
	Unnamed  bool     // which one is found out by asking the service
	Replaced bool     // it is not the scenario's
	Embedded bool     // it is the rehearsal, in this program
	Hidden   bool     // where it is says a secret that was not found
	Away     []string // hosts that would be called, but for this machine
	Foreign  []string // those of them that nobody allowed
	Secrets  []Secret // that it would be signed in to with
}

// Secret is a secret that is needed: where it was found, or what is to be done. It does not hold its value.
type Secret struct {
	Name  string
	Place string
	Err   error
}

// Outlook tells of every service of the scenario what a launch would do with it.
func (l Launch) Outlook() []Outlook {
	var all []Outlook
	for _, s := range l.Scenario.Services {
		o := Outlook{Service: s, Address: l.address(s), Models: l.models(s), Unnamed: l.unnamed(s)}
		o.Replaced = o.Address != s.URL
		o.Embedded = strings.HasPrefix(o.Address, scenario.Rehearsal)
		if !o.Embedded {
			o.Away, o.Hidden = l.away(s)
			o.Foreign = slices.DeleteFunc(slices.Clone(o.Away), l.allowed)
			o.Secrets = l.needed(s)
		}
		all = append(all, o)
	}
	return all
}

// away returns the hosts of a service that are not this machine; hidden is that they cannot be known.
func (l Launch) away(s *chain.Service) (hosts []string, hidden bool) {
	if s.Postgres != nil {
		d, _, err := l.database(s)
		if err != nil {
			return nil, true
		}
		return d.Away(), false
	}
	u, err := service.CheckAddress(l.address(s))
	if err != nil || loopback(u.Hostname()) {
		return nil, false
	}
	return []string{u.Hostname()}, false
}

func (l Launch) allowed(host string) bool { return slices.Contains(l.Allow, host) }

// needed looks for the secrets of a service.
func (l Launch) needed(s *chain.Service) []Secret {
	var all []Secret
	add := func(name string) {
		if name != "" {
			_, place, err := l.Secrets.Find("service "+s.Name, name)
			all = append(all, Secret{name, place, err})
		}
	}
	add(s.Bearer)
	for _, name := range s.Secrets() {
		add(name)
	}
	if s.Postgres != nil {
		name, _ := strings.CutPrefix(l.address(s), chain.SecretPrefix)
		if chain.IsSecret(name) {
			add(name)
		}
		add(s.Postgres.Password)
	}
	return all
}

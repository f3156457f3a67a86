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
	Replaced bool     // it is not the scenario's
	Embedded bool     // it is the rehearsal, in this program
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
		o := Outlook{Service: s, Address: l.address(s)}
		o.Replaced = o.Address != s.URL
		o.Embedded = strings.HasPrefix(o.Address, scenario.Rehearsal)
		if !o.Embedded {
			o.Away = l.away(s)
			o.Foreign = slices.DeleteFunc(slices.Clone(o.Away), l.allowed)
			o.Secrets = l.Secrets.needed(s)
		}
		all = append(all, o)
	}
	return all
}

// away returns the hosts of a service that are not this machine.
func (l Launch) away(s *chain.Service) []string {
	u, err := service.CheckAddress(l.address(s))
	if err != nil || loopback(u.Hostname()) {
		return nil
	}
	return []string{u.Hostname()}
}

func (l Launch) allowed(host string) bool { return slices.Contains(l.Allow, host) }

// needed looks for the secrets of a service.
func (s Secrets) needed(of *chain.Service) []Secret {
	names := of.Secrets()
	if of.Bearer != "" {
		names = append([]string{of.Bearer}, names...)
	}
	all := make([]Secret, len(names))
	for i, name := range names {
		_, place, err := s.Find("service "+of.Name, name)
		all[i] = Secret{name, place, err}
	}
	return all
}

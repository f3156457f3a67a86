package wire

import (
	"net/url"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/scenario"
)

// Outlook is what a launch would do with a service, found out without calling it.
type Outlook struct {
	*chain.Service
	Address  string   // in force
	Replaced bool     // it is not the scenario's
	Embedded bool     // it is the rehearsal, in this program
	Host     string   // of the address; "" for the rehearsal
	Reach    Reach    // of the host
	Secrets  []Secret // that it would be signed in to with
}

// Reach says whether a host may be called.
type Reach int

// Hosts of this machine may always be called, others if somebody allowed it.
const (
	ThisMachine Reach = iota
	Allowed
	Foreign
)

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
		if u, err := url.Parse(o.Address); err == nil && !o.Embedded {
			o.Host = u.Hostname()
			o.Reach = l.reach(o.Host)
			o.Secrets = l.Secrets.needed(s)
		}
		all = append(all, o)
	}
	return all
}

func (l Launch) reach(host string) Reach {
	switch {
	case loopback(host):
		return ThisMachine
	case slices.Contains(l.Allow, host):
		return Allowed
	}
	return Foreign
}

// needed looks for the secrets of a service.
func (s Secrets) needed(service *chain.Service) []Secret {
	names := service.Secrets()
	if service.Bearer != "" {
		names = append([]string{service.Bearer}, names...)
	}
	all := make([]Secret, len(names))
	for i, name := range names {
		_, place, err := s.Find("service "+service.Name, name)
		all[i] = Secret{name, place, err}
	}
	return all
}

package app

import (
	"slices"

	"github.com/throng-sim/throng/cmd/internal/consent"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
)

// PlannedService describes how a launch would use a service. Computing it does not call the service.
type PlannedService struct {
	*chain.Service
	Address  string   // in force
	Models   []string // that the launch would request
	Unnamed  bool     // no model is named: the launch asks the service for its models
	Replaced bool     // the address is not the scenario's
	Embedded bool     // a mock, in this process
	Hidden   bool     // the address is a secret that was not found
	Away     []string // addresses that the launch would call, without those of this machine
	// Unallowed are the destinations that the user has not allowed for the file yet.
	Unallowed []engine.Destination
	Secrets   []Secret // for signing in
}

// Secret is a secret that a service needs, without its value: where it was found, or why it was not.
type Secret struct {
	Name  string
	Place string
	Err   error
}

// PlannedServices describes how the launch would use each service of the scenario.
func (l Permits) PlannedServices() []PlannedService {
	var all []PlannedService
	for _, s := range l.Scenario.Services {
		o := PlannedService{Service: s, Address: l.address(s), Models: l.models(s), Unnamed: l.unnamed(s)}
		o.Replaced = o.Address != s.URL
		o.Embedded = l.mocks(s)
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

// away returns the addresses of a service outside of this machine, in the short form of --allow. hidden says that they
// are not known.
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

// needed looks up the secrets of a service.
func (l Permits) needed(s *chain.Service) []Secret {
	var all []Secret
	for _, name := range l.secretsOf(s) {
		_, place, err := l.Secrets.Find("service "+s.Name, name)
		all = append(all, Secret{name, place, err})
	}
	return all
}

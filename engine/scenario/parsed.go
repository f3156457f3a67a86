package scenario

import (
	"maps"
	"slices"

	"github.com/throng-sim/throng/engine/chain"
)

// Parsed is a scenario as it was read. It does not change, so any number of goroutines can bind it.
type Parsed struct{ s *Scenario }

// Parse reads and checks a scenario like [Extras.Read].
func (x Extras) Parse(name string, open Opener) (*Parsed, error) {
	s, err := x.Read(name, open)
	if err != nil {
		return nil, err
	}
	return &Parsed{s}, nil
}

// Bind returns the scenario for one launch. Its services, its source and a population that is not written yet are its own:
// the launch can connect and settle them. It shares the chains and the rows of the population with all other launches.
func (p *Parsed) Bind() *Scenario {
	s := *p.s
	s.bound = chain.Bound{}
	s.Services = make([]*chain.Service, len(p.s.Services))
	for i, service := range p.s.Services {
		s.Services[i] = s.bound.Bind(service)
	}
	if s.StandIn != nil {
		s.StandIn = s.bound.Bind(s.StandIn)
	}
	s.Secrets = slices.Clone(s.Secrets)
	s.Source.Files, s.Source.Parameters = maps.Clone(s.Source.Files), maps.Clone(s.Source.Parameters)
	if s.population.table.unwritten() {
		table := *s.population.table
		s.population.table = &table
	}
	return &s
}

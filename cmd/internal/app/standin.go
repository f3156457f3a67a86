package app

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
)

// checkStandIn returns an error if the mock would stand in for undefined connectors or functions while real services are
// called: these would receive made-up data.
func (l Services) checkStandIn() error {
	real := slices.IndexFunc(l.Scenario.Services, func(s *chain.Service) bool {
		return !l.mocks(s)
	})
	if l.Scenario.StandIn == nil || real < 0 {
		return nil
	}
	hint := "define it in the scenario, or define connectors in connectors.yaml in the data folder"
	if names := l.Scenario.Connectors; len(names) > 0 {
		hint = "defined connectors: " + strings.Join(names, ", ")
	}
	var mistakes []error
	for _, what := range l.Scenario.Mocked() {
		mistakes = append(mistakes, &engine.FieldError{
			Field: what, Hint: hint,
			Problem: fmt.Sprintf("is not defined, and the mock cannot stand in for it because service %s is real", l.Scenario.Services[real].Name),
		})
	}
	return errors.Join(mistakes...)
}

// services returns the services that need a client: those of the scenario, and the stand-in for undefined connectors.
func (l Services) services() []*chain.Service {
	if l.Scenario.StandIn == nil {
		return l.Scenario.Services
	}
	return append(slices.Clone(l.Scenario.Services), l.Scenario.StandIn)
}

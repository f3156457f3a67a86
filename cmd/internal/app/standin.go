package app

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/scenario"
)

// checkStandIn refuses to have the mock answer in place of what is not defined while real services are called: what
// they are told would be made up.
func (l Services) checkStandIn() error {
	real := slices.IndexFunc(l.Scenario.Services, func(s *chain.Service) bool {
		return !strings.HasPrefix(l.address(s), scenario.Mock)
	})
	if l.Scenario.StandIn == nil || real < 0 {
		return nil
	}
	hint := "define it in the scenario, or connectors in connectors.yaml in the data folder; no connector is defined"
	if names := l.Scenario.Connectors; len(names) > 0 {
		hint = "defined are the connectors " + strings.Join(names, ", ")
	}
	var mistakes []error
	for _, what := range l.Scenario.Mocked() {
		mistakes = append(mistakes, &engine.FieldError{
			Field: what, Hint: hint,
			Problem: fmt.Sprintf("is not defined, and the mock does not answer in its place while the service %s is a real one", l.Scenario.Services[real].Name),
		})
	}
	return errors.Join(mistakes...)
}

// services are those that need a client: the scenario's, and what stands in for what it does not define.
func (l Services) services() []*chain.Service {
	if l.Scenario.StandIn == nil {
		return l.Scenario.Services
	}
	return append(slices.Clone(l.Scenario.Services), l.Scenario.StandIn)
}

package experiments

import (
	"errors"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/engine"
)

// permits returns what the missing runs may do, once for all points with the same services: values of factors can be parts of addresses.
func (x *Experiment) permits(s *Status) (all []app.Permits, err error) {
	factors, known := x.ServiceFactors(), map[string]bool{}
	for _, r := range s.Runs {
		if r.Point < 0 || !r.State.Missing() {
			continue
		}
		var key strings.Builder
		for _, i := range factors {
			key.WriteString(r.Values[i].JSON + "\n")
		}
		if known[key.String()] {
			continue
		}
		known[key.String()] = true
		settings, err := x.settings(&r.Run)
		if err != nil {
			return nil, err
		}
		setup, err := x.Setup(r.Values)
		if err != nil {
			return nil, err
		}
		of, err := setup.Scenario()
		if err != nil {
			return nil, err
		}
		services := app.Services{Scenario: of, Settings: settings, Data: x.app.Store().Dir(), Remote: x.app.Remote()}
		all = append(all, app.Permits{Services: services, Allow: x.options.Allow, Trusted: x.options.Trusted})
	}
	return all, nil
}

// Unallowed returns the destinations of the missing runs that the user has not allowed yet.
func (x *Experiment) Unallowed(s *Status) ([]engine.Destination, error) {
	permits, err := x.permits(s)
	if err != nil {
		return nil, err
	}
	var all []engine.Destination
	for i := range permits {
		all = append(all, permits[i].Unallowed()...)
	}
	return engine.Merged(all), nil
}

// Consent stores what the user allows with the experiment. It returns an error if a missing run would call an address that is not
// allowed.
func (x *Experiment) Consent(s *Status) error {
	permits, err := x.permits(s)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	var mistakes []error
	for i := range permits {
		if err := permits[i].Consent(); err != nil && !seen[err.Error()] {
			seen[err.Error()] = true
			mistakes = append(mistakes, err)
		}
	}
	return errors.Join(mistakes...)
}

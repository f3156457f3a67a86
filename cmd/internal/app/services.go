package app

import (
	"context"
	"errors"

	"github.com/throng-sim/throng/cmd/internal/app/mocks"
	"github.com/throng-sim/throng/cmd/internal/app/remote"
	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/cmd/internal/app/services"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/mock"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/service/admission"
)

// Services resolves the services of a scenario with its settings: addresses, models, prices, secrets and connections.
type Services struct {
	Scenario *scenario.Scenario
	Settings engine.Settings
	Data     string // the data folder
	Scratch  string // folder of the mock shop's log; "" is the data folder
	Secrets  secrets.Finder
	Remote   *remote.Sender // sends results; its connections count in the shared limit. May be nil

	// Reach is how a worker of a fleet reaches the services, by name; nil in the process that owns the run.
	Reach map[string]services.Reach
	// Borrow returns the limits of a service that the coordinator lends to this worker; nil in the process that owns them.
	Borrow func(service string) admission.Admitter

	OnRequest func(mock.Request) // receives every request to the mocks before it is answered; may be nil
	Sharing   *service.Sharing   // limits that runs at the same time share; nil if there are none
	Witness   service.Witness    // receives every attempt at a request to any service; may be nil
}

// Permits decides which addresses a scenario may call, and stores the user's consent.
type Permits struct {
	Services
	Allow   []string // addresses that the user allows with this launch
	Trusted bool     // the file is the user's own, and may call this machine
	Results string   // another database with results of runs; see [config.Database.Target]
	Foreign bool     // the settings were fetched from a database; the user did not choose them
}

// Permits returns the permits of the launch.
func (l Launch) Permits() Permits {
	return Permits{l.Services, l.Allow, l.Trusted, l.Results, l.Fork != nil && l.Fork.Record.Fetched != nil}
}

// Population returns the population of the launch.
func (l Launch) Population() Population {
	return Population{Services: l.Services, Waiting: l.Waiting, Writing: l.Writing}
}

// Forecaster returns the forecaster of the launch.
func (l Launch) Forecaster() Forecaster {
	return Forecaster{Population: l.Population(), Cores: l.Cores, First: l.first()}
}

// checks returns the preflight checks of the launch. Automatic checks send no secrets.
func (l Launch) checks(automatic bool) checks {
	c := checks{Permits: l.Permits(), forecaster: l.Forecaster(), automatic: automatic, host: l.Host, earlier: l.EarlierRuns}
	if c.earlier == nil {
		c.earlier = NewEarlierRuns(l.Store)
	}
	return c
}

// TestService sends one request to a service of the launch, at the given address, and describes the answer.
func (l Launch) TestService(ctx context.Context, name, address string) (string, error) {
	return l.checks(false).TestService(ctx, name, address)
}

// assembly is a launch while its run is assembled.
type assembly struct{ Launch }

func (l Launch) assembly() assembly { return assembly{l} }

// address returns the address of a service: the user's replacement if there is one, else the scenario's.
func (l Services) address(s *chain.Service) string { return services.Address(&l.Settings, s) }

// CheckAddresses reports replaced services that do not exist and invalid addresses. Addresses of databases may be secrets;
// they are checked when a run starts.
func (l Services) CheckAddresses() error {
	var mistakes []error
	for name := range l.Settings.Services {
		if l.Scenario.Service(name) == nil {
			mistakes = append(mistakes, &engine.FieldError{Field: "service", Problem: "the scenario has no service " + name})
		}
	}
	for _, s := range l.Scenario.Services {
		if s.Postgres != nil || l.mocks(s) {
			continue
		}
		if _, err := service.CheckAddress(l.address(s)); err != nil {
			mistakes = append(mistakes, &engine.FieldError{Field: "service " + s.Name, Problem: err.Error()})
		}
	}
	return errors.Join(mistakes...)
}

// checkHosts reports addresses that cannot be called or that the user has not allowed.
func (l Permits) checkHosts() error {
	mistakes := []error{l.CheckAddresses()}
	for _, s := range l.Scenario.Services {
		if s.Postgres != nil {
			_, _, err := l.database(s)
			mistakes = append(mistakes, err)
		}
	}
	return errors.Join(append(mistakes, l.Consent())...)
}

func (l Services) checkMock() error {
	_, err := mocks.Parse(l.Settings.Mock)
	return err
}

// unlock hands every service its secrets. It returns the bearer tokens by service name. The mocks need no secrets.
func (l Services) unlock() (bearers map[string]string, err error) {
	bearers = map[string]string{}
	var mistakes []error
	for _, s := range l.Scenario.Services {
		if s.Postgres != nil { // its secrets belong to the pool
			continue
		}
		if l.mocks(s) {
			s.Unlock(nil)
			continue
		}
		bearer, others, err := l.Secrets.Of(s)
		mistakes = append(mistakes, err)
		bearers[s.Name] = bearer
		s.Unlock(others)
	}
	return bearers, errors.Join(mistakes...)
}

package app

import (
	"context"

	"github.com/throng-sim/throng/cmd/internal/app/remote"
	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/mock"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/service"
)

// Services are the services of a scenario as settings have them: addresses, models, prices, secrets, connections.
type Services struct {
	Scenario *scenario.Scenario
	Settings engine.Settings
	Data     string // the data folder
	Scratch  string // where the mock keeps its log; "" is the data folder
	Secrets  secrets.Finder
	Remote   *remote.Sender // whose connections are left free; nil is none

	OnRequest func(mock.Request) // gets every request to the mocks; may be nil
	Witness   service.Witness    // gets every attempt at a request; may be nil
}

// Permits says what a scenario may call, and keeps what the person allows.
type Permits struct {
	Services
	Allow   []string // addresses that the person allows with this launch
	Trusted bool     // the file is the person's own, and may call this machine
	Results string   // another database that holds results of runs, as [config.Database.Target] writes it
	Foreign bool     // the settings were fetched from a database, and are not the person's word
}

// Services are what the launch asks.
func (l Launch) Services() Services {
	return Services{
		Scenario: l.Scenario, Settings: l.Settings, Data: l.Data, Scratch: l.Scratch, Secrets: l.Secrets, Remote: l.Remote,
		OnRequest: l.OnRequest, Witness: l.Witness,
	}
}

// Permits are what the launch may call.
func (l Launch) Permits() Permits {
	return Permits{l.Services(), l.Allow, l.Trusted, l.Results, l.Fork != nil && l.Fork.Record.Fetched != nil}
}

// Population is who takes part in the launch.
func (l Launch) Population() Population {
	return Population{Services: l.Services(), Waiting: l.Waiting, Writing: l.Writing}
}

// Estimate says what the launch will take.
func (l Launch) Estimate() Estimate {
	return Estimate{Population: l.Population(), Cores: l.Cores, First: l.first()}
}

// checks are the preflight checks of the launch; automatic ones send no secrets.
func (l Launch) checks(automatic bool) checks {
	c := checks{Permits: l.Permits(), estimate: l.Estimate(), automatic: automatic, host: l.Host, past: l.Past}
	if c.past == nil {
		c.past = NewPast(l.Store)
	}
	return c
}

// TestService asks one service of the launch, at an address that may be another than the launch's; see the preflight checks.
func (l Launch) TestService(ctx context.Context, name, address string) (string, error) {
	return l.checks(false).TestService(ctx, name, address)
}

// assembly is a launch whose run is being assembled.
type assembly struct{ Launch }

func (l Launch) assembly() assembly { return assembly{l} }

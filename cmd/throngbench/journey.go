package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/credential"
	"github.com/throng-sim/throng/engine/govern"
	"github.com/throng-sim/throng/engine/machine"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/service"
)

//go:embed peers/journey.yaml
var journeyYAML []byte

// ratedJourneys is how many a client of ours makes where its rate is measured.
const ratedJourneys = 10_000

// journeys are what a client of ours is asked for.
type journeys struct {
	At       journeyAddress
	Agents   int
	Limit    int
	Journals bool
}

// throngJourneys measures Throng in processes of their own, as it measures others.
func (e env) throngJourneys(ctx context.Context, secure, journals bool) (figures, error) {
	return client{env: e, secure: secure, memory: journals, command: func(ctx context.Context, at journeyAddress, fleet int, rated bool) (*exec.Cmd, error) {
		j := journeys{at, fleet, fleet, journals}
		if rated {
			j.Agents = ratedJourneys
		}
		asked, err := json.Marshal(j)
		if err != nil {
			return nil, err
		}
		c, err := e.part(ctx, "6/client", 1)
		if err == nil {
			c.Stdin = bytes.NewReader(asked)
		}
		return c, err
	}}.figures(ctx)
}

// throngClient is such a process.
func throngClient(ctx context.Context, e env) (figures, error) {
	var j journeys
	if err := json.NewDecoder(os.Stdin).Decode(&j); err != nil {
		return nil, err
	}
	s, err := scenario.Read("journey.yaml", func(string) ([]byte, error) { return journeyYAML, nil }, map[string]string{"agents": fmt.Sprint(j.Agents)})
	if err != nil {
		return nil, err
	}
	settings := engine.DefaultSettings()
	settings.Limit, settings.Floor, settings.Ceiling = j.Limit, j.Limit, j.Limit // the governor has nothing to move
	settings.Services = map[string]string{"shop": j.At.URL}
	if len(j.At.CA) > 0 {
		s.Services[0].TLS = &credential.TLS{CA: j.At.CA}
	}
	settings.KeepAwake = false
	began := time.Now()
	result, err := j.run(ctx, e, s, settings)
	if err != nil {
		return nil, err
	}
	took := time.Since(began).Seconds()
	ok, requests := float64(result.Totals.Outcomes[engine.OK]), float64(result.Totals.Requests)
	return figures{
		"journeys": ok, "requests": requests, "failed": float64(j.Agents) - ok,
		"journeys/s": ok / took, "requests/s": requests / took,
	}, nil
}

// run is a whole run: until its journal is closed, if it has one.
func (j journeys) run(ctx context.Context, e env, s *scenario.Scenario, settings engine.Settings) (result run.Result, err error) {
	if !j.Journals {
		return unjournaled(ctx, s, settings)
	}
	a, err := app.Open(app.Options{Data: e.dir})
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	job, err := a.Start(ctx, app.Launch{Services: app.Services{Scenario: s, Settings: settings}, Trusted: true})
	if err != nil {
		return result, err
	}
	return job.Run.Wait(), job.Close()
}

// unjournaled is a run without a store, which no program of ours has.
func unjournaled(ctx context.Context, s *scenario.Scenario, settings engine.Settings) (result run.Result, err error) {
	shop := s.Services[0]
	shop.Simulation = settings.Simulation
	client, err := service.NewHTTP(shop.Name, settings.Services[shop.Name], shop.Limits, false)
	if err != nil {
		return result, err
	}
	defer client.Close()
	trusted, err := shop.TLS.Config(shop.Name, &shop.Store, os.ReadFile)
	if err != nil {
		return result, err
	}
	client.Trust(trusted)
	shop.Connect(client, "")
	governor, err := govern.New(settings.Steering, govern.Options{})
	if err != nil {
		return result, err
	}
	run, err := run.Start(ctx, run.Config{
		ID: "journeys", Program: s.Program(settings.Seed), Agents: s.Agents, Clock: s.Clock, Settings: settings,
		Governor: governor, Services: []engine.Service{client}, Probe: engine.Probe{Host: machine.Host(os.TempDir())},
	})
	if err != nil {
		return result, err
	}
	return run.Wait(), nil
}

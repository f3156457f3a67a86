package app

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/throng-sim/throng/cmd/internal/app/services"
	"github.com/throng-sim/throng/cmd/internal/consent"
	"github.com/throng-sim/throng/cmd/internal/control"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/run"
)

// Crew executes the sessions of runs in other processes.
type Crew interface {
	control.Workers
	// Pool returns the function that creates the pool of a run. The coordinator's clients of services own their limits; shown are the
	// services as the run sees them.
	Pool(ctx context.Context, w Work, own []engine.Service) (pool NewPool, shown []engine.Service, err error)
}

// NewPool creates the pool of a run.
type NewPool = func(run.PoolConfig) (run.WorkerPool, error)

// Work is what another process needs to execute sessions of a run.
type Work struct {
	Run      engine.RunID
	Source   engine.Source
	Path     string // of the scenario's file, see [engine.Source]
	Settings engine.Settings
	Reach    map[string]services.Reach // by service
	Allowed  []string                  // addresses that the run may call, see [Permits.Allowed]
	Parallel int                       // steps of a session that may run at the same time; 0 is not known
}

// CheckCrew returns why the run cannot be executed in other processes, or nil.
func (l Launch) CheckCrew() error {
	problem, batched := "", slices.IndexFunc(l.services(), func(s *chain.Service) bool { return s.Batch != nil })
	switch {
	case l.Settings.Replay != "":
		problem = "a replay answers from the recording, which is in this process"
	case l.Part != nil:
		problem = "the runs of an experiment are executed in this process"
	case l.Scenario.Source.Alone() != "":
		problem = "a chain that runs alone is one session, whose result stays in its process"
	case l.Telemetry.Sending != nil && l.Telemetry.Sending.Traces():
		problem = "traces of sessions are made in the process that executes them"
	case batched >= 0:
		problem = "a batch is collected, sent and awaited in one process, and the service " + l.services()[batched].Name + " has `batch: on`, which `batch: off` turns off"
	default:
		return nil
	}
	return &engine.FieldError{Field: "fleet", Problem: problem, Hint: "leave out --fleet"}
}

// pool returns the function that creates the pool of the run; nil for the pool of this process.
func (l assembly) pool(ctx context.Context, j *Job) (pool NewPool, err error) {
	if l.Crew == nil {
		return nil, nil //nolint:nilnil // the run makes its own
	}
	w := Work{Run: j.Record.ID, Source: j.Record.Source, Path: l.Scenario.Source.Path, Settings: l.Settings, Reach: map[string]services.Reach{}, Allowed: l.Permits().Allowed(), Parallel: l.Scenario.Chain.Graph().Parallel()}
	for _, s := range l.services() {
		r := services.Reach{}
		switch {
		case s.Kind == "llm" && l.mocks(s):
			r.Mock, r.Secret = j.Model.URL(), j.Model.Secret()
		case j.APIs[s.Name] != nil:
			r.Mock, r.Secret = j.APIs[s.Name].URL(), j.APIs[s.Name].Secret()
		case l.mocks(s):
			r.Mock, r.Secret = j.Shop.URL(), j.Shop.Secret()
		case s.Kind == "llm":
			if r.Prices, err = l.pricesOf(s); err != nil {
				return nil, err
			}
		}
		w.Reach[s.Name] = r
	}
	pool, j.services, err = l.Crew.Pool(ctx, w, j.services)
	return pool, err
}

// OnlyHere returns why workers of other machines cannot call services: mocks, and addresses of the coordinator's machine.
func (l Permits) OnlyHere() (all []error) {
	for _, s := range l.Scenario.Services {
		found, _ := l.destinations(s)
		for _, d := range found {
			if d.Local() {
				all = append(all, fmt.Errorf("service %s is at %s, which is another machine for each worker; use an address that is the same on all machines", s.Name, d.Address()))
			}
		}
		if l.mocks(s) {
			all = append(all, fmt.Errorf("the scenario uses a mock for service %s, which listens on the coordinator's machine only; use --fleet local:N, or give the service's address", s.Name))
		}
	}
	return all
}

// Connect connects the services in a worker of a fleet. elsewhere says that the coordinator is on another machine. The caller closes
// the job.
func (l Permits) Connect(elsewhere bool) (*Job, []engine.Service, error) {
	var mistakes []error
	for _, s := range l.Scenario.Services {
		s.Models = l.models(s) // the coordinator has chosen them
		found, _ := l.destinations(s)
		for _, d := range found {
			if !consent.Named(l.Allow, d) {
				mistakes = append(mistakes, fmt.Errorf("service %s is at %s on this machine, which the run may not call", s.Name, d.Address()))
			}
		}
	}
	if elsewhere {
		mistakes = append(mistakes, l.OnlyHere()...)
	}
	bearers, err := l.unlock()
	if err := errors.Join(append(mistakes, err)...); err != nil {
		return nil, nil, err
	}
	j := &Job{}
	if err := l.connect(j, bearers, l.services()); err != nil {
		return nil, nil, errors.Join(err, j.Close())
	}
	return j, j.services, nil
}

package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/calibration"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/calibrate"
	"github.com/throng-sim/throng/engine/machine"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/storage/sqlite"
)

// defaultDuration is the default time to measure a level; warmUpShare is the warm-up before it, as a fraction.
const (
	defaultDuration = 5 * time.Second
	warmUpShare     = 0.3
	maxDuration     = time.Hour
)

// Sweep is a calibration: it measures one run at several limits in turn, in a store of its own. It does not use the
// launch's store, remote database and schedule, but its requests are real.
type Sweep struct {
	Launch Launch
	Name   string // of the scenario, as the user gave it
	Plan   calibrate.Plan
	// Workers is the number of workers of the launch's crew; 0 without a crew.
	Workers int
	// Duration is the time to measure each level, after a warm-up of 0.3 times Duration; 0 is the default. A measurement
	// lasts up to six times as long if fewer than ten sessions have ended, and a warm-up if fewer sessions have ended than
	// are in flight.
	Duration time.Duration
	Report   func(calibrate.Progress) // may be nil
	// Others is what to do if other programs use the machine before the sweep; Waiting is called with their load during a wait.
	Others  calibration.Policy
	Waiting func(cpu float64) // needed for calibration.Wait
}

// Run runs the sweep and stores the result. If ctx or the measured run ends early, it returns the measurements so far with
// the error and stores nothing. Mistakes are *engine.FieldError values. If other programs use the machine, the error is a
// *calibration.Busy.
func (s Sweep) Run(ctx context.Context) (c calibration.Record, err error) {
	if err := s.check(); err != nil {
		return c, err
	}
	host := s.Launch.Host
	if host == nil {
		host = machine.Host(nearestFolder(s.Launch.Data))
	}
	if s.Plan.Foreign, err = s.Others.Others(ctx, host, s.Waiting); err != nil {
		return c, err
	}
	dir, leave, err := calibration.Scratch(s.Launch.Data)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, leave()) }()
	store, err := sqlite.Open(dir, sqlite.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	l := s.Launch
	l.Store, l.Scratch, l.Remote, l.Resume, l.Settings = store, dir, nil, "", unattended(l.Settings)
	c = l.calibration(s.Name)
	c.Workers = s.Workers
	job, err := l.Start(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return c, context.Cause(ctx)
	case err != nil:
		return c, err
	}
	defer func() {
		_ = job.Run.Stop("throng", "calibrated") // the run may have ended
		_ = job.Run.Stop("throng", "calibrated") // a second stop cancels sessions in flight
		err = errors.Join(err, job.Close())
	}()
	c.Agents = job.Agents
	if c.Result, err = s.sweep(ctx, job); err != nil {
		return c, err
	}
	return c, c.Save(s.Launch.Data)
}

// sweep measures the levels, up to the number of agents.
func (s Sweep) sweep(ctx context.Context, job *Job) (calibrate.Result, error) {
	if job.Agents == 0 {
		return calibrate.Result{}, &engine.FieldError{Field: "agents", Problem: "no active agents", Hint: "a calibration needs at least one"}
	}
	p := s.Plan
	if p.Max == 0 && len(p.Levels) == 0 {
		p.Max = calibrate.DefaultMax
	}
	if p.Max == 0 || p.Max > job.Agents {
		p.Max = job.Agents
	}
	duration := cmp.Or(s.Duration, defaultDuration)
	g := calibration.NewGauge(job.Run, time.Duration(warmUpShare*float64(duration)), duration)
	if s.Launch.Crew != nil {
		g.Workers = s.Launch.Crew.Workers
	}
	return calibrate.Sweep(ctx, p, g.Measure, s.Report)
}

// check reports what cannot be calibrated.
func (s Sweep) check() error {
	mistakes := []error{s.Plan.Validate()}
	if s.Launch.Settings.Sequential {
		mistakes = append(mistakes, &engine.FieldError{Field: "sequential", Problem: "agents act in turn, so there is no limit to find", Hint: "turn sequential off"})
	}
	if s.Launch.Scenario.Clock.Arrivals != nil {
		mistakes = append(mistakes, &engine.FieldError{Field: "arrivals", Problem: "agents arrive over time, so the limit does not set the load", Hint: "remove arrivals from the scenario"})
	}
	if s.Duration < 0 || s.Duration > maxDuration {
		mistakes = append(mistakes, &engine.FieldError{Field: "duration", Problem: "is out of range", Hint: "choose up to " + maxDuration.String()})
	}
	f, err := s.Launch.Population().WritingForecast()
	if err == nil && f != nil && f.Left > 0 && !f.Free {
		err = &engine.FieldError{Field: "population", Problem: fmt.Sprintf("%d personas are not written yet", f.Left), Hint: "launch the scenario once; its personas are then stored"}
	}
	return errors.Join(append(mistakes, err)...)
}

// unattended returns settings of a run that continues until it is stopped, with a limit that no governor moves.
func unattended(s engine.Settings) engine.Settings {
	s.Limit, s.Floor, s.Ceiling = 1, 1, engine.MaxLimit
	s.Governor, s.Breaker, s.StallAfter = engine.Manual, noBreaker, 0
	s.Cycles, s.Hours, s.TimeScale = 0, 1000, 0
	s.WarmUp, s.CheckpointEvery, s.Remote = nil, 0, false
	return s
}

// calibration returns the record of a calibration, without its result.
func (l Launch) calibration(name string) calibration.Record {
	return calibration.Record{
		At: time.Now(), Machine: calibration.ThisMachine(l.Data), Scenario: name, Title: l.Scenario.Title, Hash: calibration.HashOf(&l.Scenario.Source), Services: l.Permits().places(),
	}
}

// places describes the addresses of the services, without users and passwords.
func (l Permits) places() (all []string) {
	for _, s := range l.Scenario.Services {
		place := "this machine"
		hosts, hidden := l.away(s)
		switch {
		case l.mocks(s):
			place = "mock"
			if p := l.Settings.Mock.Profile; p != "" {
				place += " " + p
			}
		case hidden:
			place = "a secret"
		case len(hosts) > 0:
			place = fmt.Sprint(hosts)
		case s.Postgres == nil:
			if u, err := service.CheckAddress(l.address(s)); err == nil {
				place = u.Host
			}
		}
		all = append(all, s.Name+": "+place)
	}
	return all
}

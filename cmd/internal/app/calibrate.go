package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/throng-sim/throng/cmd/internal/app/calibration"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/calibrate"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/storage/sqlite"
)

// DefaultDuration is how long a level is measured; settling is the share of it before.
const (
	DefaultDuration = 5 * time.Second
	settling        = 0.3
	longest         = time.Hour
)

// Sweep is a calibration that is to be made: levels of a launch's limit, one after another, on one run in a store of its
// own. The launch's store, remote database and schedule are left alone; its requests are real.
type Sweep struct {
	Launch Launch
	Name   string // of the scenario, as a person gave it
	Plan   calibrate.Plan
	// Duration is how long each level is measured, after a warm-up of 0.3 of it; 0 is the default. A level goes on up to
	// six times as long until ten sessions have ended, as does its warm-up until as many have as are in flight.
	Duration time.Duration
	Report   func(calibrate.Progress) // may be nil
}

// Run carries the sweep out and keeps what it found. When ctx ends, or the run that is measured does, what was measured
// until then comes beside the error, and is not kept. Mistakes are *engine.FieldError.
func (s Sweep) Run(ctx context.Context) (c calibration.Record, err error) {
	if err := s.check(); err != nil {
		return c, err
	}
	dir, leave, err := scratch(s.Launch.Data)
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
	job, err := l.Start(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return c, context.Cause(ctx)
	case err != nil:
		return c, err
	}
	defer func() {
		_ = job.Run.Stop("throng", "calibrated") // that it has ended is no trouble
		_ = job.Run.Stop("throng", "calibrated") // and nothing of it is wanted
		err = errors.Join(err, job.Close())
	}()
	c.Agents = job.Agents
	if c.Result, err = s.sweep(ctx, job); err != nil {
		return c, err
	}
	return c, c.Keep(s.Launch.Data)
}

// sweep measures the levels, of which there are no more than agents.
func (s Sweep) sweep(ctx context.Context, job *Job) (calibrate.Result, error) {
	if job.Agents == 0 {
		return calibrate.Result{}, &engine.FieldError{Field: "agents", Problem: "nobody takes part", Hint: "there is nothing to measure"}
	}
	p := s.Plan
	if p.Max == 0 && len(p.Levels) == 0 {
		p.Max = calibrate.DefaultMax
	}
	if p.Max == 0 || p.Max > job.Agents {
		p.Max = job.Agents
	}
	duration := cmp.Or(s.Duration, DefaultDuration)
	g := calibration.NewGauge(job.Run, time.Duration(settling*float64(duration)), duration)
	return calibrate.Sweep(ctx, p, g.Measure, s.Report)
}

// check finds what cannot be measured.
func (s Sweep) check() error {
	mistakes := []error{s.Plan.Validate()}
	if s.Launch.Settings.Sequential {
		mistakes = append(mistakes, &engine.FieldError{Field: "sequential", Problem: "one agent acts after the other", Hint: "there is no limit to find; turn it off"})
	}
	if s.Duration < 0 || s.Duration > longest {
		mistakes = append(mistakes, &engine.FieldError{Field: "duration", Problem: "is out of range", Hint: "up to " + longest.String()})
	}
	draft, err := s.Launch.Population().Draft()
	if err == nil && draft != nil && draft.Left > 0 && !draft.Free {
		err = &engine.FieldError{Field: "population", Problem: fmt.Sprintf("is not written: %d are missing", draft.Left), Hint: "launch the scenario once; what is written is kept"}
	}
	return errors.Join(append(mistakes, err)...)
}

// unattended are settings of a run that goes on until it is stopped, with a limit that nobody else moves.
func unattended(s engine.Settings) engine.Settings {
	s.Limit, s.Floor, s.Ceiling = 1, 1, engine.MaxLimit
	s.Governor, s.Breaker, s.StallAfter = engine.Manual, "off", 0
	s.Cycles, s.Hours, s.TimeScale = 0, 1000, 0
	s.WarmUp, s.CheckpointEvery, s.Remote = nil, 0, false
	return s
}

const scratchPrefix = "calibrate-"

// scratch makes a folder in the data folder that leave removes, and removes those of processes that died.
func scratch(data string) (dir string, leave func() error, err error) {
	if err := os.MkdirAll(data, 0o700); err != nil {
		return "", nil, err
	}
	left, err := filepath.Glob(filepath.Join(data, scratchPrefix+"*"))
	if err != nil {
		return "", nil, err
	}
	for _, old := range left {
		lock := flock.New(filepath.Join(old, "lock"))
		if free, err := lock.TryLock(); err == nil && free {
			if err := errors.Join(lock.Unlock(), os.RemoveAll(old)); err != nil {
				slog.Warn("what an earlier calibration left is not removed", "folder", old, "error", err)
			}
		}
	}
	if dir, err = os.MkdirTemp(data, scratchPrefix); err != nil {
		return "", nil, fmt.Errorf("make a store for the measurements: %w", err)
	}
	lock := flock.New(filepath.Join(dir, "lock"))
	leave = func() error { return errors.Join(lock.Close(), os.RemoveAll(dir)) }
	if _, err := lock.TryLock(); err != nil {
		return "", nil, errors.Join(err, leave())
	}
	return dir, leave, nil
}

// calibration says what a sweep of the launch is of.
func (l Launch) calibration(name string) calibration.Record {
	return calibration.Record{
		At: time.Now(), Machine: calibration.ThisMachine(l.Data), Scenario: name, Title: l.Scenario.Title, Hash: calibration.HashOf(&l.Scenario.Source), Services: l.Permits().places(),
	}
}

// places says where the services are, without users and passwords.
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
			place = "kept as a secret"
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

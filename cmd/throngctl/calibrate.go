package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/calibration"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/crew"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/flags"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/calibrate"
	"github.com/throng-sim/throng/engine/scenario"
)

// calibrateCmd finds the best concurrency limit.
type calibrateCmd struct {
	File   string            `arg:"" optional:"" help:"Scenario file, or the name of a built-in scenario."`
	Set    map[string]string `placeholder:"NAME=VALUE" help:"Scenario parameter; may be repeated."`
	Filter string            `placeholder:"EXPR" help:"Run only agents that match this expression."`

	Levels    []int         `placeholder:"N,N" help:"Concurrency limits to measure (default: 1, 2, 4, ... up to --max)."`
	Max       int           `placeholder:"N" help:"Highest limit to measure (default: 64, or the number of agents)."`
	Repeats   int           `default:"3" placeholder:"N" help:"Measurements per limit."`
	Duration  time.Duration `default:"5s" placeholder:"T" help:"Time to measure each limit after it has settled; longer if sessions take long."`
	Fleet     string        `placeholder:"local:N,N" help:"Measure all limits with each of these numbers of workers on this machine, such as local:0,1,2; 0 is one process."`
	Apply     bool          `help:"Save the result as the settings max-concurrent and ceiling."`
	Wait      bool          `xor:"load" help:"Wait until other programs use little CPU."`
	UnderLoad bool          `xor:"load" help:"Measure even if other programs use the CPU; there is no recommendation then."`
	History   bool          `help:"List previous calibrations without measuring."`
	Presets   bool          `help:"Show typical limits for this machine without measuring."`

	NoDashboard bool `help:"Print lines instead of a progress line."`
	flags.Telemetry
	jsonFlag
	flags.Settings
	flags.Fixed
	flags.Services
}

var errGivenUp = errors.New("canceled")

// Run is called by kong.
func (c *calibrateCmd) Run(ctx context.Context, t *terminal) (err error) {
	if c.Presets {
		if t.json {
			return t.print(answer.NewPresets(t.data))
		}
		return c.presets(t)
	}
	if c.History {
		return c.calibrations(t)
	}
	sweep, err := c.sweep(t)
	if err != nil {
		return err
	}
	if err := c.idle(ctx, t); err != nil {
		return err
	}
	tell, closeTell, err := openTelemetry(ctx, t, c.Telemetry)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeTell()) }()
	tell.Sent = nil // summaries of each level go to the log
	sweep.Launch.Telemetry = tell
	out := t.out
	if c.JSON {
		out = t.err
	}
	p := show.NewProgress(out, c.NoDashboard)
	sweep.Report = func(at calibrate.Progress) { p.Say(time.Now(), show.Measuring(at), at.Done == at.Total) }
	sweep.Waiting = func(cpu float64) { p.Say(time.Now(), calibration.Waiting(cpu), false) }
	all, err := c.calibrate(ctx, t, sweep, p)
	p.End()
	t.sayTrouble()
	all = slices.DeleteFunc(all, func(r calibration.Record) bool {
		if r.Notice != "" {
			fmt.Fprintln(t.err, r.Notice)
		}
		return err != nil && !measured(&r.Result)
	})
	if len(all) == 0 {
		return c.gaveUp(t, err)
	}
	choice := calibrate.Choice{Level: all[0].Result.Level}
	if c.Fleet != "" {
		choice = answer.Choose(all)
	}
	if err := c.show(t, all, choice); err != nil {
		return err
	}
	if err != nil {
		return c.gaveUp(t, err)
	}
	return c.advise(t, choice)
}

// show prints what was measured.
func (c *calibrateCmd) show(t *terminal, all []calibration.Record, choice calibrate.Choice) error {
	switch {
	case c.JSON && c.Fleet != "":
		return t.print(answer.FleetCalibration{Choice: choice, Calibrations: all})
	case c.JSON:
		return t.print(all[0])
	case c.Fleet != "":
		show.FleetCalibration(t.out, all, choice)
	default:
		show.Calibration(t.out, &all[0])
	}
	return nil
}

// sweep returns the measurement that the flags describe.
func (c *calibrateCmd) sweep(t *terminal) (s app.Sweep, err error) {
	if c.File == "" {
		return s, &engine.FieldError{Problem: "no scenario given", Hint: "for example: throngctl calibrate shopping"}
	}
	loaded, err := loadScenario(t, c.File, scenario.Extras{Parameters: c.Set})
	if err != nil {
		return s, err
	}
	settings, _, err := config.Resolve(t.data, loaded, flags.Given(c.Settings.Plugins, c.Fixed.Plugins), os.Getenv)
	if err != nil {
		return s, err
	}
	settings.Filter = c.Filter
	c.ApplyTo(&settings)
	return app.Sweep{
		Launch:   app.Launch{Services: app.Services{Data: t.data, Scenario: loaded, Settings: settings, OnRequest: t.hooks.onRequest}, Allow: c.Allow, Trusted: t.hooks.trusts, Host: t.hooks.host},
		Name:     c.File,
		Plan:     calibrate.Plan{Levels: c.Levels, Max: c.Max, Repeats: c.Repeats, Seed: settings.Seed},
		Duration: c.Duration,
		Others:   c.others(),
	}, nil
}

// others returns what to do if other programs use the machine.
func (c *calibrateCmd) others() calibration.Policy {
	switch {
	case c.Wait:
		return calibration.Wait
	case c.UnderLoad:
		return calibration.Anyway
	}
	return calibration.Refuse
}

// idle refuses to measure while a run of the same store is in progress: it would distort the result.
func (c *calibrateCmd) idle(ctx context.Context, t *terminal) (err error) {
	store, err := t.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	runs, err := store.Runs(ctx)
	if err != nil {
		return err
	}
	for i := range runs {
		if runs[i].InProgress {
			return fmt.Errorf("run %s is in progress and would distort the measurement; stop it or wait for it to end: %w", runs[i].ID, engine.ErrInUse)
		}
	}
	return nil
}

// calibrate runs the measurement, for each number of workers. A signal cancels it.
func (c *calibrateCmd) calibrate(ctx context.Context, t *terminal, s app.Sweep, p *show.Progress) (all []calibration.Record, err error) {
	measure := func() ([]calibration.Record, error) {
		found, err := s.Run(ctx)
		return []calibration.Record{found}, err
	}
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	s.Launch.Telemetry.Abort = ctx.Done()
	if c.Fleet != "" {
		counts, err := crew.Counts(c.Fleet)
		if err != nil {
			return nil, err
		}
		program, err := os.Executable()
		if err != nil {
			return nil, err
		}
		cfg := crew.Config{Secrets: s.Launch.Secrets, Data: t.data, Program: program, Env: t.hooks.env, Log: t.log, Say: func(text string) { t.log.Info(text) }}
		measure = func() ([]calibration.Record, error) {
			return crew.Sweeps(ctx, cfg, counts, s, func(workers int, at calibrate.Progress) {
				p.Say(time.Now(), calibrate.WorkersText(workers)+"  "+show.Measuring(at), at.Done == at.Total)
			})
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		all, err = measure()
	}()
	for {
		select {
		case <-t.signals:
			giveUp(errGivenUp)
		case <-done:
			return all, err
		}
	}
}

// gaveUp reports why a measurement did not complete.
func (c *calibrateCmd) gaveUp(t *terminal, err error) error {
	if busy, ok := errors.AsType[*calibration.Busy](err); ok {
		return fmt.Errorf("not started: %w; close them, wait for them with --wait, or measure anyway with --under-load", busy)
	}
	if errors.Is(err, errGivenUp) {
		kept := "nothing was stored"
		if c.Fleet != "" {
			kept = "only numbers of workers that were completely measured are stored"
		}
		fmt.Fprintf(t.err, "Canceled; %s.\n", kept)
		return exitError(exitInterrupted)
	}
	return err
}

// advise prints how to use the result, or saves it.
func (c *calibrateCmd) advise(t *terminal, best calibrate.Choice) error {
	if best.Level == 0 {
		return exitError(exitFailed)
	}
	out := t.out
	if c.JSON {
		out = t.err
	}
	fleet, saved := "", "it"
	if best.Workers > 0 {
		fleet, saved = " --fleet "+crew.LocalFleet(best.Workers), "the limit"
	}
	if !c.Apply {
		fmt.Fprintf(out, "Use it with --max-concurrent %d --ceiling %d%s, or save %s with --apply.\n", best.Level, best.Level, fleet, saved)
		return nil
	}
	if err := calibration.ApplyLevel(t.data, best.Level); err != nil {
		return err
	}
	fmt.Fprintf(out, "saved: max-concurrent=%d ceiling=%d\n", best.Level, best.Level)
	if fleet != "" {
		fmt.Fprintf(out, "Start runs with%s.\n", fleet)
	}
	return nil
}

func measured(r *calibrate.Result) bool {
	for i := range r.Levels {
		if len(r.Levels[i].Samples) > 0 {
			return true
		}
	}
	return false
}

// calibrations lists previous calibrations, newest first.
func (c *calibrateCmd) calibrations(t *terminal) error {
	all, notice, err := calibration.List(t.data)
	if err != nil {
		return err
	}
	if notice != "" {
		fmt.Fprintln(t.err, notice)
	}
	if t.json {
		return t.print(append([]calibration.Record{}, all...))
	}
	if len(all) == 0 {
		fmt.Fprintln(t.out, "No calibrations yet. Try: throngctl calibrate shopping")
		return nil
	}
	return show.Calibrations(t.out, all)
}

// presets lists starting points and marks the one for this machine.
func (c *calibrateCmd) presets(t *terminal) error {
	machine := calibration.ThisMachine(t.data)
	own := engine.PresetFor(machine.Cores, machine.MemoryBytes)
	return show.Presets(t.out, machine.String(), own)
}

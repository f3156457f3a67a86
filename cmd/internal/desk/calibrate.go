package desk

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/calibration"
	"github.com/throng-sim/throng/engine"
	levels "github.com/throng-sim/throng/engine/calibrate"
	"github.com/throng-sim/throng/ui/calibrate"
	"github.com/throng-sim/throng/ui/setup"
)

// calibrateDesk serves the Calibrate screen.
type calibrateDesk struct{ *Desk }

var _ calibrate.Desk = calibrateDesk{}

var errSweepStopped = errors.New("canceled by the user")

// Choices lists the scenarios.
func (d calibrateDesk) Choices(context.Context) (all []calibrate.Choice, err error) {
	choices, err := setupDesk(d).scenarios(nil)
	for _, c := range choices {
		all = append(all, calibrate.Choice{Name: c.Name, Title: c.Title})
	}
	return all, err
}

// Stop cancels the calibration.
func (d calibrateDesk) Stop() {
	if now := d.State(); now != nil && now.Running {
		d.cancel(errSweepStopped)
	}
}

// Machine describes this machine.
func (d calibrateDesk) Machine(context.Context) (calibrate.Machine, error) {
	m := calibration.ThisMachine(d.data)
	return calibrate.Machine{Words: m.String(), Cores: m.Cores, Memory: m.MemoryBytes}, nil
}

// Earlier lists previous calibrations on this machine.
func (d calibrateDesk) Earlier(context.Context) (found []calibrate.Found, notice string, err error) {
	all, notice, err := calibration.List(d.data)
	here := calibration.ThisMachine(d.data)
	for i := range all {
		if all[i].Machine.Host == here.Host && all[i].Machine.Cores == here.Cores {
			found = append(found, *foundIn(&all[i]))
		}
	}
	return found, notice, err
}

// Start starts a calibration. No run or other calibration may be in progress.
func (d calibrateDesk) Start(ctx context.Context, o calibrate.Order) error {
	s, err := d.prepare(ctx, o)
	if err != nil {
		return err
	}
	settled, err := d.begin()
	if err != nil {
		return err
	}
	alive, giveUp := context.WithCancelCause(context.WithoutCancel(ctx))
	d.calibrating(giveUp)
	s.Launch.Telemetry = d.elsewhere()
	s.Report = func(p levels.Progress) {
		now := &calibrate.State{Running: true, Doing: fmt.Sprintf("limit %d", p.Level), Left: leftOf(&p), Share: float64(p.Done) / float64(max(p.Total, 1))}
		if p.Done > 0 {
			now.Found = foundIn(&calibration.Record{At: time.Now(), Title: s.Launch.Scenario.Title, Result: p.Result})
			now.Found.About = "so far, in progress"
		}
		d.report(now)
	}
	s.Waiting = func(cpu float64) {
		d.report(&calibrate.State{Running: true, Doing: "waiting", Foreign: cpu})
	}
	go func() {
		found, err := d.app.Calibrate(alive, s)
		giveUp(nil)
		now := &calibrate.State{Share: 1, Err: err}
		if busy, ok := errors.AsType[*calibration.Busy](err); ok {
			now = &calibrate.State{Foreign: busy.CPU}
		}
		if len(found.Result.Levels) > 0 {
			now.Found = foundIn(&found)
			if err != nil {
				now.Found.About = "partial result · " + now.Found.About
			}
		}
		d.report(now)
		d.end(settled)
	}()
	return nil
}

// prepare turns an order into a calibration of app.
func (d calibrateDesk) prepare(ctx context.Context, o calibrate.Order) (s app.Sweep, err error) {
	if o.Settings == nil {
		usual, err := setupDesk(d).Scenario(ctx, o.Scenario, o.Given)
		if err != nil {
			return s, err
		}
		o.Settings = &usual.Settings
	}
	l, err := setupDesk(d).launch(ctx, setup.Order{Scenario: o.Scenario, Given: o.Given, Settings: *o.Settings, Allow: o.Allow})
	if err != nil {
		return s, err
	}
	name := o.Scenario
	if l.Fork != nil { // a calibration measures the first cycles
		name, l.Fork = l.Fork.Record.Source.Name, nil
	}
	for _, to := range l.Permits().Unallowed() {
		return s, fmt.Errorf("the service %s at %s is not allowed yet: launch the scenario once in Setup, which asks for permission", to.Service, to.Address())
	}
	p := levels.Plan{Levels: o.Levels, Max: o.Max, Repeats: o.Repeats, Seed: l.Settings.Seed}
	l.Host = d.host
	return app.Sweep{Launch: l, Name: name, Plan: p, Duration: o.Duration, Others: policies[o.Others]}, p.Validate()
}

// policies are what to do if other programs use the machine.
var policies = map[calibrate.Others]calibration.Policy{
	calibrate.RefuseOthers: calibration.Refuse, calibrate.WaitForOthers: calibration.Wait, calibrate.DespiteOthers: calibration.Anyway,
}

// leftOf describes the remaining time of a calibration.
func leftOf(p *levels.Progress) string {
	if p.Left <= 0 {
		return ""
	}
	return engine.FormatDuration(p.Left.Round(time.Second)) + " left"
}

// foundIn converts a calibration for the screen.
func foundIn(c *calibration.Record) *calibrate.Found {
	r := &c.Result
	f := &calibrate.Found{At: c.At, Title: c.Title, Level: r.Level, Low: r.Low, High: r.High, Words: r.String(), Law: r.Law(), Levels: r.Levels, UnderLoad: r.UnderLoad}
	if c.Agents > 0 {
		f.About = fmt.Sprintf("%s agents · %s · %s", engine.FormatCount(int64(c.Agents)), c.Where(), strings.Join(c.Services, ", "))
	}
	for _, b := range r.Band {
		f.Curve = append(f.Curve, calibrate.Point{At: b.Level, PerSecond: b.PerSecond, Low: b.Low, High: b.High})
	}
	return f
}

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

// calibrateDesk answers the Calibrate screen.
type calibrateDesk struct{ *Desk }

var _ calibrate.Desk = calibrateDesk{}

// sweep is the newest of a desk, guarded by its lock.
type sweep struct {
	state  *calibrate.State
	giveUp context.CancelCauseFunc // nil while none is under way
}

// stop gives the sweep up, if one is under way.
func (s *sweep) stop(why error) {
	if s.giveUp != nil {
		s.giveUp(why)
	}
}

var errSweepStopped = errors.New("it was given up")

// Choices lists the scenarios.
func (d calibrateDesk) Choices(ctx context.Context) (all []calibrate.Choice, err error) {
	choices, err := setupDesk(d).Choices(ctx)
	for _, c := range choices {
		all = append(all, calibrate.Choice{Name: c.Name, Title: c.Title})
	}
	return all, err
}

// State is the newest sweep of this process.
func (d calibrateDesk) State() *calibrate.State {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.sweep.state
}

// Stop gives the sweep up.
func (d calibrateDesk) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sweep.stop(errSweepStopped)
}

// Machine describes this one.
func (d calibrateDesk) Machine(context.Context) (calibrate.Machine, error) {
	m := calibration.ThisMachine(d.data)
	return calibrate.Machine{Words: m.String(), Cores: m.Cores, Memory: m.MemoryBytes}, nil
}

// Earlier lists what earlier sweeps on this machine found.
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

// Start begins a sweep; nothing else can be in progress beside it.
func (d calibrateDesk) Start(ctx context.Context, o calibrate.Order) error {
	s, err := d.prepare(ctx, o)
	if err != nil {
		return err
	}
	settled, err := d.occupy()
	if err != nil {
		return err
	}
	alive, giveUp := context.WithCancelCause(context.WithoutCancel(ctx))
	d.mu.Lock()
	d.sweep = sweep{&calibrate.State{Running: true, Doing: "starting"}, giveUp}
	closed := d.closed // meanwhile
	d.mu.Unlock()
	if closed {
		giveUp(errStopped)
	}
	s.Launch.Telemetry = d.elsewhere()
	s.Report = func(p levels.Progress) {
		now := &calibrate.State{Running: true, Doing: fmt.Sprintf("%d at once", p.Level), Left: leftOf(&p), Share: float64(p.Done) / float64(max(p.Total, 1))}
		if p.Done > 0 {
			now.Found = foundIn(&calibration.Record{At: time.Now(), Title: s.Launch.Scenario.Title, Result: p.Result})
			now.Found.About = "so far, of the sweep under way"
		}
		d.tell(now)
	}
	go func() {
		found, err := d.app.Calibrate(alive, s)
		giveUp(nil)
		now := &calibrate.State{Share: 1, Err: err}
		if len(found.Result.Levels) > 0 {
			now.Found = foundIn(&found)
			if err != nil {
				now.Found.About = "as far as the sweep went · " + now.Found.About
			}
		}
		d.mu.Lock()
		d.sweep = sweep{state: now}
		d.mu.Unlock()
		d.vacate(settled)
	}()
	return nil
}

func (d calibrateDesk) tell(now *calibrate.State) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sweep.state = now
}

// prepare makes an order into what app carries out.
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
	if l.Fork != nil { // what is measured begins at the beginning
		name, l.Fork = l.Fork.Record.Source.Name, nil
	}
	for _, to := range l.Permits().Unallowed() {
		return s, fmt.Errorf("the service %s is at %s, which was not allowed yet: launch the scenario once from Setup, which asks", to.Service, to.Address())
	}
	p := levels.Plan{Levels: o.Levels, Max: o.Max, Repeats: o.Repeats, Seed: l.Settings.Seed}
	return app.Sweep{Launch: l, Name: name, Plan: p, Duration: o.Duration}, p.Validate()
}

// leftOf says how long a sweep will go on.
func leftOf(p *levels.Progress) string {
	if p.Left <= 0 {
		return ""
	}
	return engine.FormatDuration(p.Left.Round(time.Second)) + " left"
}

// foundIn is what the screen shows of a calibration.
func foundIn(c *calibration.Record) *calibrate.Found {
	r := &c.Result
	f := &calibrate.Found{At: c.At, Title: c.Title, Level: r.Level, Low: r.Low, High: r.High, Words: r.String(), Law: r.Law()}
	if c.Agents > 0 {
		f.About = fmt.Sprintf("%s agents · %s · %s", engine.FormatCount(int64(c.Agents)), c.Machine, strings.Join(c.Services, ", "))
	}
	for i := range r.Levels {
		l := &r.Levels[i]
		memory := l.Memory
		if memory > 0 {
			memory *= 100
		}
		f.Levels = append(f.Levels, calibrate.Level{
			Level: l.Level, Measured: len(l.Samples) > 0, Over: l.Over != "", PerSecond: l.PerSecond, Spread: l.Spread,
			P95: l.P95, CPU: l.CPU, Memory: memory, Errors: 100 * l.Errors, Note: l.Note,
		})
	}
	for _, b := range r.Band {
		f.Curve = append(f.Curve, calibrate.Point{At: b.Level, PerSecond: b.PerSecond, Low: b.Low, High: b.High})
	}
	return f
}

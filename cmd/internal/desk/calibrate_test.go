package desk

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/calibrate"
	"github.com/throng-sim/throng/ui/setup"
)

// little returns a sweep with few agents that takes a moment.
func little(t *testing.T, d *Desk) calibrate.Order {
	o := order(t, d, nil)
	return calibrate.Order{
		Scenario: o.Scenario, Given: o.Given, Settings: &o.Settings, Levels: []int{1, 2}, Repeats: 1, Duration: 100 * time.Millisecond,
	}
}

// launchLater launches a run, and cancels it when it waits for what is in progress.
func launchLater(t *testing.T, d *Desk) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	return setupDesk{d}.Launch(ctx, order(t, d, func(o *setup.Order) { o.Waits = func(bool) { cancel() } }), nil)
}

func TestSweepFromTheWindow(t *testing.T) {
	d := open(t, t.TempDir())
	c := calibrateDesk{d}
	if c.State() != nil {
		t.Error("a sweep exists before the first start")
	}
	c.Stop() // no effect before the start
	if err := c.Start(t.Context(), little(t, d)); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context(), little(t, d)); err == nil || !strings.Contains(err.Error(), "in progress") {
		t.Errorf("a second sweep during the first: %v", err)
	}
	if err := launchLater(t, d); !errors.Is(err, context.Canceled) {
		t.Errorf("a run was launched during the calibration: %v", err)
	}
	<-c.Settled()
	s := c.State()
	if s.Running || s.Err != nil || s.Found == nil || s.Found.Level == 0 || len(s.Found.Levels) != 2 || !strings.Contains(s.Found.About, "40 agents") {
		t.Errorf("%+v with %+v", s, s.Found)
	}
	all, notice, err := c.Earlier(t.Context())
	if err != nil || notice != "" || len(all) != 1 || all[0].Level != s.Found.Level {
		t.Errorf("%+v, %q, %v", all, notice, err)
	}
	runs, err := runsDesk{d}.Runs(t.Context())
	if err != nil || len(runs) > 0 {
		t.Errorf("the store has runs %v, %v", runs, err)
	}
	choices, err := c.Choices(t.Context())
	if err != nil || len(choices) == 0 {
		t.Errorf("%v, %v", choices, err)
	}
	if m, err := c.Machine(t.Context()); err != nil || m.Cores == 0 || m.Words == "" {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestSweepGivenUpFromTheWindow(t *testing.T) {
	d := open(t, t.TempDir())
	c := calibrateDesk{d}
	o := little(t, d)
	o.Repeats = 100
	if err := c.Start(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	c.Stop()
	<-c.Settled()
	if s := c.State(); s.Running || s.Err == nil || !strings.Contains(s.Err.Error(), "canceled by the user") {
		t.Errorf("%+v", s)
	}
	if err := c.Start(t.Context(), o); err != nil { // start again, until the window is closed
		t.Fatal(err)
	}
	if err := d.Stop(false); err != nil {
		t.Error(err)
	}
	<-c.Settled()
	if s := c.State(); s.Running || s.Err == nil {
		t.Errorf("%+v", s)
	}
}

// TestSweepUnderLoad checks that a sweep does not start while other programs use the CPU, waits for them if the user wants that, and is not
// recommended if it is started anyway.
func TestSweepUnderLoad(t *testing.T) {
	d := open(t, t.TempDir())
	d.host = func() engine.HostMetrics { return engine.HostMetrics{CPU: 55, ProcessCPU: 20, Cores: 2} }
	c := calibrateDesk{d}
	o := little(t, d)
	start := func(others calibrate.Others) *calibrate.State {
		t.Helper()
		o.Others = others
		if err := c.Start(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if others == calibrate.WaitForOthers {
			for s := c.State(); s.Foreign != 45; s = c.State() {
				runtime.Gosched()
			}
			if s := c.State(); !s.Running {
				t.Errorf("it does not wait: %+v", s)
			}
			c.Stop()
		}
		<-c.Settled()
		return c.State()
	}
	if s := start(calibrate.RefuseOthers); s.Running || s.Foreign != 45 || s.Err != nil || s.Found != nil {
		t.Errorf("refused: %+v", s)
	}
	if s := start(calibrate.WaitForOthers); s.Running || s.Err == nil || s.Foreign != 0 {
		t.Errorf("canceled: %+v", s)
	}
	if s := start(calibrate.DespiteOthers); s.Err != nil || s.Found == nil || !s.Found.UnderLoad || s.Found.Level != 0 {
		t.Errorf("anyway: %+v", s)
	}
}

func TestSweepMistakesFromTheWindow(t *testing.T) {
	d := open(t, t.TempDir())
	c := calibrateDesk{d}
	o := little(t, d)
	settings := *o.Settings
	settings.Services = map[string]string{"shop": "https://shop.example.com"}
	o.Settings = &settings
	if err := c.Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), "launch the scenario once in Setup") {
		t.Errorf("another machine: %v", err)
	}
	o = calibrate.Order{Scenario: "shopping", Levels: []int{0}}
	if err := c.Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), "levels") {
		t.Errorf("no sessions: %v", err)
	}
	if _, err := d.begin(); err != nil {
		t.Errorf("the desk is busy: %v", err)
	} else {
		d.end(d.settled)
	}
}

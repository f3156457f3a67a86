package lab

import (
	"context"
	"os"

	"github.com/throng-sim/throng/cmd/internal/app/experiments"
	"github.com/throng-sim/throng/cmd/internal/app/experiments/steering"
	"github.com/throng-sim/throng/engine"
)

// orders returns the orders for the experiment in a file, which exists.
func (t *Terminal) orders(file string) (*steering.Orders, error) {
	if _, err := os.Stat(file); err != nil {
		_, err = experiments.Read(t.Data, file) // says what to do
		return nil, err
	}
	return steering.Of(t.Data, file)
}

// terminal is whose orders these are.
const terminal = "throngctl"

type stopCmd struct {
	File string `arg:"" help:"Experiment file."`
	Now  bool   `help:"Do not wait for sessions in progress; they run again when the experiment continues."`
	jsonFlag
}

// Run is called by kong.
func (c *stopCmd) Run(t *Terminal) error {
	orders, err := t.orders(c.File)
	if err != nil {
		return err
	}
	by := orders.Executing()
	if by == nil {
		return &engine.FieldError{Field: "experiment", Problem: "it is not in progress", Hint: "throngctl experiment status " + c.File + " shows its runs; if it waits: throngctl queue cancel ID"}
	}
	if err := orders.Stop(terminal, "by throngctl experiment stop", c.Now); err != nil {
		return err
	}
	return t.done("Stopping in process %d (%s). Continue with: throngctl experiment run %s", by.Process, by.Program, c.File)
}

type pauseCmd struct {
	File string `arg:"" help:"Experiment file."`
	jsonFlag
}

// Run is called by kong.
func (c *pauseCmd) Run(t *Terminal) error {
	orders, err := t.orders(c.File)
	if err != nil {
		return err
	}
	if err := orders.Pause(terminal); err != nil {
		return err
	}
	state := "It is not in progress, and will start no run."
	if orders.Executing() != nil {
		state = "Paused. Runs in progress continue, no other run begins."
	}
	return t.done("%s Continue with: throngctl experiment resume %s", state, c.File)
}

type resumeCmd struct{ runCmd }

// Run is called by kong.
func (c *resumeCmd) Run(ctx context.Context, t *Terminal) error {
	orders, err := t.orders(c.File)
	if err != nil {
		return err
	}
	record, err := orders.Read()
	if err != nil {
		return err
	}
	if record.Paused == nil {
		return c.runCmd.Run(ctx, t)
	}
	by := orders.Executing()
	if err := orders.Resume(); err != nil {
		return err
	}
	if by == nil {
		return c.runCmd.Run(ctx, t)
	}
	return t.done("The experiment continues in process %d (%s).", by.Process, by.Program)
}

type forgetCmd struct {
	File string `arg:"" help:"Experiment file, which need not exist."`
	jsonFlag
}

// Run is called by kong.
func (c *forgetCmd) Run(t *Terminal) error {
	orders, err := steering.Of(t.Data, c.File)
	if err != nil {
		return err
	}
	if err := orders.Forget(); err != nil {
		return err
	}
	return t.done("Forgot %s, its pause and its skipped runs. Its file and its runs stay.", orders.File())
}

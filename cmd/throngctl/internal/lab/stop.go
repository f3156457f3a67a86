package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/experiments"
	"github.com/throng-sim/throng/cmd/internal/control"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/engine"
)

type stopCmd struct {
	File string `arg:"" help:"Experiment file."`
	Now  bool   `help:"Do not wait for sessions in progress; they run again when the experiment continues."`
	jsonFlag
}

// Run is called by kong.
func (c *stopCmd) Run(ctx context.Context, t *Terminal) error {
	return t.open(c.File, nil, func(x *experiments.Experiment) error {
		run, err := c.stopped(ctx, t.Data, x)
		if err != nil {
			return err
		}
		done := fmt.Sprintf("Stopping in run %s. Continue with: throngctl experiment run %s", run, c.File)
		if t.JSON {
			return answer.Print(t.Out, answer.Done{Run: run, Done: done})
		}
		_, err = fmt.Fprintln(t.Out, done)
		return err
	})
}

// patience is how long stop looks for a run that is still in progress when the order arrives: short runs may end before.
const patience = 10 * time.Second

// stopped stops a run in progress, which stops its experiment, and returns the run.
func (c *stopCmd) stopped(ctx context.Context, data string, x *experiments.Experiment) (engine.RunID, error) {
	found := false
	for began := time.Now(); time.Since(began) < patience; {
		s, err := x.Status(ctx)
		if err != nil {
			return "", err
		}
		running := 0
		for _, r := range s.Runs {
			if r.State != experiments.Running {
				continue
			}
			running++
			if c.stop(ctx, data, r.Record.ID) == nil { // else it has just ended
				return r.Record.ID, nil
			}
		}
		if running == 0 && !found {
			break
		}
		found = true
	}
	return "", &engine.FieldError{Field: "experiment", Problem: "none of its runs is in progress", Hint: "throngctl experiment status " + c.File + " shows them"}
}

// stop stops a run in progress.
func (c *stopCmd) stop(ctx context.Context, data string, run engine.RunID) (err error) {
	client, err := control.Dial(ctx, data, run)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	return client.Stop(ctx, c.Now, "throngctl experiment stop")
}

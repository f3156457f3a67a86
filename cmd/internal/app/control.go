package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/throng-sim/throng/cmd/internal/awake"
	"github.com/throng-sim/throng/cmd/internal/control"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
)

// stayAwake keeps the machine awake during the run, if the settings say so and the system can.
func (l assembly) stayAwake(j *Job) {
	if !l.Settings.KeepAwake {
		return
	}
	release, how, err := awake.Hold(fmt.Sprintf("run %s: %s", j.Record.ID, l.Scenario.Title))
	switch {
	case errors.Is(err, awake.ErrNone):
		slog.Debug("the machine is not kept awake", "run", j.Record.ID, "error", err)
	case err != nil:
		slog.Warn("the machine may sleep during the run", "run", j.Record.ID, "error", err)
	default:
		slog.Debug("the machine is kept awake", "run", j.Record.ID, "by", how)
		j.onClose(func() error { release(); return nil })
	}
}

// serveControl opens the control socket, through which another terminal steers the run. The run continues if it fails.
func (l assembly) serveControl(j *Job) {
	var sink func() *view.Sink
	if j.Target != "" {
		sink = l.Remote.Sink
	}
	j.Orders = control.Job{
		Workers: l.Crew,
		Sink:    sink,
		Run:     j.Run,
		Title:   j.Record.DisplayName(),
		Origin:  j.Origin,
		Find:    j.Find,
		Broadcast: func(ctx context.Context, ids []string, text, who string) error {
			return j.Broadcast(ctx, ids, text, "", who)
		},
	}
	if l.Scratch != "" {
		return // a scratch run has no known ID
	}
	stop, err := control.Serve(j.Orders, l.Data)
	if err != nil {
		slog.Warn("other terminals cannot control the run", "run", j.Record.ID, "error", err)
		return
	}
	j.onClose(stop)
}

// forecast returns the forecast that is stored with a new run.
func (l assembly) forecast(ctx context.Context, j *Job, w Workload) *engine.Forecast {
	earlier := l.EarlierRuns
	if earlier == nil {
		earlier = NewEarlierRuns(l.Store)
	}
	f := l.Forecaster().Forecast(earlier.Find(ctx, l.Forecaster()), w)
	if j.Written != nil { // part of what the run uses, and known by now
		took := j.Written.Took
		for _, figure := range []struct {
			of *engine.Estimate
			n  int64
		}{{&f.Requests, took.Requests}, {&f.Calls, took.Usage.Calls}, {&f.Input, took.Usage.Input}, {&f.Output, took.Usage.Output}} {
			*figure.of = figure.of.Plus(engine.Exactly(float64(figure.n), engine.Measured))
		}
		f.Cost = f.Cost.Plus(engine.Exactly(float64(took.Usage.Cost)/1e9, engine.Measured))
	}
	return &f
}

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

// stayAwake keeps the machine awake while the run goes on, if it is to and can.
func (l assembly) stayAwake(j *Job) {
	if !l.Settings.KeepAwake {
		return
	}
	release, how, err := awake.Hold(fmt.Sprintf("run %s: %s", j.Record.ID, l.Scenario.Title))
	switch {
	case errors.Is(err, awake.ErrNone):
		slog.Debug("nothing keeps the machine awake", "run", j.Record.ID, "error", err)
	case err != nil:
		slog.Warn("the machine may fall asleep while the run goes on", "run", j.Record.ID, "error", err)
	default:
		slog.Debug("the machine is kept awake", "run", j.Record.ID, "by", how)
		j.onClose(func() error { release(); return nil })
	}
}

// takeOrders lets a second terminal steer the run. Where it cannot, the run goes on without.
func (l assembly) takeOrders(j *Job) {
	var sink func() *view.Sink
	if j.Target != "" {
		sink = l.Remote.Sink
	}
	j.Orders = control.Job{
		Sink:  sink,
		Run:   j.Run,
		Title: l.Scenario.Title,
		Find:  j.Find,
		Broadcast: func(ctx context.Context, ids []string, text, who string) error {
			return j.Tell(ctx, ids, text, "", who)
		},
	}
	if l.Scratch != "" {
		return // nobody knows its name
	}
	stop, err := control.Serve(j.Orders, l.Data)
	if err != nil {
		slog.Warn("the run takes no orders from another terminal", "run", j.Record.ID, "error", err)
		return
	}
	j.onClose(stop)
}

// foresee is the forecast that is kept with a new run.
func (l assembly) foresee(ctx context.Context, j *Job, taking Crowd) *engine.Forecast {
	past := l.Past
	if past == nil {
		past = NewPast(l.Store)
	}
	f := l.Estimate().Forecast(past.Like(ctx, l.Estimate()), taking)
	if j.Written != nil { // that is known by now, and part of what the run takes
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

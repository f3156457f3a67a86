package wire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/throng-sim/throng/cmd/internal/awake"
	"github.com/throng-sim/throng/cmd/internal/control"
	"github.com/throng-sim/throng/engine"
)

// stayAwake keeps the machine awake while the run goes on, if it is to and can.
func (l Launch) stayAwake(j *Job) {
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
func (l Launch) takeOrders(j *Job) {
	stop, err := control.Serve(control.Job{
		Run:   steered{j.Run, &l.Settings}, // for the lead: j.Run, once *engine.Run is a control.Run; steered goes then
		Title: l.Scenario.Title,
		Find:  j.Find,
		Tell: func(ctx context.Context, ids []string, text, who string) error {
			return j.Tell(ctx, ids, text, "", who)
		},
	}, l.Data)
	if err != nil {
		slog.Warn("the run takes no orders from another terminal", "run", j.Record.ID, "error", err)
		return
	}
	j.onClose(stop)
}

// steered is a run of which nothing but the limit can be changed by name.
type steered struct {
	*engine.Run
	settings *engine.Settings
}

func (s steered) Settings() *engine.Settings { return s.settings }

func (s steered) Tunables() []engine.Tunable {
	return []engine.Tunable{{Name: "limit", Value: strconv.Itoa(s.Snapshot().Limit), Help: "sessions in flight, at most"}}
}

func (s steered) Set(name, value, who, why string) error {
	if name != "limit" {
		return &engine.FieldError{Field: name, Problem: "that cannot be changed while a run is in progress"}
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		return &engine.FieldError{Field: name, Problem: fmt.Sprintf("%q is not a whole number", value)}
	}
	return s.SetLimit(n, who, why)
}

func (steered) Retire(context.Context, int, string) error {
	return errors.New("nobody can be retired yet")
}

func (steered) Requeue(context.Context, int, string) error {
	return errors.New("nothing can be requeued yet")
}

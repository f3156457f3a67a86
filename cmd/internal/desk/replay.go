package desk

import (
	"context"
	"fmt"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/history"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/live"
)

// Past opens the history of a run, up to its last recorded moment.
func (d liveDesk) Past(ctx context.Context, run engine.RunID) (*live.Job, error) {
	if job := d.Job(); job != nil && job.ID() == run {
		return job, nil
	}
	record, err := d.store.Run(ctx, run)
	if err == nil {
		err = review.CheckHere(&record)
	}
	if err != nil {
		return nil, err
	}
	s, err := restore(&record)
	if err != nil {
		return nil, err
	}
	back := history.New(d.store, &record, s)
	shown, err := back.End(ctx)
	if err != nil {
		return nil, fmt.Errorf("the history of run %s: %w", run, err)
	}
	earlier, changes, err := d.history(ctx, run, time.Time{})
	if err != nil {
		return nil, err
	}
	agents, err := history.LoadAgents(ctx, d.store, run)
	if err != nil {
		return nil, fmt.Errorf("the history of run %s: %w", run, err)
	}
	return withAgents(&live.Job{
		Acted: s.Acted, Log: d.logOf(run), Run: over{run, shown}, Graph: s.Chain.Graph(), Title: record.DisplayName(), Origin: app.Origin(ctx, d.store, &record), Agents: back.Agents(), Settings: record.Settings, History: earlier, Changes: changes, Past: back,
		Broadcast: func(context.Context, []string, string) error { return engine.ErrEnded },
	}, agents), nil
}

// over is a run that this process does not execute: it rejects all orders.
type over struct {
	id    engine.RunID
	shown *engine.Snapshot
}

var _ live.Run = over{}

// ID returns the run's ID.
func (o over) ID() engine.RunID { return o.id }

// Snapshot returns the last state of the run.
func (o over) Snapshot() *engine.Snapshot { return o.shown }

// SetLimit is an order, like the methods below.

// Pause is an order.
func (over) Pause(string, string) error { return engine.ErrEnded }

// Resume is an order.
func (over) Resume(string) error { return engine.ErrEnded }

// Stop is an order.
func (over) Stop(string, string) error { return engine.ErrEnded }

// Checkpoint is an order.
func (over) Checkpoint(context.Context, string) error { return engine.ErrEnded }

// Apply is an order.
func (over) Apply([]engine.Assignment, string, string) ([]engine.Change, error) {
	return nil, engine.ErrEnded
}

// Tunables returns nil.
func (over) Tunables() []engine.Tunable { return nil }

// Retire is an order.
func (over) Retire(context.Context, int, string) error { return engine.ErrEnded }

// Requeue is an order.
func (over) Requeue(context.Context, int, string) error { return engine.ErrEnded }

// Watch does nothing.
func (over) Watch(int) {}

// Done returns a closed channel.
func (over) Done() <-chan struct{} { return closedForGood }

var closedForGood = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

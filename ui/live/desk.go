// Package live is the screen that shows the run in progress and takes the orders to it: a limit, pause, stop, a
// checkpoint.
package live

import (
	"context"

	"github.com/throng-sim/throng/engine"
)

// Run is the run in progress, or the last one. Its orders wait for the run's loop, a moment.
type Run interface {
	ID() engine.RunID
	Snapshot() *engine.Snapshot // does not wait
	SetLimit(n int, who, why string) error
	Pause(who, why string) error
	Resume(who string) error
	Stop(who, why string) error // a second Stop cuts what is in flight
	Checkpoint(ctx context.Context, reason string) error
	// Set changes a setting by its name; Tunables are those that it knows. Mistakes are *engine.FieldError.
	Set(name, value, who, why string) error
	Tunables() []engine.Tunable
	// Retire has an agent take part no more from the next cycle on, and ends its session in flight.
	Retire(ctx context.Context, agent int, who string) error
	// Requeue has a session of the open cycle that ended badly run again.
	Requeue(ctx context.Context, agent int, who string) error
	Done() <-chan struct{}
}

var _ Run = (*engine.Run)(nil)

// Job is a run with what the screen shows of it beside its snapshots.
type Job struct {
	Run
	Title    string
	Agents   int
	Settings engine.Settings
	History  []engine.MetricsRow // of earlier processes, oldest first
	Graph    engine.Graph        // of the chain
	Remote   string              // where results go too; "" nowhere
	// Tell puts a text into the inboxes of the agents with these ids, or of all without any, from the next cycle on. It
	// waits until that is durable.
	Tell func(ctx context.Context, ids []string, text string) error
}

// Desk is what the screen asks for.
type Desk interface {
	// Job is the run that this process works on, or the last one it did; nil before the first. It does not wait.
	Job() *Job
	// Export writes what a run gave into a new folder inside dir and returns its path.
	Export(ctx context.Context, run engine.RunID, dir string) (string, error)
	// RemoteState says how sending to the database is doing, in words; "" without one. It does not wait.
	RemoteState() (text string, healthy bool)
}

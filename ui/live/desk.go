// Package live is the screen that shows the run in progress and takes the orders to it: a limit, pause, stop, a
// checkpoint.
package live

import (
	"context"
	"time"

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
	// Apply changes some of the Tunables, all or none. Mistakes are *engine.FieldError, joined.
	Apply(wanted []engine.Assignment, who, why string) ([]engine.Change, error)
	Tunables() []engine.Tunable
	// Retire has an agent take part no more from the next cycle on, and ends its session in flight.
	Retire(ctx context.Context, agent int, who string) error
	// Requeue has a session of the open cycle that ended badly run again.
	Requeue(ctx context.Context, agent int, who string) error
	// Watch has the exchanges of an agent's sessions kept from now on; -1 ends that. It does not wait.
	Watch(agent int)
	Done() <-chan struct{}
}

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
	// Crowd is the state of every agent now; reuse may be an earlier one of this call, whose memory is used again. It does
	// not wait long.
	Crowd func(reuse *engine.Crowd) *engine.Crowd
	// Agent is what is known of an agent. It reads the store: never on the UI goroutine. Sessions: at most the newest 50.
	Agent func(ctx context.Context, index int) (*engine.AgentView, error)
	// Find returns the agents (ascending, at most so many) whose id contains the text, or that match an expression over the
	// persona such as `segment == "loyal" and age > 40`; mistakes are *engine.FieldError. Never on the UI goroutine.
	Find func(ctx context.Context, text string, most int) (found []int, more bool, err error)
	// Name is what an agent is called. It does not wait.
	Name func(index int) string
	Past Past // to open the history; nil cannot
}

// Past is what is kept of a run. Its methods read the store: never on the UI goroutine.
type Past interface {
	// Course is what the run did over wall time, in outline.
	Course(ctx context.Context) (*engine.Course, error)
	// Moment is what it was doing at a moment that is past.
	Moment(ctx context.Context, at time.Time) (*engine.Moment, error)
}

// Desk is what the screen asks for.
type Desk interface {
	// Job is the run that this process works on, or the last one it did; nil before the first. It does not wait.
	Job() *Job
	// Export writes what a run gave into a new folder inside dir and returns its path.
	Export(ctx context.Context, run engine.RunID, dir string) (string, error)
	// RemoteState says how sending to the database is doing, in words; "" without one. It does not wait.
	RemoteState() (text string, healthy bool)
	// Logged is how many errors this process has logged, and the last. It does not wait.
	Logged() (errors int, last string, at time.Time)
	// Past is a run to the history of: the one that is shown, or any other of the store. It reads that.
	Past(ctx context.Context, run engine.RunID) (*Job, error)
}

// Package control lets a second terminal of the same user steer the run in progress: over a Unix socket, which Windows
// has too, one JSON object a line each way.
package control

import (
	"context"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
)

// Run is what can be done to a run in progress.
type Run interface {
	ID() engine.RunID
	Snapshot() *engine.Snapshot // does not wait
	Settings() *engine.Settings // in force; they are not changed through it
	Tunables() []engine.Tunable
	Apply(wanted []engine.Assignment, who, why string) ([]engine.Change, error)
	Pause(who, why string) error
	Resume(who string) error
	Stop(who, why string) error // a second Stop cuts what is in flight
	Checkpoint(ctx context.Context, reason string) error
	Retire(ctx context.Context, agent int, who string) error
	Requeue(ctx context.Context, agent int, who string) error
}

// Job is a run in progress with what goes beside it.
type Job struct {
	Run
	Title    string
	Settings engine.Settings
	// Find returns the indexes of agents by their ids or indexes, in the order given.
	Find func(agents []string) ([]int, error)
	// Broadcast puts a message into the inboxes of the agents with these IDs, or of all agents if ids is empty. It waits
	// until the message is durable.
	Broadcast func(ctx context.Context, ids []string, text, who string) error
	// Sink says how the sending of results does; nil where they stay on this machine.
	Sink func() *view.Sink
}

// Package control lets a second terminal of the same user control the run in progress. It uses a Unix socket, also on
// Windows, with one JSON object per line in each direction.
package control

import (
	"context"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/engine/workers"
)

// Run has the operations on a run in progress.
type Run interface {
	ID() engine.RunID
	Snapshot() *engine.Snapshot // does not block
	Settings() *engine.Settings // the current settings; callers must not change them
	Tunables() []engine.Tunable
	Apply(wanted []engine.Assignment, who, why string) ([]engine.Change, error)
	Pause(who, why string) error
	Resume(who string) error
	Stop(who, why string) error // a second Stop cancels sessions in flight
	Checkpoint(ctx context.Context, reason string) error
	Retire(ctx context.Context, agent int, who string) error
	Requeue(ctx context.Context, agent int, who string) error
}

// Workers are the workers of the fleet that executes a run.
type Workers interface {
	Workers() []workers.State // sorted by name
	// Drain lets a worker end its sessions and take no others. Remove cuts its sessions, which run again elsewhere, and refuses the
	// worker from now on.
	Drain(name string) error
	Undrain(name string) error
	Remove(name string) error
	// Limit bounds the sessions in flight of a worker; 0 sets no bound.
	Limit(name string, most int) error
}

// Job is a run in progress with its title, settings and agents.
type Job struct {
	Run
	Title    string
	Origin   string // of a fork: the run that it continues
	Settings engine.Settings
	// Find returns the indexes of agents, given by IDs or indexes, in the order given.
	Find func(agents []string) ([]int, error)
	// Broadcast puts a message into the inboxes of the agents with these IDs, or of all agents if ids is empty. It waits
	// until the message is durable.
	Broadcast func(ctx context.Context, ids []string, text, who string) error
	// Sink returns the state of sending results; nil if results stay on this machine.
	Sink func() *view.Sink
	// Workers executes the sessions; nil if this process does.
	Workers Workers
}

// Package live is the screen that shows and controls the run in progress: limit, pause, stop, checkpoint.
package live

import (
	"context"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/fleet"
)

// Run is the run in progress, or the last one. Its orders wait briefly for the run's loop.
type Run interface {
	ID() engine.RunID
	Snapshot() *engine.Snapshot // does not wait
	Pause(who, why string) error
	Resume(who string) error
	Stop(who, why string) error // a second Stop cancels the sessions in flight
	Checkpoint(ctx context.Context, reason string) error
	// Apply changes some of the Tunables: all or none. Errors are *engine.FieldError, joined.
	Apply(wanted []engine.Assignment, who, why string) ([]engine.Change, error)
	Tunables() []engine.Tunable
	// Retire retires an agent from the next cycle and cancels its session in flight.
	Retire(ctx context.Context, agent int, who string) error
	// Requeue runs a failed session of the current cycle again.
	Requeue(ctx context.Context, agent int, who string) error
	// Watch starts recording the exchanges of an agent's sessions; -1 stops it. It does not wait.
	Watch(agent int)
	Done() <-chan struct{}
}

// Job is a run and what the screen shows in addition to its snapshots.
type Job struct {
	Run
	Title  string // of the run
	Origin string // of a fork: the run that it continues
	Agents int    // active ones
	// Population is the number of agents of the scenario, active or not; 0 if it is that of Agents.
	Population int
	Settings   engine.Settings
	History    []engine.MetricsRow // of earlier processes, oldest first
	Changes    []engine.ChangeRow  // of earlier processes, oldest first
	Graph      engine.Graph        // of the chain
	Remote     string              // the database that receives the results; "" if none
	// Broadcast puts a text into the inboxes of the agents with these ids, or of all agents if ids is empty, from the next cycle. It
	// returns when that is durable.
	Broadcast func(ctx context.Context, ids []string, text string) error
	// Crowd returns the current state of every agent. It may reuse the memory of an earlier result, and does not wait long.
	Crowd func(reuse *engine.Crowd) *engine.Crowd
	// Agent reads what is known of an agent, with at most its newest 50 sessions. It reads the store: do not call it on the UI goroutine.
	Agent func(ctx context.Context, index int) (*engine.AgentView, error)
	// Find returns at most max agents, ascending, whose id contains the text or that match an expression over the persona such as `segment
	// == "loyal" and age > 40`. Errors are *engine.FieldError. Do not call it on the UI goroutine.
	Find func(ctx context.Context, text string, most int) (found []int, more bool, err error)
	// Name returns an agent's name. It does not wait.
	Name func(index int) string
	// Acted is the event of a session that acted; "" if not set.
	Acted string
	// Transcript reads a page of what the agents said. It reads the store: do not call it on the UI goroutine.
	Transcript func(ctx context.Context, q view.TranscriptQuery) (view.Transcript, error)
	// Events reads a page of the events. It reads the store: do not call it on the UI goroutine.
	Events func(ctx context.Context, q view.EventQuery) (view.Events, error)
	// Log reads the newest lines that the log has about the run. It reads files: do not call it on the UI goroutine.
	Log  func(ctx context.Context) ([]LogLine, error)
	Past Past // the history; nil if it is not available
	// Fleet are the workers that execute the sessions; nil if this process does.
	Fleet fleet.Workers
}

// LogLine is a line of the log.
type LogLine struct {
	At    time.Time
	Level string // DEBUG, INFO, WARN or ERROR
	Text  string // the message
	More  string // its values
}

// Past is the recorded history of a run. Its methods read the store: do not call them on the UI goroutine.
type Past interface {
	// Timeline returns an outline of the run over wall time.
	Timeline(ctx context.Context) (*engine.RunTimeline, error)
	// Moment returns the state of the run at a past moment.
	Moment(ctx context.Context, at time.Time) (*engine.Moment, error)
}

// Desk is what the screen needs from the application.
type Desk interface {
	// Job returns the run of this process, or its last one; nil before the first. It does not wait.
	Job() *Job
	// ExportAs writes a run's results into a new folder inside dir, or a report or bundle into a new file there, and returns the path. The
	// format is one of the package export.
	ExportAs(ctx context.Context, run engine.RunID, dir, format string) (string, error)
	// RemoteState describes the state of sending to the database; "" without one. It does not wait.
	RemoteState() (text string, healthy bool)
	// Logged returns how many errors this process has logged, and the last. It does not wait.
	Logged() (errors int, last string, at time.Time)
	// Past opens the history of a run of the store.
	Past(ctx context.Context, run engine.RunID) (*Job, error)
}

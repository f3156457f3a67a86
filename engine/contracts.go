package engine

import (
	"context"
	"time"
)

// Program is what a run executes: engine/scenario makes one from a file.
type Program interface {
	// Session takes one session to its end and fills in its row, its Outcome at least. It returns soon after the
	// session's context ends; it asks for the Clock before it waits.
	// Many run at once, each with its own Session. A panic fails the session only.
	Session(s *Session)
}

// Journal is where a run writes what happened. Rows are written in the order in which calls return or, for one
// goroutine, are made. It is safe for concurrent use.
type Journal interface {
	// Append queues rows; it waits only while the queue is full, and no longer than until the journal is closed. The
	// rows may be reused when it returns.
	Append(rows ...Row)
	// Commit queues rows and waits until they, and all before them, are durable. Its errors are the context's, also
	// while the queue is full, and those of a journal that is closed: trouble with the disk is waited out.
	Commit(ctx context.Context, rows ...Row) error
	// Trouble delivers an error when rows cannot be written and nil when they can again. Only the newest is kept. One that
	// wraps ErrDamaged is the last: the journal is closed.
	Trouble() <-chan error
}

// Recording is what an earlier run was answered. A run that is given one is answered from it, and asks nobody. It is safe
// for concurrent use.
type Recording interface {
	// Run names the earlier run.
	Run() RunID
	// Session returns what was answered in the session of an agent in a cycle, in the last take; nothing if it has none.
	Session(ctx context.Context, cycle, agent int) (Prefix, error)
	// Shared returns the answers that belonged to the run; they must not be changed.
	Shared() map[SharedKey]Entry
}

// Discard is a journal that keeps nothing.
var Discard Journal = discard{}

type discard struct{}

func (discard) Append(...Row)                        {}
func (discard) Commit(context.Context, ...Row) error { return nil }
func (discard) Trouble() <-chan error                { return nil }

// Probe reads what a run cannot know of itself. A nil function is skipped. None may wait: the run's loop calls them.
type Probe struct {
	// Host samples the machine; called once a second, from one goroutine.
	Host func() HostMetrics
	// Connections counts those to remote databases, of the sink and of sql steps, or, without any, to the local store.
	Connections func() Connections
	// Writes returns how many rows were committed so far to these.
	Writes func() int64
	// Unsent returns how many rows wait for the remote database; -1 without one.
	Unsent func() int64
	// Stored returns how many bytes this process has taken in the store for the run so far.
	Stored func() int64
	// Writer returns for how long this process's writer of the journal was at work so far, Window the CPU time so far of
	// the goroutine that draws the window.
	Writer, Window func() time.Duration
}

// ConnectionsWarn is the share of a database server's connections from which on it is nearly full: idle ones are given
// back then.
const ConnectionsWarn = 50. / 60

// Connections are those to a database; -1 stands for what is not known.
type Connections struct {
	Own    int // of Throng
	Server int // of all clients of the server
	Max    int // as many as the server takes
	Pool   Pool

	// Of those that the server counts: Held are in use by Throng's statements and batches, Idle are Throng's and have
	// nothing to do. Both are 0 behind a pooler, whose connections they are, and where Server is not known.
	Held, Idle int
}

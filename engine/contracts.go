package engine

import (
	"context"
	"time"

	"github.com/throng-sim/throng/engine/workers"
)

// Program is what a run executes. Package engine/scenario creates one from a file.
type Program interface {
	// Session executes one session and fills in its row, at least the Outcome. It returns soon after the session's context
	// ends. It calls Clock before it waits. Many calls run concurrently, each with its own Session. A panic fails only the session.
	Session(s *Session)
}

// Journal stores the events of a run. Rows are written in the order in which calls return or, within one goroutine,
// are made. It is safe for concurrent use.
type Journal interface {
	// Append queues rows. It blocks only while the queue is full and the journal is open. The caller may reuse the rows when it returns.
	Append(rows ...Row)
	// Commit queues rows and waits until they and all earlier rows are durable. It returns an error if ctx ends, even
	// while the queue is full, or if the journal is closed. It retries disk errors.
	Commit(ctx context.Context, rows ...Row) error
	// Trouble delivers an error when rows cannot be written, and nil when writing works again. Only the latest value is
	// kept. An error that wraps ErrDamaged is the last one: the journal is closed.
	Trouble() <-chan error
}

// Recording contains the answers that an earlier run received. A run with a Recording replays it and calls no
// services. It is safe for concurrent use.
type Recording interface {
	// Run returns the ID of the earlier run.
	Run() RunID
	// Session returns the answers in the last take of an agent's session in a cycle; empty if there are none.
	Session(ctx context.Context, cycle, agent int) (Prefix, error)
	// Shared returns the answers that belonged to the run. They must not be changed.
	Shared() map[SharedKey]Entry
}

// Discard is a journal that discards all rows.
var Discard Journal = discard{}

type discard struct{}

func (discard) Append(...Row)                        {}
func (discard) Commit(context.Context, ...Row) error { return nil }
func (discard) Trouble() <-chan error                { return nil }

// Probe reads values that a run cannot measure itself. Nil functions are skipped. The run's loop calls the functions,
// so they must not block.
type Probe struct {
	// Host samples the machine. It is called once per second, from one goroutine.
	Host func() HostMetrics
	// Workers returns the workers of a fleet.
	Workers func() []workers.State
	// Connections counts connections to remote databases, from the result sender and SQL steps. If there are none, it
	// counts those to the local store.
	Connections func() Connections
	// Writes returns the number of rows committed to these databases so far.
	Writes func() int64
	// Unsent returns the number of rows not sent to the remote database yet; -1 without one.
	Unsent func() int64
	// Stored returns the number of bytes that this process has used in the store for the run so far.
	Stored func() int64
	// Writer returns how long the journal's writer has been active in this process. Window returns the CPU time of the
	// goroutine that draws the window.
	Writer, Window func() time.Duration
}

// ConnectionsWarn is the used fraction of a database server's connections from which idle ones are released.
const ConnectionsWarn = 50. / 60

// Connections counts connections to a database; -1 means unknown.
type Connections struct {
	Own    int // of Throng
	Server int // of all clients of the server
	Max    int // maximum of the server
	Pool   Pool

	// Parts of the server's count: InUse are used by Throng's statements and batches, Idle are Throng's unused connections.
	// Both are 0 if Server is unknown, and behind a pooler, which owns the connections.
	InUse, Idle int
}

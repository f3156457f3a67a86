package engine

import (
	"cmp"
	"context"
	"time"

	"github.com/throng-sim/throng/engine/internal/clock"
)

// Host is what a session needs from its run. The run may be in another process. A Host is safe for concurrent use.
type Host interface {
	RunHost
	JournalHost
	BudgetHost
	SharedHost
	TraceHost
}

// RunHost describes the run.
type RunHost interface {
	// Run returns the identity of the run.
	Run() HostRun
	// Context ends with [ErrCut] when the run is cut.
	Context() context.Context
	// Settings returns the current settings. They must not be changed.
	Settings() *Settings
	// Injected returns the messages injected by hand, in order of cycle. They must not be changed.
	Injected() []Injection
	// Recorded returns the recorded answers of an agent's session in a cycle, if the run replays a recording.
	Recorded(ctx context.Context, cycle, agent int) (Prefix, error)
	// Sleep waits for d. If ctx ends first, Sleep returns its cause.
	Sleep(ctx context.Context, d time.Duration) error
}

// HostRun identifies a run and the runs that it refers to.
type HostRun struct {
	ID        RunID
	Recording RunID   // whose answers replace the services; "" if services are called
	Lineage   []RunID // the runs that it was forked from
}

// Identity returns the run whose ID services see. In a replay that is the recorded run, whose requests are repeated.
func (r HostRun) Identity() RunID { return cmp.Or(r.Recording, r.ID) }

// JournalHost journals a session in flight. Append and Commit are the methods of [Journal].
type JournalHost interface {
	Append(rows ...Row)
	Commit(ctx context.Context, rows ...Row) error
	// Keeps reports whether the journal stores rows.
	Keeps() bool
	// Doubt records that the run is inexact from a session on. It reports whether no earlier session is recorded.
	Doubt(since *Inexact) bool
}

// BudgetHost limits what the run spends.
type BudgetHost interface {
	// TryClaim claims an amount if that is possible without waiting.
	TryClaim(a Outlay) bool
	// Claim claims an amount. It waits while the claims of others leave too little. Its error is an [ErrCut] if the budget
	// is used up, or the cause of ctx.
	Claim(ctx context.Context, a Outlay) error
	// Settle releases a claim and counts what was spent.
	Settle(claimed, spent Outlay)
}

// SharedHost stores the answers that all sessions of a run share.
type SharedHost interface {
	// Recall returns an answer that the run already has. It must not be changed.
	Recall(key SharedKey) (Entry, bool)
	// AwaitShared waits while another process of the run requests the answer, and returns the answer if there is one then. Otherwise the
	// caller may request it, and other processes wait until it calls release. Its error is an [ErrCut], or the cause of ctx.
	AwaitShared(ctx context.Context, key SharedKey) (e Entry, known bool, release func(), err error)
	// TakeIntent returns, once, the intent that an earlier process left without an answer.
	TakeIntent(key SharedKey, path string) (Entry, bool)
	// SettleShared journals the outcome of a request, waits until that is durable, and makes the answer available to
	// Recall. spent is the total spending of the request. An error means that nothing was stored.
	SettleShared(row SharedRow, spent Outlay) error
}

// TraceHost stores exchanges with services for display.
type TraceHost interface {
	// Traced reports whether an exchange of an agent should be traced. failed means that the exchange failed.
	Traced(agent int, failed bool) bool
	// Tracing returns whether all exchanges should be traced, and the agent whose exchanges should be; -1 means none.
	Tracing() (all bool, agent int)
	// Trace takes an exchange. It does not block.
	Trace(e Exchange, failed bool)
}

// Slot is the slot of a session in flight in the process that executes it.
type Slot interface {
	// Start starts the session's clock. It is called before the session first waits.
	Start() *clock.Clock
	// Show updates the displayed state of the session.
	Show(change func(d *Activity))
	// Trail returns the session's timeline, or nil if it is not recorded.
	Trail() *Trail
	// Memory returns the session's claims on the memory budget of the process.
	Memory() MemoryClaims
	Park() (back func()) // see [Park]
	Idle() bool          // see [Idle]
}

// MemoryUse is how long a session claims memory.
type MemoryUse uint8

const (
	// AnswerMemory is for the answer of a step, until Settle.
	AnswerMemory MemoryUse = iota
	// SessionMemory lasts until the session ends.
	SessionMemory
	// AgentMemory is for what the agent remembers. It stays claimed if the session's outcome commits.
	AgentMemory
)

// MemoryClaims are the claims of one session on a memory budget. Paths are paths of steps.
type MemoryClaims interface {
	// Take claims n bytes if they are available.
	Take(path string, n int64, use MemoryUse) bool
	// Wait claims n bytes and waits until they are available. It returns an error if they never will be, or the cause of ctx.
	Wait(ctx context.Context, path string, n int64, use MemoryUse) error
	// Force claims n bytes for an answer, even if they are not available.
	Force(path string, n int64)
	// Return releases part of what an answer holds.
	Return(path string, n int64)
	// Settle ends a step's claim and keeps n bytes of it. It returns how many bytes must still be claimed.
	Settle(path string, n int64) (more int64)
	// Block records that the session waits for a slot that other sessions hold, or, with false, that it no longer does.
	Block(waits bool)
	// Holds reports whether the session holds any memory.
	Holds() bool
}

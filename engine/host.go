package engine

import (
	"context"
	"time"

	"github.com/throng-sim/throng/engine/internal/clock"
)

// Host is what a session needs of its run. The run may be in another process than the session. A Host is safe for
// concurrent use.
type Host interface {
	RunHost
	JournalHost
	BudgetHost
	SharedHost
	TraceHost
}

// RunHost describes the run.
type RunHost interface {
	// Run names the run.
	Run() HostRun
	// Context ends with [ErrCut] when the run is cut.
	Context() context.Context
	// Settings returns the settings in force; they must not be changed.
	Settings() *Settings
	// Injected returns the messages injected by hand, in the order of their cycles; they must not be changed.
	Injected() []Injection
	// Recorded returns what was answered in the session of an agent in a cycle, if the run is answered from a recording.
	Recorded(ctx context.Context, cycle, agent int) (Prefix, error)
	// Sleep waits for d. It returns the context's cause if that ends first.
	Sleep(ctx context.Context, d time.Duration) error
}

// HostRun names a run and those whose names it uses.
type HostRun struct {
	ID        RunID
	Recording RunID   // that answers in place of the services; "" if services are called
	Lineage   []RunID // the runs that it was forked from
}

// JournalHost journals what a session does while it is in flight. Append and Commit are those of [Journal].
type JournalHost interface {
	Append(rows ...Row)
	Commit(ctx context.Context, rows ...Row) error
	// Keeps reports whether the journal keeps rows at all.
	Keeps() bool
	// Doubt notes that the run is inexact from a session on. It reports whether no earlier session is known.
	Doubt(since *Inexact) bool
}

// BudgetHost bounds what the run spends.
type BudgetHost interface {
	// TryClaim claims an amount if nothing has to wait for that.
	TryClaim(a Outlay) bool
	// Claim claims an amount and waits while others hold so much that it does not fit. Its error is an [ErrCut] if the
	// budget is used up, or the cause of ctx.
	Claim(ctx context.Context, a Outlay) error
	// Settle returns a claim and counts what was spent of it.
	Settle(claimed, spent Outlay)
}

// SharedHost keeps the answers that all sessions of a run share.
type SharedHost interface {
	// Recall returns an answer that the run has; it must not be changed.
	Recall(key SharedKey) (Entry, bool)
	// TakeIntent returns, once, the intent that an earlier process left without an answer.
	TakeIntent(key SharedKey, path string) (Entry, bool)
	// SettleShared journals how asking for an answer ended, waits until that is durable and has Recall find the answer.
	// spent is all that the asking took. An error says that nothing was kept.
	SettleShared(row SharedRow, spent Outlay) error
}

// TraceHost keeps exchanges with services for people.
type TraceHost interface {
	// Traced reports whether an exchange of an agent is wanted; failed says that it went wrong.
	Traced(agent int, failed bool) bool
	// Trace takes an exchange. It does not wait.
	Trace(e Exchange, failed bool)
}

// Slot is the place that a session in flight has in the process that executes it.
type Slot interface {
	// Start starts the session's clock, before it waits for the first time.
	Start() *clock.Clock
	// Show changes what is shown of the session.
	Show(change func(d *Doing))
	// Trail returns where the session's times are noted; nil if nobody wants them.
	Trail() *Trail
	// Memory returns the session's claims on the memory budget of the process.
	Memory() MemoryClaims
}

// MemoryUse says for how long a session claims memory.
type MemoryUse uint8

const (
	// AnswerMemory is for the answer of a step, until Settle.
	AnswerMemory MemoryUse = iota
	// SessionMemory is until the session ends.
	SessionMemory
	// AgentMemory is what the agent is to remember: it stays claimed if the session's outcome commits.
	AgentMemory
)

// MemoryClaims are what one session claims of a memory budget. Paths are those of steps.
type MemoryClaims interface {
	// Take claims n bytes if they are free.
	Take(path string, n int64, use MemoryUse) bool
	// Wait claims n bytes and waits until they are free. Its errors are why they cannot be had, and the cause of ctx.
	Wait(ctx context.Context, path string, n int64, use MemoryUse) error
	// Force claims n bytes for an answer, free or not.
	Force(path string, n int64)
	// Return gives back a part of what an answer holds.
	Return(path string, n int64)
	// Settle has a step that ended keep n bytes of what its answer held. It returns how many are still to be claimed.
	Settle(path string, n int64) (more int64)
	// Block notes that the session waits for a place that other sessions have, or, with false, no longer does.
	Block(waits bool)
	// Holds reports whether the session holds anything.
	Holds() bool
}

package engine

import (
	"strconv"
	"time"
)

// Snapshot is an immutable picture of a run, about ten a second.
type Snapshot struct {
	Run     RunID
	At      time.Time
	Phase   Phase
	Reason  string // why it is paused, draining or ended
	Ending  Ending
	Cycle   int // the open one, from 0
	Cycles  int // 0 when the run ends by the clock
	SimTime time.Time

	Limit    int // as set
	InFlight int
	// Floor and Ceiling bound what Governor makes of the limit. Steer is what was said last of a move, at Steered, and SteerBy
	// whose word that was; Binds is which governor holds the limit now.
	Floor, Ceiling int
	Governor       string
	Steer, SteerBy string
	Binds          string
	Steered        time.Time
	Breaker        BreakerState // of the run
	BreakerWhy     string
	NextProbe      time.Time
	Stall          *Stall
	Services       []ServiceState
	Budget         BudgetState
	Oldest         []Doing // sessions in flight, the oldest first, some
	// Sessions of the open cycle.
	CycleEnded, CycleTotal int64
	CycleFailed            int64         // or timed out
	CycleTook              time.Duration // so far, without waits for the schedule and pauses
	CycleWork              CycleWork     // so far
	LastCycle              ClosedCycle   // of this process; zero before the first
	// Sessions of the run, earlier processes included; Total is 0 when it is not known.
	Ended, Total int64
	// Sessions that this process began, and that were cut. One that was requeued counts once.
	Begun, Cut int64

	Outcomes map[Outcome]int64
	Errors   []ErrorNote // classes that occurred, most frequent first
	Events   int64
	Latency  Quantiles // of sessions, over the run
	// Durations spread the sessions of Latency by how long they took, as of the newest second.
	Durations Spread
	// Requests and Usage are of everything that left, Retries and RateLimited of the sessions that ended.
	Requests    int64
	Retries     int64
	RateLimited int64
	Labels      map[Label]int64
	Usage       Usage     // of models
	Queue       Quantiles // waits for the gate
	Held        Quantiles // of sessions: what rate limiters, bounds of services and their waits throttled
	Waits       Waits     // the sums of what Held consists of
	// QueueSum and HeldSum are the sums of Queue and Held.
	QueueSum, HeldSum time.Duration
	Flow              Flow
	Speedup           float64 // over the run; NaN where it is not known
	// Steps are the figures of the chain's steps, ascending by path, as of the newest second.
	Steps []StepFigures

	PerSecond float64       // sessions, over the last seconds
	Elapsed   time.Duration // all processes
	// WritesPerSec is how many rows this process committed per second of its time; NaN where that is not counted.
	WritesPerSec float64
	Remaining    time.Duration // estimate; negative when there is none
	Lag          time.Duration
	LagWhy       string // in words: why the schedule lies later than planned; "" is that it does not
	Inexact      *Inexact

	Checkpoints    int
	LastCheckpoint time.Time // made, or found to describe the run still; zero before the first of this process
	// CheckpointTook is from the order of the newest that is durable until it was; sessions went on meanwhile. 0 is not
	// known.
	CheckpointTook time.Duration

	Metrics MetricsRow // the newest second
	// UnsentSince is since when there were rows at all times that the remote database did not have; zero while there are none.
	UnsentSince time.Time
	// Overhead is of the run, as of the newest second; Late is the worst of it.
	Overhead Overhead
	Late     Late
	// Changes are the newest that this process made, oldest first.
	Changes []ChangeRow
	// Emitted are the newest events of sessions that ended in this process, oldest first, as of the newest second.
	Emitted []Emitted
}

// ClosedCycle is what came of a cycle.
type ClosedCycle struct {
	Took     time.Duration // without waits for the schedule and pauses
	Sessions int64
	Failed   int64 // or timed out
	Work     CycleWork
}

// ErrorNote is a class of errors with its last occurrence, which is not known where that was before a resume.
type ErrorNote struct {
	Class   Class  `json:"class"`
	Count   int64  `json:"count"`
	Cycle   int    `json:"cycle"`
	Agent   int    `json:"agent"`
	Name    string `json:"name,omitempty"` // of the agent; "" if unknown
	Path    string `json:"step,omitempty"`
	Message string `json:"message,omitempty"`
}

// Who is the agent for people.
func (n *ErrorNote) Who() string {
	if n.Name == "" {
		return strconv.Itoa(n.Agent)
	}
	return n.Name
}

// Known reports whether the last occurrence is known.
func (n *ErrorNote) Known() bool { return n.Path != "" || n.Message != "" }

// Add counts a failed session and keeps its message.
func (n *ErrorNote) Add(r *SessionRow) {
	*n = ErrorNote{Class: r.Class, Count: n.Count + 1, Cycle: r.Cycle, Agent: r.Agent, Path: r.Path, Message: r.Error}
}

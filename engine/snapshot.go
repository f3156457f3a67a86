package engine

import (
	"strconv"
	"time"
)

// Snapshot is an immutable view of a run. About ten are published per second.
type Snapshot struct {
	Run    RunID
	At     time.Time
	Phase  Phase
	Reason string // why the run is paused, stopping or ended
	Ending Ending

	CycleState
	LimitState
	SessionCounts
	// RequestCounts covers all processes. Requests and Usage include everything that was sent, the others only sessions that
	// ended.
	RequestCounts
	SessionTimes
	Pace
	CheckpointState

	Services []ServiceState
	Budget   BudgetState
	Oldest   []Activity // some of the sessions in flight, oldest first
	// Steps are the figures of the chain's steps, sorted by path, as of the latest second.
	Steps    []StepFigures
	Inexact  *Inexact
	Criteria []Criterion // of the scenario

	Metrics MetricsRow   // the latest second
	Early   []MetricsRow // the fine rows of this process, oldest first
	// UnsentSince is the start of the period in which the remote database has constantly lacked rows; zero if it has all
	// rows.
	UnsentSince time.Time
	// Overhead is for the run, as of the latest second. Late is its maximum.
	Overhead Overhead
	Late     Late
	// Changes are the latest changes by this process, oldest first.
	Changes []ChangeRow
	// Emitted are the latest events of sessions that ended in this process, oldest first, as of the latest second.
	Emitted []Emitted
}

// CycleState is the open cycle of a run.
type CycleState struct {
	Cycle   int // from 0
	Cycles  int // of the run; 0 if it ends by the clock
	SimTime time.Time
	// Sessions of the open cycle.
	CycleEnded, CycleTotal int64
	CycleFailed            int64         // or timed out
	CycleTook              time.Duration // so far, without waits for the schedule and pauses
	CycleWork              CycleWork     // so far
	LastCycle              ClosedCycle   // of this process; zero before the first
}

// LimitState is the concurrency limit of a run, what moves it, and what stops sessions from starting.
type LimitState struct {
	Limit    int // as set
	InFlight int
	// Floor and Ceiling bound the limit that Governor sets. Steer describes the last move, at Steered, by governor
	// SteerBy. Binds is the governor that currently restricts the limit.
	Floor, Ceiling int
	Governor       string
	Steer, SteerBy string
	Binds          string
	Steered        time.Time
	Breaker        BreakerState // of the run
	BreakerWhy     string
	NextProbe      time.Time
	Stall          *Stall
}

// SessionCounts counts the sessions of a run, including earlier processes.
type SessionCounts struct {
	Ended, Total int64 // Total is 0 if unknown
	Kept         int64 // that a fork took over from its parent; not part of Ended and Total
	// Sessions that this process began, and those that were cut. A requeued session counts once.
	Begun, Cut int64
	Outcomes   map[Outcome]int64
	Errors     []ErrorNote // classes that occurred, most frequent first
	Events     int64
	Survey     bool // copies of the agents of another run answer questions
}

// SessionTimes is how long the sessions of a run took.
type SessionTimes struct {
	Latency Quantiles // over the run
	// Active covers the sessions of this process that sent a request or acted.
	Active Quantiles
	// Durations is the distribution of the sessions of Latency by duration, as of the latest second.
	Durations Spread
	Queue     Quantiles // time queued
	Throttled Quantiles // time throttled
	// QueueSum and ThrottledSum are the sums of Queue and Throttled.
	QueueSum, ThrottledSum time.Duration
	Flow                   Flow
	Speedup                float64 // over the run; NaN if unknown
}

// Pace is the speed of a run and its schedule.
type Pace struct {
	PerSecond float64       // sessions, over the last seconds
	Elapsed   time.Duration // all processes
	// WritesPerSec is the number of rows that this process committed per second; NaN if not counted.
	WritesPerSec float64
	Remaining    time.Duration // estimate; negative if unknown
	Lag          time.Duration
	LagWhy       string // why the schedule is later than planned; "" if it is not
	Overdue      int64  // sessions whose intended start has passed
	Arrivals     string // how the sessions of a cycle arrive; "" if all start together
}

// CheckpointState describes the checkpoints of a run.
type CheckpointState struct {
	Checkpoints    int
	LastCheckpoint time.Time // made, or confirmed as still current; zero before the first of this process
	// CheckpointTook is the time from the order to the durability of the newest checkpoint. Sessions continued in the
	// meantime. 0 if unknown.
	CheckpointTook time.Duration
}

// ClosedCycle summarizes a completed cycle.
type ClosedCycle struct {
	Took     time.Duration // without waits for the schedule and pauses
	Sessions int64
	Failed   int64 // or timed out
	Work     CycleWork
}

// ErrorNote is an error class with its last occurrence, which is unknown if it was before a resume.
type ErrorNote struct {
	Class   Class  `json:"class"`
	Count   int64  `json:"count"`
	Cycle   int    `json:"cycle"`
	Agent   int    `json:"agent"`
	Name    string `json:"name,omitempty"` // of the agent; "" if unknown
	Path    string `json:"step,omitempty"`
	Message string `json:"message,omitempty"`
}

// AgentName formats the agent for display: its name, or its index.
func (n *ErrorNote) AgentName() string {
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

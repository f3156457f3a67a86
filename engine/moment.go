package engine

import (
	"strconv"
	"time"
)

// RunTimeline is the outline of a run over wall time, as a store keeps it. All lists are in order of time.
type RunTimeline struct {
	Stretches   []Stretch // when a process executed the run; in between, Throng was not running
	Barriers    []BarrierRow
	Changes     []ChangeRow
	Checkpoints []CheckpointRecord
}

// Stretch is a range of wall time.
type Stretch struct{ From, To time.Time }

// Cycle returns the cycle that is open at a moment: the first, or the one after the last barrier.
func (c *RunTimeline) Cycle(first int, at time.Time) int {
	for i := range c.Barriers {
		if c.Barriers[i].At.After(at) {
			break
		}
		first = c.Barriers[i].Cycle + 1
	}
	return first
}

// Idle reports whether Throng was not running the run at a moment.
func (c *RunTimeline) Idle(at time.Time) bool {
	for _, s := range c.Stretches {
		if !at.Before(s.From) && !at.After(s.To) {
			return false
		}
	}
	return true
}

// Elapsed returns how long processes have executed the run up to a moment.
func (c *RunTimeline) Elapsed(at time.Time) (sum time.Duration) {
	for _, s := range c.Stretches {
		if at.Before(s.From) {
			break
		}
		to := s.To
		if at.Before(to) {
			to = at
		}
		sum += to.Sub(s.From)
	}
	return sum
}

// Moment is what a store knows about a run at an earlier moment.
type Moment struct {
	// Snapshot is the run at that moment. Its Outcomes and Emitted cover only the open cycle, and its Latency only that
	// second. Requests, Steps and Services are missing because the store does not keep them for single moments. An error
	// whose last message is from an earlier cycle has no class.
	Snapshot *Snapshot
	Recent   []MetricsRow // of the preceding minute, oldest first
	Crowd    *Crowd       // without data on waits, throttled sessions count as in flight
	Idle     bool         // Throng was not running at that moment
}

// Emitted is an event that a session emitted, as reported during the run. At is when the session ended; events count from then on.
type Emitted struct {
	At    time.Time
	Cycle int
	Agent int
	Name  string // of the agent; "" if unknown
	Path  string // of the step
	Event string
}

// AgentName formats the agent for display: its name, or its index.
func (e *Emitted) AgentName() string {
	if e.Name == "" {
		return strconv.Itoa(e.Agent)
	}
	return e.Name
}

package engine

import (
	"strconv"
	"time"
)

// Course is what a run did over wall time, in outline, as a store keeps it. All is in the order of time.
type Course struct {
	Stretches   []Stretch // in which a process worked on the run; between them nobody did
	Barriers    []BarrierRow
	Changes     []ChangeRow
	Checkpoints []CheckpointRecord
}

// Stretch is a piece of wall time.
type Stretch struct{ From, To time.Time }

// Cycle is the cycle that is open at a moment: the first, or the one after the last barrier.
func (c *Course) Cycle(first int, at time.Time) int {
	for i := range c.Barriers {
		if c.Barriers[i].At.After(at) {
			break
		}
		first = c.Barriers[i].Cycle + 1
	}
	return first
}

// Idle reports whether nobody works on the run at a moment.
func (c *Course) Idle(at time.Time) bool {
	for _, s := range c.Stretches {
		if !at.Before(s.From) && !at.After(s.To) {
			return false
		}
	}
	return true
}

// Elapsed is for how long processes have worked on the run up to a moment.
func (c *Course) Elapsed(at time.Time) (sum time.Duration) {
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

// Moment is what a store knows of a run at a moment that is past.
type Moment struct {
	// Snapshot is the run as of then. Its Outcomes and Emitted are of the open cycle only, its Latency is that of the
	// second, and what is not kept of single moments is missing: Requests, Steps, Services; the class of an error whose
	// last message is of an earlier cycle has none.
	Snapshot *Snapshot
	Recent   []MetricsRow // of the minute before, oldest first
	Crowd    *Crowd       // where nothing tells them apart, sessions that were throttled are in flight
	Idle     bool         // nobody worked on the run then
}

// Emitted is an event that a session emitted, as it is told while the run goes on. At is when the session ended: events
// count from then on.
type Emitted struct {
	At    time.Time
	Cycle int
	Agent int
	Name  string // of the agent; "" where it is not known
	Path  string // of the step
	Event string
}

// Who is the agent for people.
func (e *Emitted) Who() string {
	if e.Name == "" {
		return strconv.Itoa(e.Agent)
	}
	return e.Name
}

package engine

import (
	"strings"
	"time"
)

// Gate is what can hold a request back while the clocks of its step stand still.
type Gate uint8

// The gates: a place among the calls of a service, or a connection of its pool; a place among the calls of models over
// all services; the turn at the service's rate; a 429 of the service, or its quota that is gone; the wait before another
// attempt; the sign-in of another step of the agent; the journal, until an intent is durable; the open breaker of the
// service; the run's budget, until others have given back what they did not need; a file descriptor of this process; the
// memory that answers may take.
const (
	PlaceGate Gate = iota
	ModelGate
	RateGate
	RefusalGate
	RetryGate
	TokenGate
	JournalGate
	BreakerGate
	BudgetGate
	FilesGate
	MemoryGate
	numGates
)

var gateNames = [numGates]string{"place", "models", "rate", "refusal", "retry", "token", "journal", "breaker", "budget", "files", "memory"}

func (g Gate) String() string { return gateNames[g] }

// Gates are all of them.
func Gates() []Gate {
	all := make([]Gate, numGates)
	for i := range all {
		all[i] = Gate(i)
	}
	return all
}

// Waits are the times that gates held requests back; the index is the Gate.
type Waits [numGates]time.Duration

// Add adds other to w; nil adds nothing.
func (w *Waits) Add(other *Waits) {
	if other == nil {
		return
	}
	for i, d := range other {
		w[i] += d
	}
}

// Hold counts a wait at a gate.
func (r *StepRecord) Hold(g Gate, d time.Duration) {
	r.Held += d
	if r.Waits == nil {
		r.Waits = new(Waits)
	}
	r.Waits[g] += d
}

// Take counts a request of the step: how often it was tried and what it took.
func (r *StepRecord) Take(request *StepRecord) {
	r.Attempts += request.Attempts
	if r.Statuses == nil {
		r.Statuses = request.Statuses
	} else {
		r.Statuses = append(r.Statuses, request.Statuses...)
	}
	r.Label = max(r.Label, request.Label)
	r.Held += request.Held
	r.Service += request.Service
	if r.Waits == nil {
		r.Waits = request.Waits
	} else {
		r.Waits.Add(request.Waits)
	}
	switch {
	case request.Usage == nil:
	case r.Usage == nil:
		usage := *request.Usage
		r.Usage = &usage
	default:
		r.Usage.Add(request.Usage)
	}
}

// FormatWaits says in words which gates held requests back for how long; "" is none.
func FormatWaits(w *Waits) string {
	var parts []string
	for g, d := range w {
		if d > 0 {
			parts = append(parts, gateWords[g]+" "+FormatDuration(d))
		}
	}
	return strings.Join(parts, ", ")
}

var gateWords = [numGates]string{
	"for a place among a service's calls", "among all calls of models", "for the rate", "after a 429", "before another attempt",
	"for a sign-in", "for the journal", "for the breaker of a service", "for the budget", "for open files", "for memory",
}

package engine

import (
	"strings"
	"time"
)

// Gate is a reason why a request is throttled. The clocks of its step are paused meanwhile.
type Gate uint8

// The reasons: the limit on concurrent calls or connections of a service; the limit on model calls over all services;
// the rate limiter of the service; a 429 or an exhausted quota of the service; the wait before a retry; a sign-in by
// another step of the agent; the journal, until an intent is durable; the open circuit breaker of the service; the
// run's budget, until other requests release their claims; a file descriptor of this process; memory for answers.
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

// Gates returns all values of the type.
func Gates() []Gate {
	all := make([]Gate, numGates)
	for i := range all {
		all[i] = Gate(i)
	}
	return all
}

// Waits holds the time that requests were throttled; the index is the [Gate].
type Waits [numGates]time.Duration

// Add adds other to w. other may be nil.
func (w *Waits) Add(other *Waits) {
	if other == nil {
		return
	}
	for i, d := range other {
		w[i] += d
	}
}

// Hold records a throttled wait and its cause.
func (r *StepRecord) Hold(g Gate, d time.Duration) {
	r.Held += d
	if r.Waits == nil {
		r.Waits = new(Waits)
	}
	r.Waits[g] += d
}

// Take adds a request to the step: its attempts and what it used.
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

// FormatWaits lists the causes of waiting with their times for display, or returns "" if there are none.
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

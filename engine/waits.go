package engine

import "time"

// ThrottleCause is the reason why a request is throttled. The clocks of its step are paused meanwhile.
type ThrottleCause uint8

// The reasons: the limit on concurrent calls or connections of a service; the limit on model calls over all services;
// the rate limiter of the service; a 429 or an exhausted quota of the service; the wait before a retry; a sign-in by
// another step of the agent; the journal, until an intent is durable; the open circuit breaker of the service; the
// run's budget, until other requests release their claims; a file descriptor of this process; memory for answers; the
// batch of model calls that holds the request.
const (
	ThrottledBySlots ThrottleCause = iota
	ThrottledByModels
	ThrottledByRate
	ThrottledByRefusal
	ThrottledByRetry
	ThrottledByToken
	ThrottledByJournal
	ThrottledByBreaker
	ThrottledByBudget
	ThrottledByFiles
	ThrottledByMemory
	ThrottledByBatch
	numThrottleCauses
)

var throttleNames = [numThrottleCauses]string{"slots", "models", "rate", "refusal", "retry", "token", "journal", "breaker", "budget", "files", "memory", "batch"}

func (c ThrottleCause) String() string { return throttleNames[c] }

// ThrottleCauses returns all values of the type.
func ThrottleCauses() []ThrottleCause {
	all := make([]ThrottleCause, numThrottleCauses)
	for i := range all {
		all[i] = ThrottleCause(i)
	}
	return all
}

// Waits holds the time that requests were throttled; the index is the [ThrottleCause].
type Waits [numThrottleCauses]time.Duration

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
func (r *StepRecord) Hold(g ThrottleCause, d time.Duration) {
	r.Throttled += d
	if r.Waits == nil {
		r.Waits = new(Waits)
	}
	r.Waits[g] += d
}

// Take adds a request to the step: its attempts and what it used.
func (r *StepRecord) Take(request *StepRecord) {
	r.Attempts, r.Redirects, r.Rounds, r.Size = r.Attempts+request.Attempts, r.Redirects+request.Redirects, r.Rounds+request.Rounds, r.Size+request.Size
	if r.Statuses == nil {
		r.Statuses = request.Statuses
	} else {
		r.Statuses = append(r.Statuses, request.Statuses...)
	}
	r.Label = max(r.Label, request.Label)
	r.Throttled += request.Throttled
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

// Text returns the cause for display.
func (c ThrottleCause) Text() string { return throttleTexts[c] }

var throttleTexts = [numThrottleCauses]string{
	"slot of the service", "limit on model calls", "rate limiter", "429", "retry delay", "sign-in", "journal", "circuit breaker", "budget", "open files",
	"memory", "batch of model calls",
}

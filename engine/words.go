package engine

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/throng-sim/throng/engine/arrivals"
)

// Outcome is how a session ended. The zero value is a session that has not ended.
type Outcome uint8

// The outcomes of a session. Cut is never stored: a cut session runs again when the run is resumed.
const (
	Unfinished Outcome = iota
	OK
	Stopped
	Failed
	TimedOut
	Canceled
	Cut
)

var outcomeNames = [...]string{"unfinished", "ok", "stopped", "failed", "timeout", "canceled", "cut"}

func (o Outcome) String() string { return outcomeNames[o] }

// Commits reports whether a session with this outcome keeps its memory writes and messages.
func (o Outcome) Commits() bool { return o == OK || o == Stopped }

// StepStatus is how a step ended.
type StepStatus uint8

// The statuses of a step.
const (
	StepOK StepStatus = iota
	StepFailed
	StepTimedOut
	StepSkipped
	StepCanceled
)

var stepStatusNames = [...]string{"ok", "failed", "timeout", "skipped", "canceled"}

func (s StepStatus) String() string { return stepStatusNames[s] }

// Class groups errors by how a person would respond. The zero value means no error.
type Class uint8

// The classes of errors.
const (
	NoError Class = iota
	RateLimited
	Timeout
	ServerError
	ClientError
	Network
	BadAnswer
	Contract // the answer does not fit the OpenAPI document
	Script
	LoopLimit
	Panic
	ConfigError
	NumClasses
)

var classNames = [...]string{
	"", "rate_limited", "timeout", "server_error", "client_error", "network", "bad_answer", "contract", "script", "loop_limit", "panic", "config",
}

func (c Class) String() string { return classNames[c] }

// MarshalText implements [encoding.TextMarshaler].
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (c *Class) UnmarshalText(text []byte) error {
	i := slices.Index(classNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("unknown class of errors %q", text)
	}
	*c = Class(i)
	return nil
}

// Classes returns all classes of errors in display order.
func Classes() []Class {
	all := make([]Class, 0, NumClasses-1)
	for c := NoError + 1; c < NumClasses; c++ {
		all = append(all, c)
	}
	return all
}

// Label is the origin of a service step's answer. Labels appear in timings, never in results.
type Label uint8

// The labels of a step. If several apply, the last one is used.
const (
	// Fresh steps were requested for the first time.
	Fresh Label = iota
	// Replayed steps were taken from the journal.
	Replayed
	// Resent steps were sent again after a crash or a lost answer, and were certainly executed once.
	Resent
	// Confirmed steps had already been executed, as the service confirmed.
	Confirmed
	// Recorded steps were taken from the recording of another run.
	Recorded
	// NotRepeated steps may have been executed. They were not sent again because the scenario forbids it.
	NotRepeated
	// Unconfirmed steps were sent again, and no answer proved that they were executed only once.
	Unconfirmed
	numLabels
)

var labelNames = [...]string{"fresh", "replayed", "resent", "confirmed", "recorded", "not_repeated", "unconfirmed"}

// Labels counts steps; the index is the [Label].
type Labels [numLabels]int64

// Again returns the number of steps that were sent again after a crash or a lost answer, or were found to be done.
func (a *RequestCounts) Again() int64 {
	return a.Labels[Resent] + a.Labels[Confirmed] + a.Labels[Unconfirmed]
}

func (l Label) String() string { return labelNames[l] }

// Phase is what a run is doing. See the table above the loop for the transitions.
type Phase uint8

// The phases of a run.
const (
	Preparing Phase = iota
	Running
	Paused
	Draining
	Ended
)

var phaseNames = [...]string{"preparing", "running", "paused", "stopping", "ended"}

func (p Phase) String() string { return phaseNames[p] }

// Ending is why a run is over. NotEnded applies to a run in progress and to one whose process died.
type Ending uint8

// The endings of a run.
const (
	NotEnded Ending = iota
	EndFinished
	EndStopped
	EndFailed
	EndOutOfBudget
	// EndHopeless ends a run that cannot succeed: every session failed permanently.
	EndHopeless
)

var endingNames = [...]string{"", "finished", "stopped", "failed", "out of budget", "cannot succeed"}

func (e Ending) String() string { return endingNames[e] }

// ParseEnding is the inverse of [Ending.String].
func ParseEnding(s string) (Ending, error) {
	for i, name := range endingNames {
		if name == s {
			return Ending(i), nil
		}
	}
	return NotEnded, fmt.Errorf("unknown ending %q", s)
}

// Inexact records why, and from which point, a run's result may depend on its timing.
type Inexact struct {
	Cycle, Agent int
	Path         string
	Why          string
}

func (i *Inexact) String() string {
	if i == nil {
		return "exact"
	}
	if i.Path == "" {
		return fmt.Sprintf("inexact since cycle %d: %s", i.Cycle, i.Why)
	}
	return fmt.Sprintf("inexact since cycle %d, agent %d, step %s: %s", i.Cycle, i.Agent, i.Path, i.Why)
}

// Clock is a scenario's simulated time: cycle c begins at Start + c × Cycle.
type Clock struct {
	Start time.Time
	Cycle time.Duration
	// Arrivals says when the sessions of a cycle start, in wall time; nil starts all together.
	Arrivals *arrivals.Plan
}

// Together returns the clock of a run whose sessions all start together.
func (c Clock) Together() Clock { return Clock{Start: c.Start, Cycle: c.Cycle} }

// Check returns the settings that do not fit the arrivals, as joined *FieldError values.
func (c Clock) Check(s *Settings) error {
	var mistakes []error
	check := func(wrong bool, field, problem, hint string) {
		if wrong {
			mistakes = append(mistakes, &FieldError{Field: field, Problem: problem, Hint: hint})
		}
	}
	if p := c.Arrivals; p != nil {
		check(s.Sequential, "sequential", "in this scenario, agents arrive over time, and a sequential run has one session at a time", "remove arrivals, or run in parallel")
		check(s.Batch > 0, "batch", "in this scenario, agents arrive over time, so they do not start in batches", "set batch to 0, or remove arrivals")
		check(p.NeedsTime() && s.TimeScale == 0, "time-scale", "agents arrive over the time of a cycle, and cycles have no planned time",
			"set a time scale, or write the time into the scenario, such as arrivals: {even: 60s}")
	}
	return errors.Join(mistakes...)
}

// At returns the simulated time at which a cycle begins.
func (c Clock) At(cycle int) time.Time { return c.Start.Add(time.Duration(cycle) * c.Cycle) }

package service

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
)

// ErrDiverged says that the journal holds another request than the one that a step sends: its scenario does not
// repeat itself. It ends the session, whatever the step says about failures.
var ErrDiverged = errors.New("the journal holds another request of this step: the scenario does not repeat itself")

// diverged is that failure of a session.
func diverged(s *engine.Session) error {
	err := ErrDiverged
	if run := s.Recording(); run != "" {
		err = &unanswered{run, "holds the answer to another request of this step"}
	}
	return &engine.StepError{Class: engine.ConfigError, Err: err}
}

// Unrecorded is the failure of a step that the recording which answers its session has no answer for. It ends the session
// as [ErrDiverged] does, which it is.
func Unrecorded(s *engine.Session) error {
	return &engine.StepError{Class: engine.ConfigError, Err: &unanswered{s.Recording(), "has no answer for this step"}}
}

// unanswered says what is wrong with a recording.
type unanswered struct {
	run engine.RunID
	why string
}

func (e *unanswered) Error() string {
	return fmt.Sprintf("the recording of run %s %s, and a replay asks nobody", e.run, e.why)
}

// Is makes it an ErrDiverged.
func (e *unanswered) Is(target error) bool { return target == ErrDiverged }

// TimeoutEntry is what a recording keeps of a step that was waiting when the time of its session or chain was over.
func TimeoutEntry(path string, e *engine.TimeoutError) engine.Entry {
	return engine.Entry{
		Path: path, Status: engine.StepTimedOut, Class: engine.Timeout, Error: e.Error(), Attempts: 1,
		Output: fmt.Appendf(nil, "%d %s%s", e.Limit, whole, e.What),
	}
}

// whole stands before what ran out of time where that is no step: no path begins with it.
const whole = "!"

// Overtime is the cause of a context that ended because the time of a step was over. Path is that step's: the step
// that waits, or one around it.
type Overtime struct {
	Path  string
	Limit time.Duration
}

func (e *Overtime) Error() string { return e.timeout().Error() }

// Unwrap makes it a *engine.TimeoutError of a step.
func (e *Overtime) Unwrap() error { return e.timeout() }

func (e *Overtime) timeout() *engine.TimeoutError {
	return &engine.TimeoutError{What: "step", Limit: e.Limit}
}

// Entry is what the journal keeps of a step that was waiting when the time was over. A session that is resumed must
// run out of time in the same place, or it would ask what it never asked.
func (e *Overtime) Entry(path string) engine.Entry {
	return engine.Entry{
		Path: path, Status: engine.StepTimedOut, Class: engine.Timeout, Error: e.Error(), Attempts: 1,
		Output: fmt.Appendf(nil, "%d %s", e.Limit, e.Path),
	}
}

// Failure is the error that a journaled step failed with; nil if it was ok.
func Failure(e engine.Entry) error {
	switch e.Status {
	case engine.StepOK:
		return nil
	case engine.StepTimedOut:
		limit, path, _ := strings.Cut(string(e.Output), " ")
		d, err := strconv.ParseInt(limit, 10, 64)
		if err != nil {
			return engine.Fail(engine.ConfigError, "read the journaled timeout of %s: %w", e.Path, err)
		}
		if what, ok := strings.CutPrefix(path, whole); ok {
			return &engine.TimeoutError{What: what, Limit: time.Duration(d)}
		}
		return &Overtime{Path: path, Limit: time.Duration(d)}
	default:
		return &engine.StepError{Class: e.Class, Err: errors.New(e.Error)}
	}
}

// replayed is the result of a call from the journal.
func (c *Call) replayed(e engine.Entry) (*Answer, error) {
	if c.Session.Recording() != "" { // this run asked nobody
		c.Record.Label = engine.Recorded
	} else {
		c.Record.Label, c.Record.Statuses, c.resent = engine.Replayed, e.Statuses, e.Again
		if e.Unconfirmed {
			c.Record.Label = engine.Unconfirmed
		}
		if e.Hash != 0 { // else it never got as far as a request
			c.Record.Attempts = e.Attempts
		}
	}
	if err := Failure(e); err != nil {
		return nil, err
	}
	answer, err := decodeAnswer(e.Output)
	if err != nil {
		return nil, engine.Fail(engine.ConfigError, "read the journaled answer of %s: %w", e.Path, err)
	}
	if c.readable(answer.Status) {
		if err := c.accept(answer); err != nil {
			return nil, err
		}
	}
	return answer, nil
}

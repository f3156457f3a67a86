package service

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
)

// ErrDiverged means that the journal holds another request than the step sends: the scenario is not deterministic. It ends the
// session, whatever the step says about failures.
var ErrDiverged = errors.New("the journal holds another request of this step: the scenario does not repeat itself")

// diverged returns the ErrDiverged of a session.
func diverged(s *engine.Session) error {
	err := ErrDiverged
	if run := s.Run().Recording; run != "" {
		err = &unanswered{run, "holds the answer to another request of this step"}
	}
	return &engine.StepError{Class: engine.ConfigError, Err: err}
}

// Unrecorded returns the failure of a step without an answer in the recording. It is an [ErrDiverged], and ends the session.
func Unrecorded(s *engine.Session) error {
	return &engine.StepError{Class: engine.ConfigError, Err: &unanswered{s.Run().Recording, "has no answer for this step"}}
}

// unanswered describes a problem of a recording.
type unanswered struct {
	run engine.RunID
	why string
}

func (e *unanswered) Error() string {
	return fmt.Sprintf("the recording of run %s %s, and a replay sends no requests", e.run, e.why)
}

// Is makes it an ErrDiverged.
func (e *unanswered) Is(target error) bool { return target == ErrDiverged }

// TimeoutEntry returns the entry of a step that was waiting when its session or chain timed out, for a recording.
func TimeoutEntry(path string, e *engine.TimeoutError) engine.Entry {
	return engine.Entry{
		Path: path, Status: engine.StepTimedOut, Class: engine.Timeout, Error: e.Error(), Attempts: 1,
		Output: fmt.Appendf(nil, "%d %s%s", e.Limit, whole, e.What),
	}
}

// whole precedes the name of something other than a step that timed out. No path begins with it.
const whole = "!"

// Overtime is the cause of a context that ended because a step timed out. Path is that of the waiting step, or of one around it.
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

// Entry returns the journal entry of a step that was waiting when the time was over. A resumed session must time out in the same
// place, or it would send requests that it never sent.
func (e *Overtime) Entry(path string) engine.Entry {
	return engine.Entry{
		Path: path, Status: engine.StepTimedOut, Class: engine.Timeout, Error: e.Error(), Attempts: 1,
		Output: fmt.Appendf(nil, "%d %s", e.Limit, e.Path),
	}
}

// Failure returns the error of a journaled step, or nil.
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

// FailedEntry returns the journal entry of a step that failed without an answer.
func FailedEntry(path string, err error) engine.Entry {
	e := engine.Entry{Path: path, Status: engine.StepFailed, Class: engine.ConfigError, Error: err.Error(), Attempts: 1}
	if step, ok := errors.AsType[*engine.StepError](err); ok {
		e.Class = step.Class
	}
	return e
}

// replayed returns the result of a call from the journal.
func (c *Call) replayed(e engine.Entry) (*Answer, error) {
	if c.Session.Run().Recording != "" { // this run sent nothing
		c.Record.Label = engine.Recorded
	} else {
		c.Record.Label, c.Record.Statuses, c.resent = engine.Replayed, e.Statuses, e.Again
		if e.Unconfirmed {
			c.Record.Label = engine.Unconfirmed
		}
		if e.Hash != 0 { // otherwise there was no request
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
	jar{c}.restore(answer)
	if c.readable(answer.Status) {
		if err := c.accept(answer); err != nil {
			return nil, err
		}
	}
	return answer, nil
}

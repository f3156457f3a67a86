package engine

import (
	"errors"
	"fmt"
	"time"
)

// Sentinels that adapters translate their own errors to.
var (
	// ErrNotFound: no such run, checkpoint or agent.
	ErrNotFound = errors.New("not found")
	// ErrInUse: another process has the run in progress.
	ErrInUse = errors.New("in use by another process")
	// ErrNewer: the store was written by a newer version of Throng.
	ErrNewer = errors.New("written by a newer version of Throng")
	// ErrNoRoom: the disk is full or cannot be written.
	ErrNoRoom = errors.New("no room on the disk")
	// ErrDamaged: the store is not in order, and waiting does not help.
	ErrDamaged = errors.New("the store is damaged")
	// ErrEnded: the run is over and takes no more orders.
	ErrEnded = errors.New("the run has ended")
	// ErrCut is the cause of a context that ended because the run was cut short; the session runs again on resume.
	ErrCut = errors.New("the run was cut")
	// ErrRetired is the cause of a context that ended because a person retired the agent.
	ErrRetired = errors.New("the agent was retired by hand")
)

// TimeoutError is the cause of a context whose clock ran out.
type TimeoutError struct {
	What  string // "step", "chain", "session", "cycle"
	Limit time.Duration
}

func (e *TimeoutError) Error() string { return fmt.Sprintf("%s timed out after %s", e.What, e.Limit) }

// FieldError is a person's mistake in one field of a form, a flag or a setting.
type FieldError struct{ Field, Problem, Hint string }

func (e *FieldError) Error() string {
	if e.Hint == "" {
		return e.Field + ": " + e.Problem
	}
	return e.Field + ": " + e.Problem + " (" + e.Hint + ")"
}

// StepError is how a step's failure is told: its class for figures, its text for people.
type StepError struct {
	Class Class
	Err   error
}

func (e *StepError) Error() string { return e.Err.Error() }
func (e *StepError) Unwrap() error { return e.Err }

// Fail returns a step's failure of a class.
func Fail(c Class, format string, args ...any) *StepError {
	return &StepError{Class: c, Err: fmt.Errorf(format, args...)}
}

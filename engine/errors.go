package engine

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Sentinel errors. Adapters translate their own errors to these.
var (
	// ErrNotFound means that the run, checkpoint or agent does not exist.
	ErrNotFound = errors.New("not found")
	// ErrInUse means that another process has the run in progress.
	ErrInUse = errors.New("in use by another process")
	// ErrNewer means that a newer version of Throng wrote the store.
	ErrNewer = errors.New("written by a newer version of Throng")
	// ErrNoRoom means that the disk is full or cannot be written.
	ErrNoRoom = errors.New("no room on the disk")
	// ErrDamaged means that the store is corrupt. Waiting does not help.
	ErrDamaged = errors.New("the store is damaged")
	// ErrEnded means that the run is over and accepts no more orders.
	ErrEnded = errors.New("the run has ended")
	// ErrCut is the cause of a context that ended because the run was cut short; the session runs again on resume.
	ErrCut = errors.New("the run was cut")
	// ErrRetired is the cause of a context that ended because a person retired the agent.
	ErrRetired = errors.New("the agent was retired")
)

// TimeoutError is the cause of a context whose clock ran out.
type TimeoutError struct {
	What  string // "step", "chain", "session", "cycle"
	Limit time.Duration
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("%s timed out after %s", e.What, FormatDuration(e.Limit))
}

// FieldError is an invalid value of a form field, a flag or a setting.
type FieldError struct{ Field, Problem, Hint string }

func (e *FieldError) Error() string {
	text := strings.TrimPrefix(e.Field+": "+e.Problem, ": ")
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}

// StepError is a step's failure: its class for figures, its text for display.
type StepError struct {
	Class Class
	Err   error
}

func (e *StepError) Error() string { return e.Err.Error() }
func (e *StepError) Unwrap() error { return e.Err }

// Fail returns a StepError of a class.
func Fail(c Class, format string, args ...any) *StepError {
	return &StepError{Class: c, Err: fmt.Errorf(format, args...)}
}

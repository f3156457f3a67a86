package value

import (
	"errors"
	"fmt"
)

// Error is an error with a hint how to correct the script, before its position is known.
type Error struct{ Problem, Hint string }

// NewError returns an Error. The hint may be empty.
func NewError(problem, hint string) error { return &Error{problem, hint} }

func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Problem
	}
	return e.Problem + " (" + e.Hint + ")"
}

// LookupError returns the error of looking up a name whose value may be computed by an evaluation of its own. The error
// of such an evaluation has a backtrace already; it is wrapped, so that the caller does not add its own positions to it.
func LookupError(name string, err error) error {
	type traced interface {
		error
		Backtrace() string
	}
	if _, ok := errors.AsType[traced](err); ok {
		return fmt.Errorf("%s: %w", name, err)
	}
	return err
}

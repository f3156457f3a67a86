package value

import (
	"errors"
	"fmt"
)

// Error is an error with a hint on how to correct the script, before its position is known.
type Error struct{ Problem, Hint string }

// NewError returns an Error. The hint may be empty.
func NewError(problem, hint string) error { return &Error{problem, hint} }

func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Problem
	}
	return e.Problem + " (" + e.Hint + ")"
}

// LookupError returns the error of looking up a name. If an evaluation of its own computed the value, its error already
// has a position; LookupError wraps it, so that the outer evaluation does not extend its trace.
func LookupError(name string, err error) error {
	type located interface {
		error
		Located() bool
	}
	if e, ok := errors.AsType[located](err); ok && e.Located() {
		return fmt.Errorf("%s: %w", name, err)
	}
	return err
}

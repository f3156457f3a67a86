package review

import (
	"fmt"

	"github.com/throng-sim/throng/engine"
)

// ErrFetched returns an error for an operation that a fetched run does not support.
func ErrFetched(r *engine.RunRecord, problem string) error {
	return &engine.FieldError{
		Field: "run", Problem: fmt.Sprintf("%s was fetched from %s: %s", r.ID, r.Fetched.Database, problem),
		Hint: fmt.Sprintf("fork it from a checkpoint: throngctl fork %s --checkpoint N", r.ID),
	}
}

// CheckHere returns a *engine.FieldError unless the results of a run are in this store.
func CheckHere(r *engine.RunRecord) error {
	if r.Fetched == nil {
		return nil
	}
	return &engine.FieldError{
		Field: "run", Problem: fmt.Sprintf("the results of %s are in %s, not in this store", r.ID, r.Fetched.Database),
		Hint: "use that database, or the machine that made the run" + machine(r.Fetched.Machine),
	}
}

func machine(name string) string {
	if name == "" {
		return ""
	}
	return ", " + name
}

package review

import (
	"fmt"

	"github.com/throng-sim/throng/engine"
)

// ErrFetched says what cannot be done with a run that was made elsewhere.
func ErrFetched(r *engine.RunRecord, problem string) error {
	return &engine.FieldError{
		Field: "run", Problem: fmt.Sprintf("%s was fetched from %s: %s", r.ID, r.Fetched.Database, problem),
		Hint: fmt.Sprintf("fork it from a checkpoint: throngctl fork %s --checkpoint N", r.ID),
	}
}

// CheckHere returns a *engine.FieldError if the results of a run are not in this store.
func CheckHere(r *engine.RunRecord) error {
	if r.Fetched == nil {
		return nil
	}
	return &engine.FieldError{
		Field: "run", Problem: fmt.Sprintf("the results of %s are in %s, and not here", r.ID, r.Fetched.Database),
		Hint: "ask that database, or the machine that made the run" + machine(r.Fetched.Machine),
	}
}

func machine(name string) string {
	if name == "" {
		return ""
	}
	return ", " + name
}

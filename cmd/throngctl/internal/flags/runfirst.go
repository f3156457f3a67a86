package flags

import "github.com/throng-sim/throng/engine"

// RunFirst reads the arguments of a command that takes a run and something of it. A single argument is not the run, which is then the newest
// one. Without arguments, the error is a *engine.FieldError.
func RunFirst(run, of *string, what, hint string) error {
	if *of == "" {
		*run, *of = "", *run
	}
	if *of == "" {
		return &engine.FieldError{Problem: "no " + what + " named", Hint: "name " + hint}
	}
	return nil
}

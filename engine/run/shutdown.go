package run

import (
	"context"
	"runtime/debug"

	"github.com/throng-sim/throng/engine"
)

// Shutdown ends the run within [ShutdownTimeout] because the program exits. why is the cause, such as "SIGTERM". Shutdown
// first takes a checkpoint with why as its reason. Sessions in flight then have half of the time to end; the rest are cut.
func (r *Run) Shutdown(why string) error { return r.mail.send(shutdownOrder{why}) }

// rescue handles a panic. All goroutines of the run except the node's defer it. Such a panic leaves the core consistent.
func (r *Run) rescue() {
	if r.onPanic == nil {
		return // let the panic end the program
	}
	if p := recover(); p != nil {
		stack := debug.Stack()
		ctx, cancel := context.WithTimeout(context.Background(), crashTime)
		defer cancel()
		_ = r.Checkpoint(ctx, engine.PanicReason) // even if it fails, the run can resume from the end of the journal
		r.onPanic(p, stack)
	}
}

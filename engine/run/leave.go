package run

import (
	"context"
	"runtime/debug"

	"github.com/throng-sim/throng/engine"
)

// Leave ends the run within [Haste] since the program has to end, as why says, such as "SIGTERM". At first a checkpoint
// is taken, with why as its reason; then the sessions in flight may end for half of that time, and what is left is cut.
func (r *Run) Leave(why string) error { return r.tell(leaveOrder{why}) }

// rescue is deferred by the goroutines of the run but for its node. A panic of theirs leaves the core in order.
func (r *Run) rescue() {
	if r.crashed == nil {
		return // it takes its course
	}
	if p := recover(); p != nil {
		stack := debug.Stack()
		ctx, cancel := context.WithTimeout(context.Background(), crashTime)
		defer cancel()
		_ = r.Checkpoint(ctx, engine.PanicReason) // the run goes on from the journal's end all the same
		r.crashed(p, stack)
	}
}

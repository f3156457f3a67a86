package run

import (
	"time"

	"github.com/throng-sim/throng/engine"
)

// PublishNow makes a snapshot of this instant.
func (r *Run) PublishNow() *engine.Snapshot {
	_ = r.tell(publishOrder{})
	return r.Snapshot()
}

// GapBetween is what the core makes of what two clocks went on by.
func GapBetween(wall, steady, tick time.Duration) (slept, stood time.Duration, why string) {
	g := gapBetween(clocks{}, clocks{wall, steady}, tick)
	return g.slept, g.stood, g.why
}

// Wake tells the run that time has passed in which nothing went on.
func (r *Run) Wake(slept, stood time.Duration) {
	_ = r.tell(awoken{gap{slept, stood, "the machine slept"}})
	r.PublishNow()
}

// SetBudget is what the node's orders use.
func (r *Run) SetBudget(b engine.Budget) error { return r.setBudget(b) }

// StepBetween is by how much the wall clock was set between two looks.
func StepBetween(wall, steady time.Duration) time.Duration {
	return stepBetween(clocks{}, clocks{wall, steady})
}

package run

import (
	"time"

	"github.com/throng-sim/throng/engine"
)

// PublishNow publishes a snapshot and returns it.
func (r *Run) PublishNow() *engine.Snapshot {
	_ = r.mail.send(publishOrder{})
	return r.Snapshot()
}

// GapBetween calls gapBetween for two clocks that advanced by wall and steady.
func GapBetween(wall, steady, tick time.Duration) (slept, stood time.Duration, why string) {
	g := gapBetween(clocks{}, clocks{wall, steady}, tick)
	return g.length, g.steady, g.why
}

// ReportGap reports a gap to the run, as if the machine had slept.
func (r *Run) ReportGap(slept, stood time.Duration) {
	_ = r.mail.send(suspended{gap{slept, stood, "the machine slept"}})
	r.PublishNow()
}

// SetBudget exports setBudget.
func (r *Run) SetBudget(b engine.Budget) error { return r.setBudget(b) }

// StepBetween calls stepBetween for two clocks that advanced by wall and steady.
func StepBetween(wall, steady time.Duration) time.Duration {
	return stepBetween(clocks{}, clocks{wall, steady})
}

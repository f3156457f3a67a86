package engine_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
)

func TestThrottledTimeIsTheSumOverCauses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) (r engine.StepRecord) {
			for range rapid.IntRange(0, 5).Draw(t, name) {
				r.Hold(rapid.SampledFrom(engine.ThrottleCauses()).Draw(t, "cause"), time.Duration(rapid.IntRange(0, 1000).Draw(t, "wait")))
			}
			r.Attempts, r.Label = rapid.IntRange(0, 3).Draw(t, "attempts"), engine.Label(rapid.IntRange(0, 3).Draw(t, "label"))
			return r
		}
		a, b := draw("a"), draw("b")
		want := a.Throttled + b.Throttled
		var step engine.StepRecord
		step.Take(&a)
		step.Take(&b)
		var sum time.Duration
		if step.Waits != nil {
			for _, d := range step.Waits {
				sum += d
			}
		}
		if step.Throttled != want || sum != want {
			t.Fatalf("throttled for %v, the sum over causes is %v, want %v", step.Throttled, sum, want)
		}
		if step.Attempts != a.Attempts+b.Attempts || step.Label != max(a.Label, b.Label) {
			t.Fatalf("%+v of %+v and %+v", step, a, b)
		}
	})
}

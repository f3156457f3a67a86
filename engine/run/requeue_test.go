package run_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestRequeueOfARepeatableSessionIsExact checks that requeueing changes no result and loses no figure if the second take
// ends like the first, however often the process dies around it.
func TestRequeueOfARepeatableSessionIsExact(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		l := drawCase(r)
		l.crowd.Fail, l.crowd.Work, l.crowd.Throttled, l.crowd.Hang = 0.5, 2*time.Second, 0, 0
		l.agents, l.limit = rapid.IntRange(6, 24).Draw(r, "many"), rapid.IntRange(1, 4).Draw(r, "few")
		l.chosen, l.warmUp = nil, nil
		l.actions = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) action {
			return action{
				after: time.Duration(rapid.IntRange(0, 1500).Draw(t, "ms")) * time.Millisecond,
				what: rapid.SampledFrom([]string{
					"requeue", "requeue", "requeue", "requeue", "limit", "pause", "resume", "resume", "quit", "die", "checkpoint", "stop",
				}).Draw(t, "what"),
				n: rapid.IntRange(1, 6).Draw(t, "n"),
			}
		}), 1, 20).Draw(r, "orders")
		check(r, t, l.check)
	})
}

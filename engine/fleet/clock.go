package fleet

import (
	"cmp"
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
)

// cycleClock is how long the clock of a cycle has run.
type cycleClock struct {
	ran   time.Duration
	since time.Time // zero while it is paused
}

func (c *cycleClock) start(now time.Time, paused bool) {
	*c = cycleClock{}
	c.pause(now, paused)
}

func (c *cycleClock) paused() bool { return c.since.IsZero() }

func (c *cycleClock) pause(now time.Time, paused bool) {
	switch {
	case paused && !c.paused():
		c.ran, c.since = c.elapsed(now), time.Time{}
	case !paused && c.paused():
		c.since = now
	}
}

func (c *cycleClock) elapsed(now time.Time) time.Duration {
	if c.paused() {
		return c.ran
	}
	return c.ran + now.Sub(c.since)
}

// sortByAge sorts sessions by their start.
func sortByAge(all []engine.Activity) {
	slices.SortFunc(all, func(a, b engine.Activity) int { return cmp.Or(a.Began.Compare(b.Began), cmp.Compare(a.Agent, b.Agent)) })
}

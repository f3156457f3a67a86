package fleet

import (
	"cmp"
	"slices"
	"sync"
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

// skew is how far the coordinator's clock is ahead of this machine's, as the fastest answers show it: in those, the clock was read at
// most half of their round trip from its middle. Differences within that are taken as none, such as on one machine.
type skew struct {
	mu   sync.Mutex
	by   time.Duration
	trip time.Duration // of the answer that showed it
	at   time.Time     // when that was; clocks drift
}

// learn takes an answer that the coordinator sent at a time of its clock.
func (s *skew) learn(sent, at, received time.Time) {
	const trusted = time.Minute
	trip := received.Sub(sent)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at.IsZero() || trip <= s.trip || received.Sub(s.at) > trusted {
		s.trip, s.at = trip, received
		if s.by = at.Sub(sent.Add(trip / 2)); s.by.Abs() <= trip/2 {
			s.by = 0
		}
	}
}

func (s *skew) get() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.by
}

// sortByAge sorts sessions by their start.
func sortByAge(all []engine.Activity) {
	slices.SortFunc(all, func(a, b engine.Activity) int { return cmp.Or(a.Began.Compare(b.Began), cmp.Compare(a.Agent, b.Agent)) })
}

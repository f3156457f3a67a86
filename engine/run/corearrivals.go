package run

import (
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/arrivals"
)

// arriving lets sessions of the open cycle start at their intended time. Its time stands still while no session may start: the schedule
// shifts by pauses, and by the time between an interruption and the resume.
type arriving struct {
	core *core

	schedule *arrivals.Schedule // nil if all sessions of the cycle may start together
	reached  time.Duration      // in the schedule, at since
	since    time.Time
	armed    bool // the timer for the next arrival is set
}

// minArrivalWait bounds how often the run wakes for arrivals. At higher rates, several sessions start together.
const minArrivalWait = time.Millisecond

// minLag is the smallest lag that is explained.
const minLag = 250 * time.Millisecond

// open begins the schedule of a cycle. In a resumed cycle it continues at the latest intended start of the sessions that had begun.
func (a *arriving) open(s *arrivals.Schedule) {
	a.schedule, a.since, a.reached, a.armed = s, a.core.in.At, 0, false
	if s == nil {
		return
	}
	a.reached = s.Reached
	if begun := a.core.memory.prefixes; len(begun) > 0 {
		for i, agent := range s.Order {
			if _, ok := begun[int(agent)]; ok {
				a.reached = max(a.reached, s.At(i))
			}
		}
	}
}

// advance moves the schedule on to the time of the step.
func (a *arriving) advance() {
	if at := a.core.in.At; at.After(a.since) {
		if a.core.limit.haltedAt.IsZero() {
			a.reached += at.Sub(a.since)
		}
		a.since = at
	}
}

// release lets the sessions start whose time has come, and sets the timer for the next one.
func (a *arriving) release() {
	cy := &a.core.cycles
	if a.schedule == nil || cy.closing {
		return
	}
	a.advance()
	if n := a.schedule.Due(cy.released, a.reached); n > cy.released {
		a.releaseTo(n)
	}
	if cy.released < cy.open.size && !a.armed {
		a.armed = true
		a.core.emit(setTimer{arrivalTimer, max(a.schedule.At(cy.released)-a.reached, minArrivalWait)})
	}
}

// releaseNext lets the next session start before its time, and moves the schedule there. A probe of the circuit breaker needs it, because
// the schedule stands still until the probe has succeeded.
func (a *arriving) releaseNext() {
	if cy := &a.core.cycles; a.schedule != nil && cy.mayStart() == 0 && cy.released < cy.open.size {
		a.advance()
		a.reached, a.armed = max(a.reached, a.schedule.At(cy.released)), false
		a.releaseTo(cy.released + 1)
	}
}

func (a *arriving) releaseTo(n int) {
	c := a.core
	c.reading.mark()
	if c.cycles.workers == 0 {
		c.cycles.lastEnd = c.in.At // nothing could end before
	}
	c.cycles.released, c.in.Filled = n, time.Time{}
	c.emit(releaseSessions{n, c.in.At.Sub(c.cycles.open.readyAt) - a.reached})
}

// lag returns how many sessions have an intended start that has passed, and for how long the oldest has waited.
func (a *arriving) lag() (overdue int64, oldest time.Duration) {
	cy, started := &a.core.cycles, a.core.in.Started
	if a.schedule == nil || cy.open == nil || started >= cy.open.size {
		return 0, 0
	}
	a.advance()
	due := a.schedule.Due(max(cy.released, started), a.reached)
	if due <= started {
		return 0, 0
	}
	return int64(due - started), max(a.reached-a.schedule.At(started), 0)
}

// left returns the time until the last session of the run is due, if each cycle takes as long as its arrivals; 0 without a schedule.
func (a *arriving) left() time.Duration {
	c := a.core
	plan, next := c.cfg.Clock.Arrivals, c.cycles.number
	if plan == nil {
		return 0
	}
	var left time.Duration
	if a.schedule != nil && c.cycles.open != nil {
		a.advance()
		left, next = max(a.schedule.Last()-a.reached, 0), next+1
	}
	if cycles := c.cfg.Settings.Cycles - next; cycles > 0 {
		left += time.Duration(cycles) * plan.Length(c.roster.count(next), c.cycles.each())
	}
	return left
}

// why says what delays sessions that are overdue; "" if none is.
func (a *arriving) why() string {
	c := a.core
	if _, oldest := a.lag(); oldest < minLag || c.life.phase != engine.Running {
		return ""
	}
	limit := engine.FormatCount(int64(c.limit.set))
	by := c.limit.orders.By
	switch {
	case c.inFlight() < c.limit.inForce:
		return "this machine is too busy to start sessions on time"
	case !c.governed() || by == "":
		return "the concurrency limit is " + limit
	case c.limit.set >= c.cfg.Settings.Ceiling:
		return "the concurrency limit is at its highest, " + limit
	}
	return "the governor (" + by + ") holds the concurrency limit at " + limit
}

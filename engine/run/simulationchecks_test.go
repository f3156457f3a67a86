package run

import (
	"time"

	"github.com/throng-sim/throng/engine"
)

// expectations are what a simulated process expects of the core. It derives them from events and effects, not from the
// core's state.
type expectations struct {
	trouble    error // of the journal
	paused     bool  // a person has paused the run
	haltedAt   time.Time
	halted     time.Duration      // total before haltedAt
	unanswered map[answerID]bool  // orders
	covered    map[answerID]int64 // how many sessions of this process had ended when a checkpoint was ordered
	firstRow   int                // the first row of this process in the journal

	// The schedule of the open cycle began at arrivalsFrom, in a process whose total of halts was haltedBefore. A probe moved it by jumped.
	arrivalsFrom         time.Time
	haltedBefore, jumped time.Duration

	checkpointAt time.Time // when the newest checkpoint was taken
	progressAt   time.Time // when the first session since then ended; zero if none did
}

// shutdownReason is the reason of the checkpoint that a shutdown takes first. Sessions may still end after it.
const shutdownReason = "SIGTERM"

// budgetReason is the reason of sessions that are cut for the budget.
const budgetReason = "the budget is used up"

// manualReason is the reason of ordered checkpoints.
const manualReason = "by hand"

// checkpointSlack is how late a checkpoint may be. The simulation handles timers only between other actions.
const checkpointSlack = time.Second

// expectEvent updates the expectations before the core handles an event.
func (p *process) expectEvent(e event) {
	switch e := e.(type) {
	case journalTrouble:
		p.expect.trouble = e.err
	case pauseOrder:
		p.expect.paused = true
	case resumeOrder:
		p.expect.paused = false
	case checkpointOrder:
		p.expect.covered[e.answer] = p.counted.ended
	case finished:
		if len(e.batch.rows) > 0 && p.expect.progressAt.IsZero() {
			p.expect.progressAt = p.at
		}
	case steered:
		if e.orders.Limit > 0 && p.limit > 0 && !p.core.life.isEnding() {
			p.limit = e.orders.Limit
		}
	}
}

// expectEffect checks an effect against the expectations, and updates them.
func (p *process) expectEffect(f effect) {
	x := &p.expect
	switch f := f.(type) {
	case setLimit:
		if f.limit > p.limit {
			p.fail("the pools may have %d in flight, at a limit of %d", f.limit, p.limit)
		}
	case startWorkers:
		if x.trouble != nil || x.paused || p.isCut {
			p.fail("workers start; journal: %v, paused by a person: %v, cut: %v", x.trouble, x.paused, p.isCut)
		}
	case beginCycle:
		p.expectCycle(f.plan)
	case releaseSessions:
		if n := p.workers.busy(); n > 0 && p.cycle.plan.arrivals == nil {
			p.fail("a wave starts while %d workers are left", n)
		}
		p.expectArrivals(&f)
	case holdCycle:
		x.haltedAt = p.at
	case releaseCycle:
		x.halted += p.at.Sub(x.haltedAt)
		x.haltedAt = time.Time{}
	case answer:
		if !x.unanswered[f.to] {
			p.fail("order %d is answered twice, or was never given", f.to)
		}
		delete(x.unanswered, f.to)
		if ended, ok := x.covered[f.to]; ok && f.err == nil && p.covered() < ended {
			p.fail("checkpoint order %d is answered, but the newest checkpoint covers %d of %d sessions", f.to, p.covered(), ended)
		}
	case writeRow:
		if _, ok := f.row.(engine.CheckpointRow); ok {
			x.checkpointAt, x.progressAt = p.at, time.Time{}
		}
	}
}

// scheduled returns how much of the schedule of the open cycle has passed, without halts.
func (p *process) scheduled() time.Duration {
	x := &p.expect
	halted := x.halted - x.haltedBefore
	if !x.haltedAt.IsZero() {
		halted += p.at.Sub(x.haltedAt)
	}
	return p.at.Sub(x.arrivalsFrom) - halted + x.jumped
}

// expectArrivals checks that no session starts before its time, except for a probe.
func (p *process) expectArrivals(f *releaseSessions) {
	s, at := p.cycle.plan.arrivals, p.scheduled()
	if s == nil {
		return
	}
	due := s.At(f.count - 1)
	if early := due - at; early > 0 {
		if p.core.life.phase != engine.Paused || f.count != p.cycle.released+1 {
			p.fail("session %d of %d may start %v before its time", f.count-1, p.cycle.plan.size, early)
		}
		p.expect.jumped += early
		at = due
	}
	if got := p.at.Sub(p.cycle.plan.readyAt) - f.waited; got != at {
		p.fail("%v of the schedule have passed, the core counts %v", at, got)
	}
}

// checkArrivals checks that every session may start once its time has come.
func (p *process) checkArrivals() {
	c := p.cycle.plan
	if c == nil || c.arrivals == nil || p.core.cycles.open != c || p.core.cycles.closing || p.core.life.phase != engine.Running || p.core.limit.inForce == 0 {
		return
	}
	if due := c.arrivals.Due(0, p.scheduled()-checkpointSlack); due > p.cycle.released {
		p.fail("%d sessions of %d are due, %d may start", due, c.size, p.cycle.released)
	}
}

// expectCycle checks that a cycle begins in time: after the rows of the previous one are durable, on schedule, and not
// while the journal is in trouble or a person has paused the run.
func (p *process) expectCycle(c *plan) {
	x := &p.expect
	if x.trouble != nil || x.paused {
		p.fail("cycle %d begins; journal: %v, paused by a person: %v", c.number, x.trouble, x.paused)
	}
	for _, row := range p.journal.rows[p.journal.durable:] {
		switch row.(type) {
		case *engine.SessionRow, engine.BarrierRow:
			p.fail("cycle %d begins before a %T of the previous one is durable", c.number, row)
		}
	}
	for _, w := range p.backlog {
		if _, ok := w.row.(engine.BarrierRow); ok {
			p.fail("cycle %d begins before the barrier of the previous one is journaled", c.number)
		}
	}
	if c.arrivals != nil {
		x.arrivalsFrom, x.haltedBefore, x.jumped = p.at, x.halted, c.arrivals.Reached
		if !x.haltedAt.IsZero() {
			x.haltedBefore += p.at.Sub(x.haltedAt)
		}
	}
	if !p.params.scheduled {
		return
	}
	first, halted := 0, x.halted
	if p.res != nil {
		first = p.res.Cycle
	}
	if !x.haltedAt.IsZero() {
		halted += p.at.Sub(x.haltedAt)
	}
	planned := p.begunAt.Add(halted + time.Duration(c.number-first)*simInterval)
	if lag := p.at.Sub(planned); lag < 0 || lag != p.core.cycles.lag {
		p.fail("cycle %d begins %v after its planned start, the core counts %v", c.number, lag, p.core.cycles.lag)
	}
}

// check compares the core's figures with those of the simulation.
func (p *process) check() {
	c := p.core
	ended, begun, cut := c.tally.totals.Ended()-p.endedBefore, c.tally.started, c.tally.cut
	if c.cycles.open != nil {
		g := p.workers.progress()
		begun += int64(g.Started + g.Requeued)
	}
	if want := p.counted.ended - p.counted.withdrawn; ended != want {
		p.fail("%d sessions ended, the core counts %d", want, ended)
	}
	if want := p.workers.started() - p.counted.withdrawn; begun != want {
		p.fail("%d sessions have started, the core counts %d", want, begun)
	}
	if !p.abandoned && cut != p.counted.cut {
		p.fail("%d sessions were cut, the core counts %d", p.counted.cut, cut)
	}
	if want := p.probes(); !p.abandoned && c.limit.probing != want {
		p.fail("%d probes are in flight, the core counts %d", want, c.limit.probing)
	}
	p.checkInterval()
	p.checkArrivals()
	p.workers.check()
}

// covered returns how many sessions of this process the journal has before its newest manual checkpoint.
func (p *process) covered() (ended int64) {
	var sessions int64
	for _, row := range p.journal.rows[p.expect.firstRow:] {
		switch row := row.(type) {
		case *engine.SessionRow:
			sessions++
		case engine.CheckpointRow:
			if row.Reason == manualReason {
				ended = sessions
			}
		}
	}
	return ended
}

// probes returns how many probes the core does not know to have ended.
func (p *process) probes() (n int) {
	n = p.workers.probes()
	for _, b := range p.inTransit {
		n += b.Probes
	}
	return n
}

// checkInterval checks that every ended session is covered by a checkpoint within the interval.
func (p *process) checkInterval() {
	x, every := &p.expect, p.params.interval
	if every == 0 || x.progressAt.IsZero() || p.core.life.isEnding() || p.core.checkpoints.pending > 0 {
		return
	}
	if gap := p.at.Sub(x.progressAt); gap > every+checkpointSlack {
		p.fail("no checkpoint for %v, at an interval of %v", gap, every)
	}
}

// checkEnd checks what must be true at the end of a process.
func (p *process) checkEnd() {
	s := p.core.snapshot(p.look())
	if s.Phase != engine.Ended || s.InFlight != 0 || s.Begun != s.Ended-p.endedBefore+s.Cut {
		p.fail("at the end: %v, begun %d, ended %d, in flight %d, cut %d", s.Phase, s.Begun, s.Ended-p.endedBefore, s.InFlight, s.Cut)
	}
	if p.isCut {
		return
	}
	if n := len(p.expect.unanswered); n > 0 {
		p.fail("%d orders were never answered", n)
	}
	ending := p.core.life.result.Ending
	if ending == engine.EndFinished && s.Total != s.Ended {
		p.fail("the run finished with %d sessions of %d planned", s.Ended, s.Total)
	}
	if ending != engine.EndStopped && ending != engine.EndOutOfBudget || p.journal.damaged {
		return
	}
	for _, row := range p.journal.rows[p.expect.firstRow:] {
		if c, ok := row.(engine.CheckpointRow); ok && (c.Done == s.Ended || c.Reason == shutdownReason) {
			return
		}
	}
	p.fail("the run ended as %v without a checkpoint of its %d sessions", ending, s.Ended)
}

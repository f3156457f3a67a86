package run

import (
	"time"

	"github.com/throng-sim/throng/engine"
)

// plan is what a cycle consists of. It does not change.
type plan struct {
	number int
	now    time.Time // simulated
	ready  time.Time // when its sessions could begin
	todo   []int32   // agents that have no session in it yet; nil is agents 0 to size-1
	size   int       // how many had none yet when it began
	active int       // how many take part, those of an earlier process included
	batch  int       // sessions of a wave; 0 starts them all at once
}

// cycles opens and closes the run's cycles.
type cycles struct {
	core *core

	open     *plan // nil between cycles
	number   int   // of the open cycle
	first    int   // that this process began with
	done     []int // agents that had their session of the first in an earlier process
	released int   // sessions of the open cycle that may begin, requeued ones left out
	again    int   // sessions that were requeued in it
	workers  int
	idle     time.Time // when the last worker left
	started  bool      // the journal has the row that this process took up the run
	closing  bool      // the barrier's rows are being committed
	turning  bool      // memory moves on to the next cycle
	ordering int       // orders by hand that are being committed
	bad      map[int]engine.SessionEnd

	began    time.Time // the open cycle
	standing time.Duration
	lastEnd  time.Time // when a session ended last, or work could begin
	schedule time.Time // when the first cycle of this process was meant to begin, moved by pauses
	lag      time.Duration
	last     engine.ClosedCycle
}

// left is how many sessions of the open cycle have not begun, mayBegin how many of these may now.
func (cy *cycles) left() int     { return cy.open.size + cy.again - cy.core.now.started() }
func (cy *cycles) mayBegin() int { return cy.released + cy.again - cy.core.now.started() }

// begin opens the next cycle if its time has come, or ends the run. It reports whether it did either.
func (cy *cycles) begin() bool {
	c := cy.core
	if !cy.started || cy.ordering > 0 || c.life.pausedByUs || c.life.trouble != nil {
		return false // a session that reads what is ordered must not stand before the order in the journal
	}
	if isEmpty := c.roster.isEmpty(cy.number); isEmpty || cy.isOver() {
		why := engine.NoAgents
		if !isEmpty {
			why = c.life.doneWhy()
		}
		c.life.drain(engine.EndFinished, why)
		return true
	}
	at, stood := c.now.At, &c.limit.stood
	if !stood.IsZero() {
		if !c.limit.mayProbe() {
			return false
		}
		cy.schedule, *stood = cy.schedule.Add(at.Sub(*stood)), at
	}
	if wait := cy.intended().Sub(at); wait > 0 {
		c.emit(setTimer{cycleTimer, wait})
		return false
	}
	cy.lag = 0
	if c.cfg.Settings.TimeScale > 0 {
		cy.lag = at.Sub(cy.intended())
		c.tally.totals.Peaks.Lag = max(c.tally.totals.Peaks.Lag, cy.lag)
	}
	c.reading.mark()
	cy.enter(cy.plan())
	c.emit(beginCycle{cy.open, &c.recall, c.roster.retired(cy.number), !stood.IsZero()})
	if c.life.phase == engine.Preparing {
		c.life.turn(toBegin)
	}
	return true
}

// plan says who has a session in the next cycle.
func (cy *cycles) plan() *plan {
	s := &cy.core.cfg.Settings
	p := &plan{number: cy.number, now: cy.core.cfg.Clock.At(cy.number), ready: cy.core.now.At, batch: s.Batch}
	cy.core.roster.fill(p, cy.done)
	cy.done = nil
	if s.Sequential {
		engine.SortByTurn(p.todo, s.Seed, p.number)
	}
	return p
}

// enter opens a cycle of which no session has begun.
func (cy *cycles) enter(p *plan) {
	n := &cy.core.now
	cy.open, cy.again, cy.began, cy.standing, cy.lastEnd = p, 0, n.At, 0, n.At
	n.Begun, n.Again, n.Filled = 0, 0, time.Time{}
	if p.size == 0 {
		n.Filled = p.ready
	}
	if cy.released = p.size; p.batch > 0 {
		cy.released = 0
	}
}

// isOver reports whether no further cycle is to begin.
func (cy *cycles) isOver() bool {
	c := cy.core
	s := &c.cfg.Settings
	if s.Cycles > 0 {
		return cy.number >= s.Cycles
	}
	wait := max(cy.intended().Sub(c.now.At), 0)
	return wait+c.pace.worked() >= time.Duration(s.Hours*float64(time.Hour))
}

// intended is when the open cycle is meant to begin.
func (cy *cycles) intended() time.Time {
	c := cy.core
	if c.cfg.Settings.TimeScale <= 0 {
		return time.Time{}
	}
	each := time.Duration(float64(c.cfg.Clock.Cycle) / c.cfg.Settings.TimeScale)
	return cy.schedule.Add(time.Duration(cy.number-cy.first) * each)
}

// close makes the barrier: everything of the cycle is durable before the next one begins.
func (cy *cycles) close() {
	if cy.closing {
		return
	}
	c := cy.core
	c.reading.mark()
	cy.closing = true
	c.emit(endCycle{})
	took, work, p := cy.worked(cy.idle), c.tally.cycleWork(), &c.tally.totals.Peaks
	cy.last = engine.ClosedCycle{Took: took, Sessions: int64(cy.open.active), Failed: c.tally.failedInCycle(), Work: work}
	p.Cycle, p.Worked, p.Open = max(p.Cycle, took), p.Worked+took, 0
	row := engine.BarrierRow{Cycle: cy.open.number, At: c.now.At, Active: cy.open.active, Took: took, Lag: cy.lag, Sessions: c.tally.totals.Ended(), Work: work, Mock: 0}
	c.emit(writeRow{row, ticket{kind: barrierTicket}})
}

// closed hears whether the barrier is durable. If it is not, the cycle stays open: the run ends in it, and its sessions
// stay.
func (cy *cycles) closed(err error) {
	c := cy.core
	switch {
	case err != nil:
		c.reading.mark()
		cy.closing = false
		if !c.life.isCut {
			c.life.ending, c.life.stopping = engine.EndFailed, "the journal: "+err.Error()
			c.life.cutShort("")
		}
	case c.hasBarrier:
		c.emit(passBarrier{cy.number})
	default:
		cy.openNext()
	}
}

// openNext commits the memory of the cycle that closed and goes on to the next.
func (cy *cycles) openNext() {
	c := cy.core
	if c.life.abandoned {
		return
	}
	cy.turning = true // until all of it has: after a panic in between no checkpoint may be made of it
	c.tally.begun += int64(c.now.started())
	c.recall.commit(cy.number)
	clear(cy.bad)
	c.reading.mark()
	cy.open, cy.closing = nil, false
	cy.number++
	c.tally.heard()
	c.recall.deliver()
	c.tally.atBarrier = engine.State{Limit: c.limit.set, Totals: c.tally.totals.Clone()}
	cy.turning = false
}

// nextWave lets the next wave of the open cycle begin, if the one before has ended.
func (cy *cycles) nextWave() {
	p := cy.open
	if cy.workers > 0 || cy.closing {
		return
	}
	c := cy.core
	c.reading.mark()
	if p.batch == 0 || cy.released == p.size || c.now.Begun < cy.released {
		return
	}
	wave := releaseWave{}
	if cy.released > 0 {
		wave.waited = c.now.At.Sub(p.ready)
	}
	cy.released = min(cy.released+p.batch, p.size)
	c.now.Filled, cy.lastEnd = time.Time{}, c.now.At
	c.emit(wave)
}

// add notes how a session ended.
func (cy *cycles) add(r *engine.SessionRow) {
	if len(cy.bad) > 0 {
		delete(cy.bad, r.Agent)
	}
	if r.Outcome == engine.Failed || r.Outcome == engine.TimedOut {
		cy.bad[r.Agent] = engine.EndOf(r)
	}
}

// workersLeft counts the workers that have left.
func (cy *cycles) workersLeft(b *Batch) {
	if b.gone == 0 {
		return
	}
	cy.workers -= b.gone
	cy.core.limit.probing -= b.probes
	cy.core.life.proof.probed(b.probes)
	if cy.workers == 0 {
		cy.idle = cy.core.now.At
	}
}

// worked is how long the open cycle was worked on until a moment, pauses left out.
func (cy *cycles) worked(until time.Time) time.Duration {
	return max(until.Sub(cy.began)-cy.standing, 0)
}

// stoodIdle is how long nothing was in flight because nothing may start.
func (cy *cycles) stoodIdle() time.Duration {
	at, stood := cy.core.now.At, cy.core.limit.stood
	switch {
	case stood.IsZero() || cy.workers > 0:
		return 0
	case cy.idle.After(stood):
		return at.Sub(cy.idle)
	}
	return at.Sub(stood)
}

// nextBarrier is the first cycle that finds what is ordered now.
func (cy *cycles) nextBarrier() int {
	if cy.open == nil && len(cy.done) == 0 && len(cy.core.recall.prefixes) == 0 {
		return cy.number // none of its sessions has begun
	}
	return cy.number + 1
}

// comes reports whether a cycle may ever begin.
func (cy *cycles) comes(cycle int) bool {
	n := cy.core.cfg.Settings.Cycles
	return n == 0 || cycle < n
}

// ordered hears whether an order by hand is durable: nothing that it leads to is journaled before.
func (cy *cycles) ordered(t *ticket, err error) {
	cy.ordering--
	switch {
	case err != nil:
	case t.kind == retireTicket && t.inFlight:
		cy.core.emit(cancelSession{t.place.Agent})
	case t.kind == requeueTicket:
		cy.again++
		cy.core.emit(makeAgain{t.place})
	}
}

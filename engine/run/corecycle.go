package run

import (
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/arrivals"
)

// plan lists the sessions of a cycle. It is immutable.
type plan struct {
	number  int
	simTime time.Time // simulated
	readyAt time.Time // when its sessions could start
	todo    []int32   // agents without a session in it so far; nil means agents 0 to size-1
	size    int       // how many agents that is
	active  int       // active agents, including those whose session ran in an earlier process
	wave    int       // sessions per wave; 0 starts all of them together
	// arrivals has the intended starts of the sessions in todo; nil if they may start together.
	arrivals *arrivals.Schedule
}

// cycles opens and closes the run's cycles.
type cycles struct {
	core *core

	open           *plan // nil between cycles
	number         int   // of the open cycle
	first          int   // the first cycle of this process
	done           []int // agents whose session in the first cycle ran in an earlier process
	released       int   // sessions of the open cycle that may start, without requeued ones
	requeued       int   // sessions requeued in the open cycle
	workers        int
	idleSince      time.Time // when the last worker left
	startJournaled bool      // the journal has the start row of this process
	closing        bool      // the barrier's rows are being committed
	committing     bool      // memory is being committed for the next cycle
	pendingOrders  int       // manual orders being committed
	failed         map[int]engine.SessionEnd

	startedAt     time.Time // start of the open cycle
	pausedTime    time.Duration
	lastEnd       time.Time     // when a session last ended, or work could last start
	scheduleStart time.Time     // planned start of the first cycle of this process, moved by pauses
	lag           time.Duration // of the start of the open cycle
	last          engine.ClosedCycle
	arriving      arriving
}

// remaining returns how many sessions of the open cycle have not started. mayStart returns how many of them may start now.
func (cy *cycles) remaining() int { return cy.open.size + cy.requeued - cy.core.in.started() }
func (cy *cycles) mayStart() int  { return cy.released + cy.requeued - cy.core.in.started() }

// begin opens the next cycle if it is due, or ends the run if no cycle is left. It reports whether it did either.
func (cy *cycles) begin() bool {
	c := cy.core
	if !cy.startJournaled || cy.pendingOrders > 0 || c.life.pausedByUser || c.life.trouble != nil {
		return false // a session that reads the result of an order must follow that order in the journal
	}
	if isEmpty := c.roster.isEmpty(cy.number); isEmpty || cy.isOver() {
		why := engine.NoAgents
		if !isEmpty {
			why = c.life.finishReason()
		}
		c.life.drain(engine.EndFinished, why)
		return true
	}
	at, haltedAt := c.in.At, &c.limit.haltedAt
	if !haltedAt.IsZero() {
		if !c.limit.mayProbe() {
			return false
		}
		cy.scheduleStart, *haltedAt = cy.scheduleStart.Add(at.Sub(*haltedAt)), at
	}
	if wait := cy.plannedStart().Sub(at); wait > 0 {
		c.emit(setTimer{cycleTimer, wait})
		return false
	}
	cy.lag = 0
	if c.cfg.Settings.TimeScale > 0 {
		cy.lag = at.Sub(cy.plannedStart())
	}
	c.reading.mark()
	if n := c.cfg.Settings.CheckpointCycles; n > 0 && cy.number > 0 && cy.number%n == 0 && len(cy.done) == 0 {
		c.checkpoints.take("cycle", 0)
	}
	cy.enter(cy.plan())
	c.emit(beginCycle{cy.open, &c.memory, c.roster.retired(cy.number), !haltedAt.IsZero()})
	if c.life.phase == engine.Preparing {
		c.life.apply(toRunning)
	}
	return true
}

// plan returns the plan of the next cycle.
func (cy *cycles) plan() *plan {
	s := &cy.core.cfg.Settings
	clock := &cy.core.cfg.Clock
	p := &plan{number: cy.number, simTime: clock.At(cy.number), readyAt: cy.core.in.At, wave: s.Batch}
	cy.core.roster.fill(p, cy.done)
	if clock.Arrivals != nil {
		p.arrivals, p.wave = clock.Arrivals.New(s.Seed, p.number, p.todo, cy.done, cy.each()), 0
	}
	cy.done = nil
	if s.Sequential {
		engine.SortByTurn(p.todo, s.Seed, p.number)
	}
	return p
}

// enter opens a cycle in which no session has started.
func (cy *cycles) enter(p *plan) {
	n := &cy.core.in
	cy.open, cy.requeued, cy.startedAt, cy.pausedTime, cy.lastEnd = p, 0, n.At, 0, n.At
	n.Started, n.Requeued, n.Filled = 0, 0, time.Time{}
	if p.size == 0 {
		n.Filled = p.readyAt
	}
	if cy.released = p.size; p.wave > 0 || p.arrivals != nil {
		cy.released = 0
	}
	cy.arriving.open(p.arrivals)
}

// isOver reports whether no further cycle will begin.
func (cy *cycles) isOver() bool {
	c := cy.core
	s := &c.cfg.Settings
	if s.Cycles > 0 {
		return cy.number >= s.Cycles
	}
	wait := max(cy.plannedStart().Sub(c.in.At), 0)
	return wait+c.stopwatch.worked() >= time.Duration(s.Hours*float64(time.Hour))
}

// plannedStart returns when the schedule starts the open cycle, or the zero time if cycles follow no schedule.
func (cy *cycles) plannedStart() time.Time {
	each := cy.each()
	if each == 0 {
		return time.Time{}
	}
	return cy.scheduleStart.Add(time.Duration(cy.number-cy.first) * each)
}

// each returns the planned time of a cycle, or 0 if cycles follow no schedule.
func (cy *cycles) each() time.Duration {
	if cy.core.cfg.Settings.TimeScale <= 0 {
		return 0
	}
	return time.Duration(float64(cy.core.cfg.Clock.Cycle) / cy.core.cfg.Settings.TimeScale)
}

// close commits the barrier. Every row of the cycle is durable before the next cycle begins.
func (cy *cycles) close() {
	if cy.closing {
		return
	}
	c := cy.core
	c.reading.mark()
	cy.closing = true
	c.emit(endCycle{})
	took, work, p := cy.worked(cy.idleSince), c.tally.cycleWork(), &c.tally.totals.Peaks
	cy.last = engine.ClosedCycle{Took: took, Sessions: int64(cy.open.active), Failed: c.tally.failedInCycle(), Work: work}
	c.samples.pace.Closed(took, c.in.At.Sub(c.stopwatch.began), c.in.started(), c.limit.set)
	p.Cycle, p.Worked, p.Open, p.Lag = max(p.Cycle, took), p.Worked+took, 0, max(p.Lag, cy.lag)
	row := engine.BarrierRow{Cycle: cy.open.number, At: c.in.At, Active: cy.open.active, Took: took, Lag: cy.lag, Sessions: c.tally.totals.Ended(), Work: work, Mock: 0}
	c.emit(writeRow{row, ticket{kind: barrierTicket}})
}

// barrierCommitted handles the result of committing the barrier. If that failed, the run ends in the open cycle and keeps its sessions.
func (cy *cycles) barrierCommitted(err error) {
	c := cy.core
	switch {
	case err != nil:
		c.reading.mark()
		cy.closing = false
		if !c.life.isCut {
			c.life.ending, c.life.endReason = engine.EndFailed, "the journal: "+err.Error()
			c.life.cut("")
		}
	case c.hasBarrier:
		c.emit(callBarrier{cy.number})
	default:
		cy.openNext()
	}
}

// openNext commits the memory of the closed cycle and moves to the next one.
func (cy *cycles) openNext() {
	c := cy.core
	if c.life.abandoned {
		return
	}
	cy.committing = true // while this is set, no checkpoint may be taken after a panic
	c.tally.started += int64(c.in.started())
	c.memory.commit(cy.number)
	clear(cy.failed)
	c.reading.mark()
	cy.open, cy.closing = nil, false
	cy.number++
	c.tally.updateShared()
	c.memory.deliver()
	c.tally.atBarrier = engine.State{Limit: c.limit.set, Manual: c.cfg.Settings.Manual, Totals: c.tally.totals.Clone()}
	cy.committing = false
	if slices.Contains(c.cfg.Checkpoints, cy.number) {
		c.checkpoints.take("for forks", 0)
	}
}

// nextWave starts the next wave of the open cycle once the previous one has ended.
func (cy *cycles) nextWave() {
	p := cy.open
	if cy.workers > 0 || cy.closing {
		return
	}
	c := cy.core
	c.reading.mark()
	if p.wave == 0 || cy.released == p.size || c.in.Started < cy.released {
		return
	}
	wave := releaseSessions{count: min(cy.released+p.wave, p.size)}
	if cy.released > 0 {
		wave.waited = c.in.At.Sub(p.readyAt)
	}
	cy.released = wave.count
	c.in.Filled, cy.lastEnd = time.Time{}, c.in.At
	c.emit(wave)
}

// waitedUntil returns until when sessions of the open cycle have waited for a slot.
func (cy *cycles) waitedUntil() time.Time {
	n := &cy.core.in
	switch isOpen := cy.arriving.schedule != nil; {
	case isOpen && n.Started < cy.released:
		return n.At
	case !isOpen && n.Filled.IsZero() || n.Filled.After(n.At):
		return n.At
	}
	return n.Filled
}

// add records how a session ended.
func (cy *cycles) add(r *engine.SessionRow) {
	if len(cy.failed) > 0 {
		delete(cy.failed, r.Agent)
	}
	if r.Outcome == engine.Failed || r.Outcome == engine.TimedOut {
		cy.failed[r.Agent] = engine.EndOf(r)
	}
}

// removeWorkers counts the workers that have left.
func (cy *cycles) removeWorkers(b *Batch) {
	if b.Departed == 0 {
		return
	}
	cy.workers -= b.Departed
	cy.core.limit.probing -= b.Probes
	cy.core.life.proof.probed(b.Probes)
	if cy.workers == 0 {
		cy.idleSince = cy.core.in.At
	}
}

// worked returns the working time of the open cycle until a given time, without pauses.
func (cy *cycles) worked(until time.Time) time.Duration {
	return max(until.Sub(cy.startedAt)-cy.pausedTime, 0)
}

// idlePause returns how long the current pause has left the cycle without a session in flight.
func (cy *cycles) idlePause() time.Duration {
	at, haltedAt := cy.core.in.At, cy.core.limit.haltedAt
	switch {
	case haltedAt.IsZero() || cy.workers > 0:
		return 0
	case cy.idleSince.After(haltedAt):
		return at.Sub(cy.idleSince)
	}
	return at.Sub(haltedAt)
}

// nextBarrier returns the first cycle in which an order given now takes effect.
func (cy *cycles) nextBarrier() int {
	if cy.open == nil && len(cy.done) == 0 && len(cy.core.memory.prefixes) == 0 {
		return cy.number // none of its sessions has started
	}
	return cy.number + 1
}

// mayReach reports whether the run may reach a cycle.
func (cy *cycles) mayReach(cycle int) bool {
	n := cy.core.cfg.Settings.Cycles
	return n == 0 || cycle < n
}

// orderCommitted handles a manual order that became durable or failed. The order takes effect only now, so that the journal
// has it before its consequences.
func (cy *cycles) orderCommitted(t *ticket, err error) {
	cy.pendingOrders--
	switch {
	case err != nil:
	case t.kind == retireTicket && t.inFlight:
		cy.core.emit(cancelSession{t.place.Agent})
	case t.kind == requeueTicket:
		cy.requeued++
		cy.core.emit(requeueSession{t.place})
	}
}

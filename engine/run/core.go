package run

import (
	"maps"

	"github.com/throng-sim/throng/engine"
)

// core is the state machine of a run: phases, cycles, the limit, checkpoints and figures. It has no goroutine, clock or
// lock, and does no I/O. Step takes an event and returns effects, so the same events always lead to the same effects. A
// node carries out the effects. The files named core*.go hold the core, and a test checks that they stay pure.
type core struct {
	cfg Config // without anything that reaches outside; Settings are those in force
	ports

	in      input
	effects []effect
	crashed bool // the core panicked; from then on it only learns whether its last checkpoint is durable

	life        lifecycle
	limit       limiter
	cycles      cycles
	memory      memoryState
	roster      roster
	tally       tally
	checkpoints checkpoints
	stopwatch   stopwatch
	samples     sampling
	reading     readings
	quotas      quotas
	changes     changeLog
	manual      manual
}

// ports says which of the optional parts outside the core the node has.
type ports struct{ hasGovernor, hasServices, hasBarrier, countsWrites bool }

// pure returns the configuration without the parts that reach outside, and which of those parts are present.
func (c *Config) pure() (Config, ports) {
	has := ports{c.Governor != nil, len(c.Services) > 0, c.Barrier != nil, c.Probe.Writes != nil}
	p := *c
	p.Program, p.Journal, p.Recording, p.Governor, p.Services, p.Pool = nil, nil, nil, nil, nil, nil
	p.Probe, p.Ledger, p.Hooks = engine.Probe{}, nil, Hooks{}
	return p, has
}

// newCore returns the core of a run that this process begins or resumes at the time at. first holds the initial probe
// values.
func newCore(cfg Config, at input, first probes) *core {
	pure, has := cfg.pure()
	c := &core{cfg: pure, ports: has, in: at, effects: make([]effect, 0, 16)}
	c.life.core, c.limit.core, c.cycles.core, c.memory.core, c.tally.core = c, c, c, c, c
	c.checkpoints.core, c.stopwatch.core, c.samples.core, c.reading.core, c.quotas.core = c, c, c, c, c
	c.changes.core, c.manual.core, c.cycles.arriving.core = c, c, c
	s := &c.cfg.Settings
	c.roster = roster{s.Seed, cfg.Agents, cfg.Chosen, s.WarmUp, max(s.WarmUpCycles, 1), s.Sequential || cfg.Clock.Arrivals != nil, map[int]int{}, cfg.First}
	c.limit.set = s.Limit
	if m := cfg.Move; m != nil {
		c.limit.movedAt, c.limit.moveReason, c.limit.movedBy = m.At, m.Why, m.Who
	}
	c.memory.init()
	c.cycles.scheduleStart, c.cycles.lastEnd = at.At, at.At
	c.cycles.failed = map[int]engine.SessionEnd{}
	c.stopwatch.began, c.stopwatch.populationTook = at.At, cfg.PopulationTook
	c.stopwatch.epoch, c.stopwatch.lastSeen = at.At, clocksAt(at.At, at.At)
	c.checkpoints.at = at.At
	c.reading.since.at = at.At
	c.tally.atBarrier = engine.State{Limit: c.limit.set, Manual: s.Manual}
	if cfg.Resume != nil {
		c.resume(cfg.Resume)
	}
	c.tally.endedBefore = c.tally.totals.Ended()
	c.checkpoints.covers = c.progress()
	c.tally.planned = c.roster.total(s.Cycles)
	c.samples.start(at.At, &first)
	return c
}

// resume restores the state at the end of the journal.
func (c *core) resume(res *engine.Resumption) {
	c.cycles.number, c.cycles.first, c.cycles.done = res.Cycle, res.Cycle, res.Done
	maps.Copy(c.cycles.failed, res.Bad)
	maps.Copy(c.roster.retiredFrom, res.Retired)
	c.tally.resume(res)
	c.memory.resume(res)
	c.stopwatch.elapsed, c.stopwatch.populationTook = c.tally.totals.Peaks.Elapsed, c.stopwatch.populationTook+res.Writing
	c.checkpoints.count = res.Checkpoints
	c.samples.storedBefore, c.samples.window.shared = c.tally.totals.Peaks.Stored, c.tally.totals.Shared.Requests
}

// Step handles an event and returns the effects to carry out, in order. They are valid until the next call of Step.
func (c *core) Step(e event, at input) []effect {
	c.in, c.effects = at, c.effects[:0]
	if c.crashed {
		if w, ok := e.(rowWritten); ok && w.ticket.kind == checkpointTicket {
			w.ticket.checkpoint.done = true
		}
		return nil
	}
	c.handle(e)
	for c.life.phase != engine.Ended && c.advance() {
		continue
	}
	if c.life.phase != engine.Ended {
		c.limit.fillSlots()
	}
	return c.effects
}

func (c *core) emit(e effect) { c.effects = append(c.effects, e) }

// handle handles the event itself. advance then does what has become possible.
func (c *core) handle(e event) {
	switch e := e.(type) {
	case started:
		c.start(e.services)
	case finished:
		c.addBatch(e.batch)
	case rowSent:
		e.ticket.checkpoint.sent = true
	case rowWritten:
		c.written(&e.ticket, e.err)
	case journalTrouble:
		c.life.setTrouble(e.err)
	case expired:
		c.expired(e.timer)
	case ticked:
		c.samples.late.Tick = max(c.samples.late.Tick, e.late)
		c.stopwatch.detectGap()
		c.quotas.update(&e.services)
		c.life.updatePause()
		c.emit(publish{})
	case servicesRead:
		c.quotas.update(&e.services)
		c.emit(publish{})
	case sampled:
		c.stopwatch.detectGap()
		c.samples.oldest = e.probes.oldest
		if c.samples.close(&e.probes, false) {
			c.limit.askGovernor()
		}
	case steered:
		c.limit.apply(e.orders)
	case barrierCalled:
		c.cycles.openNext()
	case finalProbes:
		c.life.writeEnd(&e)
	case workersAbandoned:
		c.life.abandoned = true
	case changeNoted:
		c.changes.record(e.row)
	case claimRefused:
		c.life.endOutOfBudget(e.why)
	default:
		c.order(e)
	}
}

// order handles orders from people and programs. A run that is writing its end accepts only a few of them.
func (c *core) order(e event) {
	switch e := e.(type) {
	case stopOrder:
		c.life.stop(e.who, e.why)
	case shutdownOrder:
		c.life.shutDown(e.why)
	case cutOrder:
		c.life.cut(e.why)
	case suspended:
		c.stopwatch.removeGap(e.gap)
	case publishOrder:
		c.emit(publish{})
	case pauseOrder:
		c.life.pause(e.who, e.why)
	case resumeOrder:
		c.life.resume(e.who)
	case setOrder:
		c.limit.change(&e)
	case checkpointOrder:
		c.checkpoints.take(e.reason, e.answer)
	case retireOrder:
		c.reject(e.answer, c.manual.retire(&e))
	case requeueOrder:
		c.reject(e.answer, c.manual.requeue(&e))
	case injectOrder:
		c.reject(e.answer, c.manual.inject(&e))
	}
}

// reject answers an order that was rejected. Accepted orders are answered once they are durable.
func (c *core) reject(to answerID, err error) {
	if err != nil {
		c.emit(answer{to, err})
	}
}

// start journals that this process began or resumed the run.
func (c *core) start(o serviceReport) {
	res := c.cfg.Resume
	c.emit(writeRow{engine.StartRow{At: c.stopwatch.began, Cycle: c.cycles.number, Resumed: res != nil && !res.Unbegun}, ticket{kind: startTicket}})
	if why := c.cfg.Inexact; why != "" && c.tally.totals.Inexact == nil {
		since := engine.Inexact{Cycle: c.cycles.number, Why: why}
		c.tally.totals.InexactSince(since)
		c.append(engine.ChangeRow{At: c.stopwatch.began, Cycle: c.cycles.number, What: engine.ExactnessChange, Old: "exact", New: "inexact", Why: why, Inexact: &since})
	}
	for i := range c.cfg.PopulationCalls { // the cost of generating the population, before the run began
		row := engine.SharedRow{Key: engine.PopulationKey, Cycle: c.cycles.number, Record: &c.cfg.PopulationCalls[i]}
		if i == len(c.cfg.PopulationCalls)-1 {
			row.Took = c.cfg.PopulationTook
		}
		c.append(row)
	}
	c.quotas.update(&o)
	c.checkpoints.ifDue()
}

// written handles the ticket of a row that was queued or committed.
func (c *core) written(t *ticket, err error) {
	switch t.kind {
	case startTicket:
		c.cycles.startJournaled = true
	case barrierTicket:
		c.cycles.barrierCommitted(err)
	case checkpointTicket:
		c.checkpoints.committed(t.checkpoint, err)
	case retireTicket, requeueTicket, injectTicket:
		c.cycles.orderCommitted(t, err)
	case endTicket:
		c.life.end(err)
	case noTicket:
	}
	if t.answer != 0 {
		c.emit(answer{t.answer, err})
	}
}

// expired handles a timer that ran out.
func (c *core) expired(t timer) {
	switch t {
	case cycleTimer:
		c.stopwatch.detectGap() // advance then begins the cycle
	case arrivalTimer:
		c.stopwatch.detectGap()
		c.cycles.arriving.armed = false
	case checkpointTimer:
		c.stopwatch.detectGap()
		c.checkpoints.ifDue()
	case shutdownTimer:
		c.life.cut(c.life.exitReason)
	case endTimer:
		c.life.endTimedOut()
	case numTimers:
	}
}

// advance takes one step that has become possible. It reports whether another one may now be possible.
func (c *core) advance() bool {
	cy, l := &c.cycles, &c.life
	switch {
	case l.writingEnd:
		return false
	case l.abandoned:
		l.finish()
	case cy.open == nil && l.phase == engine.Draining:
		l.finish()
	case cy.open == nil:
		return cy.begin()
	case cy.remaining() == 0 && cy.workers == 0 && cy.pendingOrders == 0 && !l.isCut && !l.cutAlone:
		cy.close()
	case l.phase == engine.Draining && cy.workers == 0 && !cy.closing:
		l.finish()
	}
	return false
}

// addBatch counts the sessions and workers of a batch.
func (c *core) addBatch(b *Batch) {
	if c.life.abandoned {
		return // these sessions already count as cut
	}
	for i := range b.rows {
		c.tally.add(&b.rows[i])
		c.samples.add(&b.rows[i])
		c.cycles.add(&b.rows[i])
		c.memory.add(&b.rows[i])
	}
	c.reading.since.ended += int64(len(b.rows))
	if len(b.rows) > 0 {
		c.cycles.lastEnd = c.in.At
	}
	c.samples.recent.Add(int64(len(b.rows)))
	o := &c.tally.totals.Peaks.Overhead
	o.Queued += b.Queued
	o.Handed += b.Handed
	c.tally.cut += int64(b.Cut)
	c.cycles.removeWorkers(b)
	switch {
	case b.CutAlone != "":
		c.life.cutAlone = true
		c.life.endOutOfBudget(b.CutAlone) // unless the run was ending before
	case b.Cut > 0:
		c.life.cut("a session could not continue")
	}
	c.life.endHopeless()
}

// append journals a row.
func (c *core) append(row engine.Row) { c.emit(writeRow{row: row}) }

// progress identifies a point of the run. Two equal values mean that nothing happened in between.
type progress struct {
	cycle   int
	counted int64 // tally.counted, because a requeue lowers the number of ended sessions
}

func (c *core) progress() progress { return progress{c.cycles.number, c.tally.counted} }

// inFlight returns the number of sessions in flight. Abandoned sessions count as cut.
func (c *core) inFlight() int {
	if c.life.abandoned {
		return 0
	}
	return c.in.InFlight
}

// governed reports whether a governor moves the limit.
func (c *core) governed() bool { return c.hasGovernor && c.cfg.Settings.Governed() }

// agentName returns the display name of an agent.
func (c *core) agentName(agent int) string {
	n := engine.ErrorNote{Agent: agent, Count: 1}
	c.nameAgent(&n)
	return n.AgentName()
}

// nameAgent fills in the display name of the agent in a note.
func (c *core) nameAgent(n *engine.ErrorNote) {
	if c.cfg.Name == nil || n.Name != "" || n.Count == 0 {
		return
	}
	if id, err := c.cfg.Name(n.Agent); err == nil {
		n.Name = id
	}
}

// where returns the file and line that define a step, or "" if they are unknown.
func (c *core) where(step string) string {
	if c.cfg.Where == nil {
		return ""
	}
	return c.cfg.Where(step)
}

func deref[T any](v *T) (zero T) {
	if v == nil {
		return zero
	}
	return *v
}

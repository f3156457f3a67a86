package run

import (
	"fmt"
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
)

// process is one process of a run: the core, and a model of everything that a node connects to it.
type process struct {
	*simulation
	core *core
	at   time.Time
	res  *engine.Resumption

	workers   simWorkers
	inTransit []*Batch // delivered but not yet received by the core; batches of one worker stay in order
	cycle     simCycle

	backlog []writeRow
	writing *writeRow // waits until it is durable
	async   []event   // events from work outside the node
	pending []event
	timers  [numTimers]time.Time // zero means not set
	tick    time.Time
	ids     answerID

	limit         int // as ordered
	orders, steps int
	isCut         bool
	waitsEnded    bool // sessions in flight that wait for a service that does not answer are cut
	budgetUsedUp  bool // sessions in flight may be cut for the budget
	crashed       bool
	abandoned     bool
	counted       struct{ ended, cut, withdrawn int64 }
	endedBefore   int64
	begunAt       time.Time
	expect        expectations
	err           error
}

// simCycle is the open cycle that the workers share.
type simCycle struct {
	plan            *plan
	memory          *memoryState
	released        int
	started         int
	requeuedStarted int
	filled          time.Time
	requeued        []engine.Place
}

var simStart = time.Unix(1_900_000_000, 0).UTC()

func newProcess(s *simulation, res, fork *engine.Resumption) *process {
	p := &process{simulation: s, res: res, at: simStart.Add(time.Duration(s.processes) * time.Hour)}
	p.workers = &localWorkers{process: p, pools: make([]simPool, s.params.pools)}
	if s.params.fleet {
		p.workers = newSimFleet(p)
	}
	cfg := Config{
		ID: "simulated", Agents: s.params.agents, Chosen: s.params.chosen, Settings: s.settings(), Resume: res,
		Clock: engine.Clock{Start: simStart, Cycle: time.Hour, Arrivals: s.params.arrivals},
	}
	cfg.Settings.Limit = 1 + s.draw.IntN(12)
	if s.params.governed {
		cfg.Governor = simGovernor{}
	}
	if s.draw.IntN(3) == 0 {
		cfg.Barrier = func(int) {}
	}
	if fork != nil {
		cfg.First = fork.Cycle
	}
	p.limit = cfg.Settings.Limit
	p.orders = s.draw.IntN(12)
	p.core = newCore(cfg, p.look(), probes{})
	p.endedBefore = p.core.tally.endedBefore
	p.tick = p.at.Add(publishEvery)
	p.begunAt = p.at
	p.expect = expectations{unanswered: map[answerID]bool{}, covered: map[answerID]int64{}, firstRow: len(s.journal.rows), checkpointAt: p.at}
	return p
}

// simGovernor only shows that there is a governor. Its orders are drawn from the seed.
type simGovernor struct{}

func (simGovernor) Steer(engine.Reading) engine.Orders { return engine.Orders{} }
func (simGovernor) Use(engine.Steering) error          { return nil }
func (simGovernor) Reset()                             {}

func (p *process) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

func (p *process) look() input {
	g := p.workers.progress()
	n := input{At: p.at, InFlight: g.InFlight, Started: g.Started, Requeued: g.Requeued, Filled: g.Filled}
	if c := p.cycle.plan; c != nil && c.size == 0 {
		n.Filled = c.readyAt
	}
	return n
}

// step passes an event to the core and carries out the effects.
func (p *process) step(e event) {
	p.pending = append(p.pending[:0], e)
	for i := 0; i < len(p.pending) && p.err == nil; i++ {
		if p.trace != nil {
			p.trace("%v %T%+v", p.at.Sub(simStart), p.pending[i], short(p.pending[i]))
		}
		p.expectEvent(p.pending[i])
		for _, f := range p.core.Step(p.pending[i], p.look()) {
			if p.trace != nil {
				p.trace("    %T%+v", f, short(f))
			}
			p.expectEffect(f)
			p.carryOut(f)
		}
		p.check()
	}
}

func (p *process) carryOut(f effect) {
	switch f := f.(type) {
	case writeRow:
		p.backlog = append(p.backlog, f)
	case setLimit:
		p.workers.setLimit(f.limit)
	case startWorkers:
		n := f.count
		if p.faults.extraWorker && !f.probe {
			n++
		}
		p.workers.start(n, f.probe)
		if n := p.workers.progress().InFlight; !f.probe && (n > p.limit || p.core.life.phase != engine.Running) {
			p.fail("a worker starts as number %d in flight, at a limit of %d, while the run is %v", n, p.limit, p.core.life.phase)
		}
	case setTimer:
		p.timers[f.timer] = p.at.Add(max(f.after, time.Microsecond))
	case beginCycle:
		p.cycle = simCycle{plan: f.plan, memory: f.memory, released: f.plan.size}
		if f.plan.wave > 0 || f.plan.arrivals != nil {
			p.cycle.released = 0
		}
		p.workers.begin()
	case endCycle:
		p.workers.endCycle()
	case releaseSessions:
		p.cycle.released, p.cycle.filled = f.count, time.Time{}
		p.workers.release(f.count)
	case requeueSession:
		p.workers.requeue(f.place)
	case withdrawSession:
		p.counted.withdrawn++
	case cutSessions:
		p.isCut = true
		p.workers.cut()
	case endWaits:
		p.waitsEnded = true
	case cancelSession:
		p.workers.cancel(f.agent)
	case abandonWorkers:
		for len(p.inTransit) > 0 {
			p.pending = append(p.pending, p.deliver(0))
		}
		p.pending = append(p.pending, workersAbandoned{})
		p.abandoned = true
	case callBarrier:
		p.async = append(p.async, barrierCalled{})
	case readFinalProbes:
		p.pending = append(p.pending, finalProbes{})
	case readServices:
		p.pending = append(p.pending, servicesRead{})
	case askGovernor:
		p.pending = append(p.pending, steered{p.steer()})
	}
}

// deliver takes a delivered batch, which the core receives next.
func (p *process) deliver(i int) finished {
	b := p.inTransit[i]
	p.inTransit = slices.Delete(p.inTransit, i, i+1)
	if !p.abandoned { // the core must ignore later batches
		p.counted.ended += int64(len(b.rows))
		p.counted.cut += int64(b.Cut)
	}
	return finished{b}
}

// write lets the journal writer take the next row.
func (p *process) write() {
	w := p.backlog[0]
	p.backlog = p.backlog[1:]
	p.journal.add(w.row)
	if w.ticket.kind == checkpointTicket {
		p.step(rowSent{w.ticket}) // as the node does, before it receives anything else
	}
	switch {
	case w.ticket.kind == noTicket:
	case !w.ticket.needsCommit():
		p.async = append(p.async, rowWritten{ticket: w.ticket})
	default:
		p.writing = &w
	}
}

// completeWrite lets the writer continue if its row is durable or will never be.
func (p *process) completeWrite() bool {
	w := p.writing
	if w == nil {
		return false
	}
	var err error
	switch {
	case p.journal.damaged:
		err = engine.ErrDamaged
	case !p.journal.broken:
		p.journal.sync()
	case p.isCut && w.ticket.kind != endTicket:
		err = engine.ErrCut
	default:
		return false
	}
	p.writing = nil
	p.async = append(p.async, rowWritten{w.ticket, err})
	return true
}

// short returns an event or effect as one line of text.
func short(v any) any {
	switch v := v.(type) {
	case finished:
		return fmt.Sprintf(" %d rows, %d cut, %d departed", len(v.batch.rows), v.batch.Cut, v.batch.Departed)
	case writeRow:
		return fmt.Sprintf(" %T", v.row)
	case answer:
		return fmt.Sprintf(" %d: %v", v.to, v.err)
	case journalTrouble:
		return fmt.Sprintf(" %v", v.err)
	case rowSent:
		return fmt.Sprintf(" kind %d", v.ticket.kind)
	case rowWritten:
		return fmt.Sprintf(" kind %d %v: %v", v.ticket.kind, v.ticket.place, v.err)
	case beginCycle:
		return fmt.Sprintf(" %d of %d", v.plan.number, v.plan.size)
	case askGovernor, useSettings, setOrder, changedSettings, finalProbes, servicesRead, ticked, sampled, started, steered:
		return ""
	}
	return v
}

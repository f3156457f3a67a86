package run

import (
	"cmp"
	"context"
	"runtime/debug"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/clock"
	"github.com/throng-sim/throng/engine/internal/stopping"
)

const (
	// maxOldest is how many sessions in flight a snapshot lists.
	maxOldest = 20
	// crashTime limits the checkpoint after a panic.
	crashTime = 2 * time.Second
)

// node drives a run's core from one goroutine: it passes events to the core one by one and carries out the effects. It owns
// the timers, the probes, the services and the governor, and it starts workers. It never blocks. Slow work, such as
// committing rows or calling Config.Barrier, runs in other goroutines and comes back as an event.
type node struct {
	r    *Run
	cfg  Config
	core *core

	ctx       context.Context // of sessions and commits; canceled with ErrCut
	cut       context.CancelCauseFunc
	endWaits  func()          // of sessions for services that do not answer
	endCtx    context.Context // for committing the end row
	endCancel context.CancelFunc
	timers    timers

	pending    []event // events caused by the effects of the current step
	answers    map[answerID]chan<- error
	lastAnswer answerID        // the newest ID
	replies    []answer        // answers to send after the current step
	publish    bool            // publish a snapshot after the current step
	changes    []engine.Change // by the newest order

	backlog       []writeRow // rows for the journal writer, oldest first
	journalWriter chan outgoingRow

	sampled time.Time // the last sample
}

func newNode(ctx context.Context, r *Run, cfg Config) (_ *node, err error) {
	n := &node{r: r, cfg: cfg, answers: map[answerID]chan<- error{}, journalWriter: make(chan outgoingRow)}
	ctx = context.WithoutCancel(ctx)
	n.ctx, n.cut = context.WithCancelCause(ctx)
	n.ctx, n.endWaits = stopping.Context(n.ctx)
	n.endCtx, n.endCancel = context.WithCancel(ctx)
	r.ctx = n.ctx
	if r.pool, err = r.newPool(&cfg); err != nil {
		return nil, err
	}
	r.agentStates.started = func() int { return r.pool.Progress().Started }
	if res := cfg.Resume; res != nil {
		r.agentStates.resume(res)
		r.shared.resume(&res.Shared, res.State.Totals.Shared)
		n.restore(res.Tuned)
	}
	first := probes{writer: callOrZero(cfg.Probe.Writer), window: callOrZero(cfg.Probe.Window)}
	if cfg.Probe.Writes != nil {
		first.writes = new(cfg.Probe.Writes())
	}
	n.core = newCore(cfg, n.input(preciseNow()), first)
	n.shareMemory()
	r.pool.SetMemorySize(n.core.memory.bytes)
	r.latest.Store(n.core.snapshot(n.input(time.Now())))
	return n, nil
}

// input returns what the core reads in a step at a moment.
func (n *node) input(at time.Time) input {
	p := n.r.pool.Progress()
	return input{
		At: at, Started: p.Started, Requeued: p.Requeued, Filled: p.Filled, InFlight: p.InFlight,
		Ledger: n.r.ledger.State(), Shared: n.r.shared.spent(), Inexact: n.r.inexact.earliest(),
	}
}

// shareMemory shares the core's memory with the workers. It does not change until the open cycle closes.
func (n *node) shareMemory() {
	m := &n.core.memory
	n.r.memory, n.r.injected = m.committed, m.injected
}

func (n *node) run(forget func() bool) {
	r := n.r
	defer close(r.mail.done)
	defer r.pool.Close()
	defer r.alarm.Close()
	defer clock.Watch()()
	defer forget()
	go n.write()
	defer close(n.journalWriter)
	defer n.rescue()
	for i := range n.cfg.PopulationCalls {
		r.shared.add(&engine.SharedRow{Key: engine.PopulationKey, Cycle: n.core.cycles.number, Record: &n.cfg.PopulationCalls[i]})
	}
	publish, sample := time.NewTicker(publishEvery), time.NewTicker(n.core.samples.every())
	defer publish.Stop()
	defer sample.Stop()
	defer n.timers.stop()
	n.step(started{n.readServices()})
	for trouble := r.journal.Trouble(); n.core.life.phase != engine.Ended; {
		journalWriter, next := n.outgoing()
		select {
		case b := <-r.pool.Results():
			n.finished(b)
		case order := <-r.mail.orders:
			order(n)
		case e := <-r.mail.events:
			n.step(e)
		case journalWriter <- next:
			n.rowSent()
		case err := <-trouble:
			n.step(journalTrouble{err})
		case <-n.timers.expiry(cycleTimer):
			n.step(expired{cycleTimer})
		case <-n.timers.expiry(arrivalTimer):
			n.step(expired{arrivalTimer})
		case <-n.timers.expiry(checkpointTimer):
			n.step(expired{checkpointTimer})
		case <-n.timers.expiry(shutdownTimer):
			n.step(expired{shutdownTimer})
		case <-n.timers.expiry(endTimer):
			n.step(expired{endTimer})
		case at := <-publish.C:
			n.step(ticked{lateness(at), n.readServices()})
		case <-sample.C:
			n.sample(sample)
		}
	}
	n.cut(engine.ErrCut)
	n.endWaits()
	n.endCancel()
	n.shareMemory()
	r.result = n.core.life.result // the step that ended the run has published the last snapshot
}

// sample passes a sample to the core, which may change the interval of samples. It skips a tick right after a late one, because rates of a
// small part of an interval mean nothing.
func (n *node) sample(ticker *time.Ticker) {
	every := n.core.samples.every()
	if time.Since(n.sampled) < every/2 {
		return
	}
	n.sampled = time.Now()
	n.step(sampled{n.probe(n.r.Oldest(maxOldest))})
	if now := n.core.samples.every(); now != every {
		ticker.Reset(now)
	}
}

// lateness returns how late a tick arrived. After a gap it returns 0 because the delay has no meaning.
func lateness(meant time.Time) time.Duration {
	if late := time.Since(meant); late < minGap {
		return late
	}
	return 0
}

// step passes an event to the core, followed by the events that its effects cause immediately.
func (n *node) step(e event) {
	n.pending = append(n.pending[:0], e)
	for i := 0; i < len(n.pending); i++ {
		for _, f := range n.core.Step(n.pending[i], n.input(preciseNow())) {
			n.carryOut(f)
		}
	}
	clear(n.pending)
	if n.publish {
		n.publish = false
		n.r.latest.Store(n.core.snapshot(n.input(time.Now())))
	}
	for _, a := range n.replies {
		n.answers[a.to] <- a.err
		delete(n.answers, a.to)
	}
	n.replies = n.replies[:0]
}

// finished passes a batch to the core and then recycles it.
func (n *node) finished(b *Batch) {
	if n.core.life.abandoned {
		return // an abandoned worker may still hold it
	}
	n.step(n.accept(b))
	n.r.pool.Recycle(b)
}

// accept updates the ledger and the agent states from a batch.
func (n *node) accept(b *Batch) finished {
	n.r.ledger.Note(b.Unrecorded)
	if len(b.rows) > 0 {
		n.r.agentStates.record(b.rows)
	}
	return finished{b}
}

// answer returns a new ID whose answer is sent to the channel.
func (n *node) answer(to chan<- error) answerID {
	n.lastAnswer++
	n.answers[n.lastAnswer] = to
	return n.lastAnswer
}

// carryOut carries out an effect.
func (n *node) carryOut(f effect) {
	r := n.r
	switch f := f.(type) {
	case writeRow:
		n.enqueue(f)
	case publish:
		n.publish = true
	case setLimit:
		r.pool.SetLimit(f.limit)
	case startWorkers:
		r.pool.Start(f.count, f.probe)
	case setTimer:
		n.timers.set(f.timer, f.after)
	case answer:
		n.replies = append(n.replies, f)
	case useSettings:
		n.use(&f.settings)
	case changedSettings:
		n.changes = f.changes
	case cutSessions:
		n.cut(engine.ErrCut)
	case endWaits:
		n.endWaits()
	case cancelSession:
		r.pool.Cancel(f.agent, engine.ErrRetired)
	case abandonWorkers:
		n.abandonWorkers()
	case closeLedger:
		r.ledger.Close(f.of, f.why)
	case setMemorySize:
		r.pool.SetMemorySize(f.bytes)
	case callBarrier:
		n.background(func() { n.cfg.Barrier(f.cycle) }, barrierCalled{})
	case readServices:
		n.pending = append(n.pending, servicesRead{n.readServices()})
	case readFinalProbes:
		n.pending = append(n.pending, finalProbes{n.probe(nil), n.readServices()})
	case renewService:
		n.renew(f.name)
	case askGovernor:
		n.pending = append(n.pending, steered{n.cfg.Governor.Steer(f.reading)})
	case resetGovernor:
		if n.cfg.Governor != nil {
			n.cfg.Governor.Reset()
		}
	default:
		n.carryOutInCycle(f)
	}
}

// carryOutInCycle carries out an effect on the open cycle.
func (n *node) carryOutInCycle(f effect) {
	switch f := f.(type) {
	case beginCycle:
		n.shareMemory()
		n.r.pool.Begin(f.shard())
		n.r.agentStates.open(f.plan, f.retired)
	case releaseSessions:
		n.r.pool.Release(f.count, f.waited)
	case requeueSession:
		n.r.pool.Requeue(f.place)
	case withdrawSession:
		n.r.agentStates.requeue(f.agent)
	case holdCycle:
		n.r.pool.PauseClock(true)
	case releaseCycle:
		n.r.pool.PauseClock(false)
	case endCycle:
		n.r.pool.End()
	}
}

// use applies settings to the sessions that start from now on.
func (n *node) use(s *engine.Settings) {
	n.r.settings.Store(s)
	n.r.pool.Use(s)
}

// abandonWorkers counts the batches that have arrived, and then abandons the remaining workers.
func (n *node) abandonWorkers() {
	for _, b := range n.r.pool.Abandon() {
		n.pending = append(n.pending, n.accept(b))
	}
	n.pending = append(n.pending, workersAbandoned{})
}

// readServices returns the state of the services.
func (n *node) readServices() (o serviceReport) {
	if len(n.cfg.Services) == 0 {
		return o
	}
	at := time.Now()
	o.services = make([]engine.ServiceState, len(n.cfg.Services))
	for i, s := range n.cfg.Services {
		o.services[i] = s.State(at)
	}
	for _, s := range n.cfg.Services {
		o.changes = append(o.changes, s.Moves()...)
	}
	return o
}

// renew tells a service that a pause is over. An empty name means all services.
func (n *node) renew(name string) {
	at := time.Now()
	for _, s := range n.cfg.Services {
		if name == "" || s.State(at).Name == name {
			s.Renew()
		}
	}
}

// probe reads the values that come from outside the run.
func (n *node) probe(oldest []engine.Activity) probes {
	of := &n.cfg.Probe
	p := probes{writer: callOrZero(of.Writer), window: callOrZero(of.Window), oldest: oldest}
	if of.Host != nil {
		p.host = new(of.Host())
	}
	if of.Workers != nil {
		p.workers = of.Workers()
	}
	if of.Connections != nil {
		p.connections = new(of.Connections())
	}
	if of.Writes != nil {
		p.writes = new(of.Writes())
	}
	if of.Stored != nil {
		p.stored = new(of.Stored())
	}
	if of.Unsent != nil {
		p.unsent = new(of.Unsent())
	}
	return p
}

func callOrZero(of func() time.Duration) time.Duration {
	if of == nil {
		return 0
	}
	return of()
}

// rescue handles a panic. The node's goroutine defers it.
func (n *node) rescue() {
	if n.r.onPanic == nil {
		return
	}
	if p := recover(); p != nil {
		stack := debug.Stack()
		n.savePanicked()
		n.r.onPanic(p, stack)
		n.r.result = n.core.life.result
		n.r.result.Ending = engine.EndFailed
		n.r.result.Reason = cmp.Or(n.r.result.Reason, "Throng crashed")
	}
}

// savePanicked takes a checkpoint after a panic of the core or the node. It carries out only the effects that the journal
// needs.
func (n *node) savePanicked() {
	defer func() { _ = recover() }() // after a second panic there is nothing left to do
	n.pending = nil
	saved, effects := n.core.emergencyCheckpoint(n.input(preciseNow()))
	for _, f := range effects {
		if row, ok := f.(writeRow); ok {
			n.enqueue(row)
		}
	}
	if saved == nil {
		return
	}
	late := time.NewTimer(crashTime)
	defer late.Stop()
	for !saved.done {
		journalWriter, next := n.outgoing()
		select {
		case journalWriter <- next:
			n.pop()
		case order := <-n.r.mail.orders:
			order(n)
		case e := <-n.r.mail.events:
			n.step(e)
		case <-late.C:
			return
		}
	}
}

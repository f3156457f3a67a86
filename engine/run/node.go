package run

import (
	"cmp"
	"context"
	"runtime/debug"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/clock"
)

const (
	// mostOldest is how many sessions in flight a snapshot lists.
	mostOldest = 20
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
	endCtx    context.Context // for committing the end row
	endCancel context.CancelFunc
	timers    [numTimers]*time.Timer

	pending []event // events caused by the effects of the current step
	answers map[answerID]chan<- error
	asked   answerID        // the newest ID
	ready   []answer        // answers to send after the current step
	publish bool            // publish a snapshot after the current step
	changed []engine.Change // by the newest order

	backlog       []writeRow // rows for the journal writer, oldest first
	journalWriter chan note
}

func newNode(ctx context.Context, r *Run, cfg Config) (_ *node, err error) {
	n := &node{r: r, cfg: cfg, answers: map[answerID]chan<- error{}, journalWriter: make(chan note)}
	n.ctx, n.cut = context.WithCancelCause(context.WithoutCancel(ctx))
	n.endCtx, n.endCancel = context.WithCancel(context.WithoutCancel(ctx))
	r.ctx = n.ctx
	if r.pool, err = r.newPool(&cfg); err != nil {
		return nil, err
	}
	r.attendance.begun = func() int { return r.pool.Progress().Begun }
	for i := range n.timers {
		n.timers[i] = time.NewTimer(time.Hour)
		n.timers[i].Stop()
	}
	if res := cfg.Resume; res != nil {
		r.attendance.takeUp(res)
		r.shared.takeUp(&res.Shared, res.State.Totals.Shared)
		n.restore(res.Tuned)
	}
	first := probes{writer: grown(cfg.Probe.Writer), window: grown(cfg.Probe.Window)}
	if cfg.Probe.Writes != nil {
		first.writes = new(cfg.Probe.Writes())
	}
	n.core = newCore(cfg, n.look(moment()), first)
	n.lend()
	r.pool.Remember(n.core.recall.remembered)
	r.shown.Store(n.core.picture(n.look(time.Now())))
	return n, nil
}

// look returns the input for a step at a moment.
func (n *node) look(at time.Time) now {
	p := n.r.pool.Progress()
	return now{
		At: at, Begun: p.Begun, Again: p.Again, Filled: p.Filled, InFlight: p.InFlight,
		Books: n.r.ledger.State(), Asked: n.r.shared.figures(), Doubt: n.r.doubts.earliest(),
	}
}

// lend shares the core's memory with the workers. It does not change until the open cycle closes.
func (n *node) lend() {
	m := &n.core.recall
	n.r.memory, n.r.injected = m.memory, m.injected
}

func (n *node) run(forget func() bool) {
	r := n.r
	defer close(r.done)
	defer r.pool.Close()
	defer r.alarm.Close()
	defer clock.Watch()()
	defer forget()
	go n.write()
	defer close(n.journalWriter)
	defer n.rescue()
	for i := range n.cfg.Written {
		r.shared.settled(&engine.SharedRow{Key: engine.PopulationKey, Cycle: n.core.cycles.number, Record: &n.cfg.Written[i]})
	}
	publish, sample := time.NewTicker(publishEvery), time.NewTicker(sampleEvery)
	defer publish.Stop()
	defer sample.Stop()
	for _, t := range n.timers {
		defer t.Stop()
	}
	n.step(begun{n.outside()})
	for trouble := r.journal.Trouble(); n.core.life.phase != engine.Ended; {
		journalWriter, next := n.outgoing()
		select {
		case b := <-r.pool.Results():
			n.finished(b)
		case order := <-r.orders:
			order(n)
		case journalWriter <- next:
			n.sent()
		case err := <-trouble:
			n.step(troubled{err})
		case <-n.timers[cycleTimer].C:
			n.step(expired{cycleTimer})
		case <-n.timers[checkpointTimer].C:
			n.step(expired{checkpointTimer})
		case <-n.timers[hurryTimer].C:
			n.step(expired{hurryTimer})
		case <-n.timers[lastTimer].C:
			n.step(expired{lastTimer})
		case at := <-publish.C:
			n.step(ticked{lateness(at), n.outside()})
		case <-sample.C:
			n.step(sampled{n.probe(r.Oldest(mostOldest))})
		}
	}
	n.cut(engine.ErrCut)
	n.endCancel()
	n.lend()
	r.result = n.core.life.result
	r.shown.Store(n.core.picture(n.look(time.Now())))
}

// lateness returns how late a tick arrived. After a gap it returns 0 because the delay has no meaning.
func lateness(meant time.Time) time.Duration {
	if late := time.Since(meant); late < leastGap {
		return late
	}
	return 0
}

// step passes an event to the core, followed by the events that its effects cause immediately.
func (n *node) step(e event) {
	n.pending = append(n.pending[:0], e)
	for i := 0; i < len(n.pending); i++ {
		for _, f := range n.core.Step(n.pending[i], n.look(moment())) {
			n.carryOut(f)
		}
	}
	clear(n.pending)
	if n.publish {
		n.publish = false
		n.r.shown.Store(n.core.picture(n.look(time.Now())))
	}
	for _, a := range n.ready {
		n.answers[a.to] <- a.err
		delete(n.answers, a.to)
	}
	n.ready = n.ready[:0]
}

// finished passes a batch to the core and then recycles it.
func (n *node) finished(b *Batch) {
	if n.core.life.abandoned {
		return // an abandoned worker may still hold it
	}
	n.step(n.arrived(b))
	n.r.pool.Recycle(b)
}

// arrived updates the ledger and the agent states from a batch.
func (n *node) arrived(b *Batch) finished {
	n.r.ledger.Note(b.beside)
	if len(b.rows) > 0 {
		n.r.attendance.take(b.rows)
	}
	return finished{b}
}

// answer returns a new ID whose answer is sent to the channel.
func (n *node) answer(to chan<- error) answerID {
	n.asked++
	n.answers[n.asked] = to
	return n.asked
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
		n.timers[f.timer].Reset(f.after)
	case answer:
		n.ready = append(n.ready, f)
	case useSettings:
		n.use(&f.settings)
	case changedSettings:
		n.changed = f.changes
	case cutSessions:
		n.cut(engine.ErrCut)
	case cancelSession:
		r.pool.Retire(f.agent)
	case leaveBehind:
		n.leaveBehind()
	case closeLedger:
		r.ledger.Close(f.of, f.why)
	case remember:
		r.pool.Remember(f.bytes)
	case passBarrier:
		n.aside(func() { n.cfg.Barrier(f.cycle) }, barrierPassed{})
	case askServices:
		n.pending = append(n.pending, asked{n.outside()})
	case lookOnceMore:
		n.pending = append(n.pending, lastLook{n.probe(nil), n.outside()})
	case renewService:
		n.renew(f.name)
	case askGovernor:
		n.pending = append(n.pending, steered{n.cfg.Governor.Steer(f.reading)})
	case resetSteer:
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
		n.lend()
		n.r.pool.Begin(f.shard())
		n.r.attendance.open(f.plan, f.retired)
	case releaseWave:
		n.r.pool.Release(f.waited)
	case makeAgain:
		n.r.pool.Again(f.place)
	case withdrawSession:
		n.r.attendance.again(f.agent)
	case holdCycle:
		n.r.pool.Hold(true)
	case releaseCycle:
		n.r.pool.Hold(false)
	case endCycle:
		n.r.pool.End()
	}
}

// use applies settings to the sessions that start from now on.
func (n *node) use(s *engine.Settings) {
	n.r.settings.Store(s)
	n.r.pool.Use(s)
}

// leaveBehind counts the batches that have arrived, and then abandons the remaining workers.
func (n *node) leaveBehind() {
	for _, b := range n.r.pool.Abandon() {
		n.pending = append(n.pending, n.arrived(b))
	}
	n.pending = append(n.pending, leftBehind{})
}

// outside returns the state of the services.
func (n *node) outside() (o outsideState) {
	if len(n.cfg.Services) == 0 {
		return o
	}
	at := time.Now()
	o.services = make([]engine.ServiceState, len(n.cfg.Services))
	for i, s := range n.cfg.Services {
		o.services[i] = s.State(at)
	}
	for _, s := range n.cfg.Services {
		o.moves = append(o.moves, s.Moves()...)
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
func (n *node) probe(oldest []engine.Doing) probes {
	of := &n.cfg.Probe
	p := probes{writer: grown(of.Writer), window: grown(of.Window), oldest: oldest}
	if of.Host != nil {
		p.host = new(of.Host())
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

func grown(of func() time.Duration) time.Duration {
	if of == nil {
		return 0
	}
	return of()
}

// rescue handles a panic. The node's goroutine defers it.
func (n *node) rescue() {
	if n.r.crashed == nil {
		return
	}
	if p := recover(); p != nil {
		stack := debug.Stack()
		n.savePanicked()
		n.r.crashed(p, stack)
		n.r.result = n.core.life.result
		n.r.result.Ending = engine.EndFailed
		n.r.result.Reason = cmp.Or(n.r.result.Reason, "a mistake in Throng itself")
	}
}

// savePanicked takes a checkpoint after a panic of the core or the node. It carries out only the effects that the journal
// needs.
func (n *node) savePanicked() {
	defer func() { _ = recover() }() // after a second panic there is nothing left to do
	n.pending = nil
	saved, effects := n.core.emergency(n.look(moment()))
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
	for !saved.settled {
		journalWriter, next := n.outgoing()
		select {
		case journalWriter <- next:
			n.pop()
		case order := <-n.r.orders:
			order(n)
		case <-late.C:
			return
		}
	}
}

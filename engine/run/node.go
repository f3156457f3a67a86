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
	// crashTime is how long what is done after a panic may take.
	crashTime = 2 * time.Second
)

// node carries a run's core: one goroutine that hands it events one by one and carries out its effects. It has the timers,
// the probes, the services and the governor, and what starts workers. Nothing in it waits: what takes long (rows that must
// be durable, a Barrier function) happens beside it and comes back as an event.
type node struct {
	r    *Run
	cfg  Config
	core *core

	ctx       context.Context // of sessions and commits; ends with ErrCut
	cut       context.CancelCauseFunc
	endCtx    context.Context // of the wait for the run's end to be durable
	endCancel context.CancelFunc
	timers    [numTimers]*time.Timer

	pending []event // that effects of the step under way led to
	answers map[answerID]chan<- error
	asked   answerID        // the newest
	ready   []answer        // of the step under way
	publish bool            // the step under way shows the run
	changed []engine.Change // by the newest order

	backlog       []writeRow // for the journal writer, oldest first
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

// look reads what the core is to know of a moment.
func (n *node) look(at time.Time) now {
	p := n.r.pool.Progress()
	return now{
		At: at, Begun: p.Begun, Again: p.Again, Filled: p.Filled, InFlight: p.InFlight,
		Books: n.r.ledger.State(), Asked: n.r.shared.figures(), Doubt: n.r.doubts.earliest(),
	}
}

// lend has workers see what the core recalls; until the open cycle closes it does not change.
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

// lateness is how late a tick came that was meant for a time; after a gap it says nothing.
func lateness(meant time.Time) time.Duration {
	if late := time.Since(meant); late < leastGap {
		return late
	}
	return 0
}

// step hands the core an event, and those that its effects lead to at once.
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

// finished hands on a batch, and takes it back for workers to fill.
func (n *node) finished(b *Batch) {
	if n.core.life.abandoned {
		return // its workers may still hold it
	}
	n.step(n.arrived(b))
	n.r.pool.Recycle(b)
}

// arrived shows how sessions have ended.
func (n *node) arrived(b *Batch) finished {
	n.r.ledger.Note(b.beside)
	if len(b.rows) > 0 {
		n.r.attendance.take(b.rows)
	}
	return finished{b}
}

// answer makes an id whose answer goes to a caller.
func (n *node) answer(to chan<- error) answerID {
	n.asked++
	n.answers[n.asked] = to
	return n.asked
}

// carryOut does what the core wants.
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

// carryOutInCycle does what the core wants of the open cycle.
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

// use puts settings in force, for sessions that begin from now on.
func (n *node) use(s *engine.Settings) {
	n.r.settings.Store(s)
	n.r.pool.Use(s)
}

// leaveBehind takes in what has arrived, which still counts, and then waits for no worker any more.
func (n *node) leaveBehind() {
	for _, b := range n.r.pool.Abandon() {
		n.pending = append(n.pending, n.arrived(b))
	}
	n.pending = append(n.pending, leftBehind{})
}

// outside asks the services how they are doing.
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

// renew tells a service, or with "" all, that a pause is over.
func (n *node) renew(name string) {
	at := time.Now()
	for _, s := range n.cfg.Services {
		if name == "" || s.State(at).Name == name {
			s.Renew()
		}
	}
}

// probe reads what the run cannot know of itself.
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

// rescue is deferred by the node's goroutine.
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

// savePanicked takes a checkpoint after the core or the node has panicked. For that it only carries out what the journal
// needs, and what comes back from it.
func (n *node) savePanicked() {
	defer func() { _ = recover() }() // once more: nothing more can be done
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

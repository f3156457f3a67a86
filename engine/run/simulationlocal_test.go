package run

import (
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
)

// simWorkers executes the sessions of a simulated process.
type simWorkers interface {
	simWorkersCycle
	simWorkersView
	start(workers int, probe bool)
	setLimit(limit int)
	cancel(agent int)
	cut()
	act() bool               // lets something happen, if anything can
	next() (time.Time, bool) // returns when something happens next if nothing can now
	removeObstacles()        // removes all that would keep the run from ending
	check()
}

// simWorkersCycle opens and closes cycles.
type simWorkersCycle interface {
	begin()
	release(count int)
	requeue(place engine.Place)
	endCycle()
}

// simWorkersView says how far the sessions are.
type simWorkersView interface {
	progress() Progress
	started() int64         // sessions of this process so far
	busy() int              // sessions in flight that may count
	holds(agent int) bool   // the agent has such a session
	probes() int            // in flight
	delivers(batch int) int // returns the first batch in transit that may be delivered before another one
}

// localWorkers executes sessions in pools of this process. A lower share of the limit takes effect immediately.
type localWorkers struct {
	*process
	pools []simPool
	all   []*simWorker
	count int64 // sessions that have started
}

// simPool is a pool of workers with its share of the limit.
type simPool struct{ limit, inFlight int }

type simWorker struct {
	pool   int
	probe  bool
	place  engine.Place
	row    engine.SessionRow
	batch  *Batch
	cancel bool
	hangs  bool // it ignores a cut
}

func (p *localWorkers) begin()                  {}
func (p *localWorkers) release(int)             {}
func (p *localWorkers) endCycle()               {}
func (p *localWorkers) cut()                    {}
func (p *localWorkers) removeObstacles()        {}
func (p *localWorkers) check()                  {}
func (p *localWorkers) started() int64          { return p.count }
func (p *localWorkers) busy() int               { return len(p.all) }
func (p *localWorkers) next() (time.Time, bool) { return time.Time{}, false }

func (p *localWorkers) progress() Progress {
	g := Progress{Started: p.cycle.started, Requeued: p.cycle.requeuedStarted, Filled: p.cycle.filled}
	for i := range p.pools {
		g.InFlight += p.pools[i].inFlight
	}
	return g
}

func (p *localWorkers) requeue(place engine.Place) {
	p.cycle.requeued = append(p.cycle.requeued, place)
}

func (p *localWorkers) cancel(agent int) {
	for _, w := range p.all {
		w.cancel = w.cancel || w.place.Agent == agent
	}
}

func (p *localWorkers) holds(agent int) bool {
	return slices.ContainsFunc(p.all, func(w *simWorker) bool { return w.place.Agent == agent })
}

func (p *localWorkers) probes() (n int) {
	for _, w := range p.all {
		if w.probe {
			n++
		}
	}
	return n
}

// delivers keeps the batches of one worker in order. The worker does not matter otherwise.
func (p *localWorkers) delivers(batch int) int {
	if p.inTransit[batch].Departed > 0 { // behind everything its worker delivered
		return 0
	}
	return batch
}

// act ends a session.
func (p *localWorkers) act() bool {
	if len(p.all) == 0 {
		return false
	}
	w := p.all[p.draw.IntN(len(p.all))]
	if p.isCut && w.hangs && !p.abandoned {
		return false
	}
	p.end(w)
	return true
}

func (p *localWorkers) start(workers int, probe bool) {
	for range workers {
		p.startWorker(probe)
	}
}

// setLimit divides the limit among the pools.
func (p *localWorkers) setLimit(limit int) {
	for i := range p.pools {
		p.pools[i].limit = limit / len(p.pools)
		if i < limit%len(p.pools) {
			p.pools[i].limit++
		}
	}
}

// startWorker starts a worker in a pool that has a free slot.
func (p *localWorkers) startWorker(probe bool) {
	at := max(slices.IndexFunc(p.pools, func(pool simPool) bool { return pool.inFlight < pool.limit }), 0)
	p.pools[at].inFlight++
	w := &simWorker{pool: at, probe: probe, hangs: p.draw.IntN(8) == 0}
	p.all = append(p.all, w)
	p.proceed(w)
}

// proceed lets a worker start its next session, or leave.
func (p *localWorkers) proceed(w *simWorker) {
	pool, c := &p.pools[w.pool], &p.cycle
	kept := w.probe || pool.inFlight <= pool.limit
	w.place = engine.Place{Agent: -1}
	switch {
	case !kept:
	case c.started < c.released:
		w.place = engine.Place{Cycle: c.plan.number, Agent: c.started}
		if c.plan.todo != nil {
			w.place.Agent = int(c.plan.todo[c.started])
		}
		w.place.Take = c.memory.takes[w.place.Agent]
		if c.started++; c.started == c.released {
			c.filled = p.at
		}
	case len(c.requeued) > 0:
		w.place, c.requeued = c.requeued[0], c.requeued[1:]
		c.requeuedStarted++
	}
	if w.place.Agent < 0 {
		p.removeWorker(w)
		return
	}
	p.count++
	w.cancel = false
	p.session(&w.row, w.place, c.memory.committed.Of(w.place.Agent), c.memory.injected)
}

// removeWorker delivers a worker's batch and removes the worker.
func (p *localWorkers) removeWorker(w *simWorker) {
	p.pools[w.pool].inFlight--
	p.all = slices.DeleteFunc(p.all, func(o *simWorker) bool { return o == w })
	b := w.currentBatch()
	b.Departed = 1
	if w.probe {
		b.Probes = 1
	}
	p.deliverBatch(w)
}

func (w *simWorker) currentBatch() *Batch {
	if w.batch == nil {
		w.batch = &Batch{}
	}
	return w.batch
}

// deliverBatch journals a worker's finished sessions and delivers them.
func (p *localWorkers) deliverBatch(w *simWorker) {
	b := w.batch
	w.batch = nil
	if len(b.rows) > 0 && !p.abandoned {
		p.journal.add(b.rows)
	}
	p.inTransit = append(p.inTransit, b)
}

// end ends a worker's session.
func (p *localWorkers) end(w *simWorker) {
	b := w.currentBatch()
	switch {
	case p.isCut:
		b.Cut++
	case p.budgetUsedUp && p.draw.IntN(2) == 0:
		b.Cut++
		b.CutAlone = budgetReason
		p.removeWorker(w)
		return
	case p.waitsEnded && p.draw.IntN(4) == 0:
		b.Cut++
		b.CutAlone = "a service does not answer"
		p.removeWorker(w)
		return
	case w.cancel:
		w.row.Outcome, w.row.Class, w.row.Delta = engine.Canceled, engine.NoError, engine.Delta{}
		b.add(&w.row)
	default:
		b.add(&w.row)
	}
	if w.probe {
		p.removeWorker(w)
		return
	}
	if len(b.rows) > 3 || p.draw.IntN(2) == 0 {
		p.deliverBatch(w)
	}
	p.proceed(w)
}

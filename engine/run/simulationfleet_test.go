package run

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/memories"
	"github.com/throng-sim/throng/engine/run/shards"
)

// simFleet executes the sessions of a process on simulated workers, as package fleet does: it is the coordinator, and drives the
// book of package shards.
type simFleet struct {
	*process
	draw     *rand.Rand
	book     *shards.Book
	net      simNetwork
	queue    simQueue
	nodes    []*simNode
	sessions uint64 // of workers
	versions uint64 // of orders
	dirty    []*simNode
	limit    int
	open     bool
	takes    map[int]int
	deltas   map[int]engine.Delta // of ended sessions
	canceled []simCanceled
	filled   time.Time
	troubles int // how many are left
	healed   time.Time
	ledger   simLedger
}

// simLedger is what a fleet knows without its book.
type simLedger struct {
	left     map[int]bool     // agents of released sessions that have not ended
	owners   map[int]simOwner // by agent
	ended    int64            // sessions that ended or were cut
	slots    int              // started and not departed, with probes
	probes   int              // of those
	inFlight int              // the most sessions that the workers may have had in flight before
}

type simOwner struct {
	client *simClient
	lease  shards.Lease
}

type simCanceled struct{ cycle, agent int }

// simClient is a worker as the coordinator sees it. It is nil while the worker takes no part in the run.
type simClient struct {
	session uint64
	joined  bool
	drains  bool
	recalls uint64
	recall  int
	stale   []shards.Lease
	probed  int
	next    uint64
	replies map[uint64]*simReply
	stash   map[uint64]simStashed
	claimed simClaim
	granted simGrant
}

type simStashed struct {
	packet *simPacket
	answer func(simReply)
}

// simOrder is what a worker should do.
type simOrder struct {
	number, session, version, recalls uint64
	limit, probes, recall             int
	canceled                          []simCanceled
	cut, drains                       bool
}

type simClaim struct {
	session, number uint64
	ticket          shards.Ticket
	count           uint64
}

type simGrant struct {
	refused bool
	lease   shards.Lease
	cycle   int
	tasks   []simTask
	before  *memories.Table // in a sequential run
	deltas  map[int]engine.Delta
}

type simReply struct {
	refused bool
	stale   []shards.Lease
}

func newSimFleet(p *process) *simFleet {
	d := rand.New(rand.NewPCG(p.seed, uint64(100+p.processes)))
	f := &simFleet{process: p, draw: d, book: shards.New(p.params.agents), troubles: d.IntN(12)}
	f.ledger = simLedger{left: map[int]bool{}, owners: map[int]simOwner{}}
	f.net = simNetwork{delay: time.Duration(1+d.IntN(10)) * time.Millisecond, lost: d.IntN(3) * 5, twice: d.IntN(3) * 5, early: d.IntN(3) * 15}
	for i := range 1 + d.IntN(5) {
		n := &simNode{fleet: f, name: fmt.Sprint("w", i), cores: 1 + d.IntN(3)}
		f.nodes = append(f.nodes, n)
		if i == 0 || d.IntN(4) > 0 {
			f.after(f.delay(), n.boot)
		}
	}
	f.after(simBeat/5, f.watch)
	return f
}

func (f *simFleet) log(format string, args ...any) {
	if f.trace != nil {
		f.trace("        %v "+format, append([]any{f.at.Sub(simStart)}, args...)...)
	}
}

// settleBook carries out the effects of the book.
func (f *simFleet) settleBook() {
	f.perform(f.book.Effects())
	g := f.book.Progress()
	switch full := g.Started >= g.Released; {
	case !full:
		f.filled = time.Time{}
	case f.filled.IsZero():
		f.filled = f.at
	}
	for _, n := range f.dirty {
		f.sendOrder(n)
	}
	f.dirty = f.dirty[:0]
	f.checkLimit()
}

func (f *simFleet) perform(effects []shards.Effect) {
	for _, e := range effects {
		f.log("%T%+v", e, e)
		switch e := e.(type) {
		case shards.Offer:
			f.queue.tickets = append(f.queue.tickets, &simTicket{Ticket: e.Ticket, to: e.To})
			f.after(f.delay(), f.match)
		case shards.Withdraw:
			f.queue.withdraw(e.Ticket)
		case shards.Share:
			f.markDirty(f.node(e.Worker))
		case shards.Recall:
			n := f.node(e.Worker)
			n.client.recalls++
			n.client.recall = e.Count
			f.markDirty(n)
		case shards.Lost:
			if c := f.node(e.Worker).client; c != nil {
				c.stale = append(c.stale, e.Lease)
			}
			f.disown(e.Lease)
		case shards.Depart:
			if f.abandoned { // those slots count as cut
				continue
			}
			f.ledger.slots -= e.Slots
			f.ledger.probes -= e.Probes
			f.inTransit = append(f.inTransit, NewBatch(nil, BatchCounts{Departed: e.Slots, Probes: e.Probes}))
		}
	}
}

func (f *simFleet) node(name string) *simNode {
	return f.nodes[slices.IndexFunc(f.nodes, func(n *simNode) bool { return n.name == name })]
}

// disown ends the ownership of the sessions of a lease.
func (f *simFleet) disown(l shards.Lease) {
	maps.DeleteFunc(f.ledger.owners, func(_ int, o simOwner) bool { return o.lease == l })
}

func (f *simFleet) markDirty(n *simNode) {
	if n.client != nil && !slices.Contains(f.dirty, n) {
		f.dirty = append(f.dirty, n)
	}
}

func (f *simFleet) allDirty() {
	for _, n := range f.nodes {
		f.markDirty(n)
	}
}

// sendOrder sends the newest order to a worker.
func (f *simFleet) sendOrder(n *simNode) {
	c := n.client
	if c == nil {
		return
	}
	f.versions++
	o := &simOrder{
		number: f.versions, session: c.session, probes: c.probed + f.book.Probes(n.name), recalls: c.recalls, recall: c.recall,
		canceled: slices.Clone(f.canceled), cut: f.isCut, drains: c.drains,
	}
	o.limit, o.version = f.book.Share(n.name)
	n.newest, n.sent = o, append(n.sent, o)
	f.pushOrder(n, o)
}

// pushOrder delivers an order, unless the worker has a newer one.
func (f *simFleet) pushOrder(n *simNode, o *simOrder) {
	life := n.life
	f.after(f.delay(), func() {
		switch {
		case n.life != life || !n.up:
		case n.parted || f.draw.IntN(100) < f.net.lost:
			f.after(2*simRetry, func() {
				if n.life == life && n.newest.number > n.seen {
					f.pushOrder(n, n.newest)
				}
			})
		default:
			n.run(func() { n.receive(o) })
		}
	})
}

func (f *simFleet) begin() {
	c := &f.cycle
	f.open, f.filled, f.canceled = true, time.Time{}, nil
	f.takes, f.deltas = map[int]int{}, map[int]engine.Delta{}
	maps.Copy(f.takes, c.memory.takes)
	maps.Copy(f.deltas, c.memory.deltas.Map())
	clear(f.ledger.left)
	clear(f.ledger.owners)
	for _, n := range f.nodes {
		if n.client != nil {
			n.client.stale = nil
		}
	}
	held := c.plan.wave > 0 || c.plan.arrivals != nil
	f.book.Begin(shards.Cycle{Todo: c.plan.todo, Size: c.plan.size, Held: held, Whole: f.params.sequential, Sticky: c.memory.committed.Len() > 0})
	if !held {
		f.expectSessions(0, c.plan.size)
	}
	f.allDirty()
	f.settleBook()
}

// expectSessions notes the sessions that may start.
func (f *simFleet) expectSessions(from, upTo int) {
	for i := from; i < upTo; i++ {
		agent := i
		if todo := f.cycle.plan.todo; todo != nil {
			agent = int(todo[i])
		}
		f.ledger.left[agent] = true
	}
}

func (f *simFleet) release(count int) {
	f.filled = time.Time{}
	f.expectSessions(f.book.Progress().Released-f.book.Progress().Requeued, count)
	f.book.Release(count)
	f.settleBook()
}

func (f *simFleet) requeue(place engine.Place) {
	f.takes[place.Agent] = place.Take
	f.ledger.left[place.Agent] = true
	f.book.Requeue(place.Agent)
	f.settleBook()
}

func (f *simFleet) endCycle() {
	f.open = false
	f.book.End()
	f.allDirty()
	f.settleBook()
}

func (f *simFleet) setLimit(limit int) {
	f.limit = limit
	f.book.SetLimit(limit)
	if f.faults.raiseEarly {
		for _, n := range f.nodes {
			_, version := f.book.Share(n.name)
			f.book.Report(n.name, shards.Report{Version: version})
		}
	}
	f.settleBook()
}

func (f *simFleet) start(workers int, probe bool) {
	f.ledger.slots += workers
	if probe {
		f.ledger.probes += workers
	}
	f.book.Start(workers, probe)
	f.settleBook()
}

func (f *simFleet) cancel(agent int) {
	f.canceled = append(f.canceled, simCanceled{f.cycle.plan.number, agent})
	f.allDirty()
	f.settleBook()
}

func (f *simFleet) cut() {
	f.book.Stop()
	f.allDirty()
	f.settleBook()
}

func (f *simFleet) progress() Progress {
	g := f.book.Progress()
	result := Progress{Started: g.Started, InFlight: g.Slots, Filled: f.filled}
	if size := g.Released - g.Requeued; g.Started > size {
		result.Started, result.Requeued = size, g.Started-size
	}
	if c := f.cycle.plan; c != nil && c.arrivals != nil && g.Released == 0 {
		result.Filled = c.readyAt
	}
	return result
}

func (f *simFleet) started() int64 {
	return f.ledger.ended + int64(min(f.ledger.slots, len(f.ledger.left)))
}

func (f *simFleet) busy() (n int) {
	for _, t := range f.running() {
		if f.counts(t) {
			n++
		}
	}
	return n
}

// counts reports whether a session in flight counts when it ends.
func (f *simFleet) counts(t *simTask) bool {
	o, ok := f.ledger.owners[t.place.Agent]
	return ok && !t.lease.dead && o.lease == t.lease.Lease && f.open
}

func (f *simFleet) holds(agent int) bool {
	return slices.ContainsFunc(f.running(), func(t *simTask) bool { return t.place.Agent == agent && f.counts(t) })
}

func (f *simFleet) probes() int { return f.ledger.probes }

// delivers keeps all batches in order.
func (f *simFleet) delivers(int) int { return 0 }

// running returns the sessions in flight.
func (f *simFleet) running() (all []*simTask) {
	for _, n := range f.nodes {
		if n.up && n.job != nil {
			all = append(all, n.job.running...)
		}
	}
	return all
}

// act delivers a message, or ends a session.
func (f *simFleet) act() bool {
	if f.abandoned {
		return false
	}
	if f.troubles > 0 && f.draw.IntN(40) == 0 {
		f.troubles--
		f.trouble()
		return true
	}
	due := len(f.net.events) > 0 && !f.net.events[0].at.After(f.at)
	if due && f.draw.IntN(3) > 0 {
		return f.happen()
	}
	if all := f.running(); len(all) > 0 {
		if t := all[f.draw.IntN(len(all))]; t.mayEnd() {
			t.job.end(t)
			f.checkLimit()
			return true
		}
	}
	return due && f.happen()
}

func (f *simFleet) happen() bool {
	e := f.net.events[0]
	f.net.events = slices.Delete(f.net.events, 0, 1)
	e.do()
	f.checkLimit()
	return true
}

func (f *simFleet) next() (at time.Time, ok bool) {
	if len(f.net.events) == 0 || f.abandoned {
		return at, false
	}
	return f.net.events[0].at, true
}

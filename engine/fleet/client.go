package fleet

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run/shards"
	"github.com/throng-sim/throng/engine/service/lending"
	"github.com/throng-sim/throng/engine/workers"
)

// client is a worker in the run, as the coordinator sees it.
type client struct {
	session uint64
	joined  bool
	drains  bool
	lent    lending.Lent // when it joined
	part    Part
	recall  recall
	stale   []shards.Lease // lost, and not yet told
	probed  int            // probes that it has executed
	report  report
	status  status
	ended   int64
	pace    pace

	next    uint64                   // number of the next packet
	first   uint64                   // number of the oldest packet without a reply, as far as the worker has said
	replies map[uint64]*packetState  // from that packet on
	stash   map[uint64]pendingPacket // that arrived before their turn
	calls   map[uint64]*callState
	oldest  uint64 // call that has no answer yet, as far as the worker has said
	claimed claim  // the newest
	granted []byte // its answer

	has     map[int]kept // memory that it has, by agent
	account account
}

// kept is the version of an agent's memory that a worker has. Both ends forget it if the agent had no session there for a cycle.
type kept struct {
	memory *engine.Memory
	cycle  int
}

type pendingPacket struct {
	packet
	answer func([]byte)
}

// packetState is a packet that has arrived. Its reply follows once its rows are durable.
type packetState struct {
	reply  []byte       // nil while it is not known
	answer func([]byte) // of the newest copy, while the reply is not known
}

// callState is a call that has arrived.
type callState struct {
	packetState
	cancel context.CancelFunc
}

// maxEarly is how many packets may wait for their turn.
const maxEarly = 64

func newClient(session uint64) *client {
	return &client{
		session: session, next: 1, first: 1, replies: map[uint64]*packetState{}, stash: map[uint64]pendingPacket{}, calls: map[uint64]*callState{}, has: map[int]kept{},
		account: account{begun: map[int]engine.Outlay{}},
	}
}

// begin opens a cycle.
func (w *client) begin(cycle int) {
	for agent, k := range w.has {
		if k.cycle < cycle-1 {
			delete(w.has, agent)
		}
	}
	clear(w.account.begun)
	w.stale = nil
}

// account is what the sessions of a worker have spent.
type account struct {
	claimed engine.Outlay // by requests in progress
	// balance is what was spent and is in no row of a session yet.
	balance engine.Outlay
	begun   map[int]engine.Outlay // by agent: what is in the row of another worker, or was spent by earlier ones on its session
}

// pace is how many sessions a worker ends per second, over the last seconds.
type pace struct {
	at    time.Time
	ended int64
	rate  float64
}

func (p *pace) update(now time.Time, ended int64) {
	const every = time.Second
	switch took := now.Sub(p.at); {
	case p.at.IsZero():
		p.at, p.ended = now, ended
	case took >= every:
		p.at, p.ended, p.rate = now, ended, float64(ended-p.ended)/took.Seconds()
	}
}

// invite asks a worker to prepare for the run, unless there are as many workers as parts. It returns why it does not.
func (p crew) invite(name string) (refused string) {
	p.order.Lock() // another invitation of the same worker comes before or after
	defer p.order.Unlock()
	p.drop(name, "")
	session := p.c.session()
	p.mu.Lock()
	defer p.mu.Unlock()
	part, ok := p.freePart()
	if !ok {
		return "the run divides its connections to databases among " + engine.Counted(int64(p.more.Parts), "worker", "workers") + "; this one can join the next run"
	}
	w := newClient(session)
	w.part = part
	if p.more.Lending != nil {
		w.lent = p.more.Lending.Join(name)
	}
	p.clients[name] = w
	p.markDirty(name)
	return ""
}

// freePart returns a part that no worker has. mu is held.
func (p crew) freePart() (part Part, ok bool) {
	taken := map[int]bool{}
	for _, w := range p.clients {
		taken[w.part.Index] = true
	}
	for part.Of = p.more.Parts; part.Index < part.Of; part.Index++ {
		if !taken[part.Index] {
			return part, true
		}
	}
	return part, part.Of == 0
}

// invited reports whether a worker has been asked to prepare in a session.
func (p crew) invited(name string, session uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.clients[name]
	return w != nil && w.session == session
}

// join adds a worker that is prepared.
func (p crew) join(name string, session uint64, drains bool, most int) {
	cores := 1
	p.c.mu.Lock()
	if m := p.c.members[name]; m != nil {
		cores = max(m.Cores, 1)
	}
	p.c.mu.Unlock()
	p.do(func() {
		w := p.clients[name]
		if w == nil || w.session != session || w.joined {
			return
		}
		w.joined, w.drains = true, drains
		p.book.Join(name, cores)
		p.book.LimitWorker(name, most)
		if drains {
			p.book.Drain(name)
		}
		p.markDirty(name)
	})
}

// lose removes a worker. Its sessions in flight begin again elsewhere, from what the journal has of them.
func (p crew) lose(name, why string) {
	p.order.Lock()
	defer p.order.Unlock()
	p.drop(name, why)
}

// drop is lose. order is held.
func (p crew) drop(name, why string) {
	p.mu.Lock()
	w := p.clients[name]
	if w == nil {
		p.mu.Unlock()
		return
	}
	delete(p.clients, name)
	for _, early := range w.stash {
		early.answer(nil)
	}
	for _, of := range w.calls {
		of.cancel()
	}
	p.book.Leave(name)
	intake(p).releaseLocks(w)
	p.settleAccount(w)
	p.carryOut()
	joined := w.joined
	p.mu.Unlock()
	if p.more.Lending != nil {
		p.more.Lending.Forget(name)
	}
	for _, s := range p.more.Services {
		s.Forget(name)
	}
	if joined && why != "" && p.cfg.Note != nil {
		p.cfg.Note(engine.ChangeRow{What: engine.WorkerChange, Old: workers.Ready.String(), New: workers.Lost.String(), Who: name, Why: why})
	}
}

// loseStalled removes the workers that are connected but hang. If one reports again, it joins again. A packet may wait for the journal,
// but not for another packet that does not come.
func (p crew) loseStalled() {
	asking := p.c.silent(time.Now())
	for _, name := range slices.Sorted(maps.Keys(asking)) {
		p.mu.Lock()
		w := p.clients[name]
		stalled := w != nil && w.joined && asking[name] <= len(w.stash)
		p.mu.Unlock()
		if stalled {
			p.lose(name, "it does not report")
			p.c.stall(name)
		}
	}
}

// settleAccount counts what a lost worker has spent and no row contains. Requests in progress count as sent. mu is held.
func (p crew) settleAccount(w *client) {
	a := &w.account
	for agent, known := range p.prefixes {
		if known.by == w {
			p.prefixes.handOver(agent)
		}
	}
	if a.claimed != (engine.Outlay{}) {
		p.host.Settle(a.claimed, a.claimed)
	}
	if unrecorded := a.balance.Plus(a.claimed); unrecorded != (engine.Outlay{}) {
		intake(p).queueUnrecorded(unrecorded)
	}
}

// settleAccounts counts what the workers have spent and no row contains, once no session is left that could contain it: sessions that
// were passed to others have spent it. mu is held.
func (p crew) settleAccounts() {
	if p.book.Left() > 0 {
		return
	}
	for agent := range p.prefixes {
		p.prefixes.handOver(agent)
	}
	for _, w := range p.clients {
		if b := w.account.balance; b != (engine.Outlay{}) {
			intake(p).queueUnrecorded(b)
			w.account.balance = engine.Outlay{}
		}
	}
}

func (p crew) drain(name string, drains bool) {
	p.do(func() {
		if w := p.clients[name]; w != nil && w.joined { // join drains the others
			w.drains = drains
			if drains {
				p.book.Drain(name)
			} else {
				p.book.Undrain(name)
			}
			p.markDirty(name)
		}
	})
}

func (p crew) limitWorker(name string, most int) { p.do(func() { p.book.LimitWorker(name, most) }) }

// describe fills in what the run knows of a worker.
func (p crew) describe(s *workers.State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.clients[s.Name]
	if w == nil || !w.joined {
		return
	}
	s.Limit, _ = p.book.Share(s.Name)
	r := &w.report
	s.MaxLimit, s.InFlight, s.Queued, s.Ended, s.PerSecond = p.book.MaxShare(s.Name), r.InFlight, r.Queued, w.ended, w.pace.rate
	s.CPU, s.Memory, s.Lag = w.status.Host.ProcessCPU, w.status.Host.Memory, w.status.Trip
}

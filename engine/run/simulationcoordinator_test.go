package run

import (
	"maps"
	"slices"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/memories"
	"github.com/throng-sim/throng/engine/run/shards"
)

// greet handles the request of a worker to join. A late copy of the request changes nothing.
func (f *simFleet) greet(n *simNode, number int) {
	if number <= n.greeted {
		return
	}
	n.greeted = number
	n.present, n.lost, n.seenAt = true, false, f.at
	f.invite(n)
}

// invite asks a worker to prepare for the run.
func (f *simFleet) invite(n *simNode) {
	f.lose(n)
	f.sessions++
	n.client = &simClient{session: f.sessions, next: 1, replies: map[uint64]*simReply{}, stash: map[uint64]simStashed{}}
	f.markDirty(n)
	f.settleBook()
}

// join adds a worker that is prepared.
func (f *simFleet) join(n *simNode, session uint64, life int) {
	n.heardAt = f.at
	if c := n.client; c != nil && c.session == session && !c.joined {
		f.log("%s joins", n.name)
		if c.joined = true; n.life == life && n.job != nil && n.job.session == session {
			n.joined = session
		}
		f.book.Join(n.name, n.cores)
		f.markDirty(n)
		f.settleBook()
	}
}

// lose removes a worker.
func (f *simFleet) lose(n *simNode) {
	if n.client == nil {
		return
	}
	f.log("%s is lost", n.name)
	n.client = nil
	if n.job != nil && n.hung.After(f.at) {
		n.job.fenced = true // only when it wakes up does it learn that it has lost its sessions
	}
	f.book.Leave(n.name)
	if f.faults.forgetShards {
		f.perform(slices.DeleteFunc(f.book.Effects(), func(e shards.Effect) bool {
			_, isOffer := e.(shards.Offer)
			return isOffer
		}))
	}
	f.settleBook()
}

// beat notes a sign of life of a worker.
func (f *simFleet) beat(n *simNode) {
	n.seenAt = f.at
	if n.present {
		return
	}
	n.present = true
	if n.lost {
		n.lost = false
		f.invite(n)
	}
}

// watch loses the workers that are silent, and those that are connected but hang.
func (f *simFleet) watch() {
	f.after(simBeat/5, f.watch)
	for _, n := range f.nodes {
		switch {
		case n.present && f.at.Sub(n.seenAt) > simLease:
			n.present, n.lost = false, true
			f.lose(n)
		case n.present && n.client != nil && n.client.joined && f.at.Sub(n.heardAt) > simLease:
			if n.job != nil {
				n.job.fenced = true // its beats are answered, so it does not know that it has lost its sessions
			}
			f.lose(n)
		}
	}
}

// in returns a worker in the session that it names, or nil.
func (n *simNode) in(session uint64) *simClient {
	if c := n.client; c != nil && c.joined && c.session == session {
		return c
	}
	return nil
}

// claim leases a shard to a worker.
func (f *simFleet) claim(n *simNode, of simClaim, answer func(simGrant)) {
	c := n.in(of.session)
	switch {
	case c == nil:
		answer(simGrant{refused: true})
		return
	case c.claimed == of:
		answer(c.granted)
		return
	case of.number < c.claimed.number:
		return
	}
	var g simGrant
	if f.open {
		if leased, ok := f.book.Claim(n.name, of.ticket, of.count); ok {
			f.perform(f.book.Effects())
			g = f.grant(c, &leased)
		}
	}
	f.log("%s claims %v, %d: %d sessions", n.name, of.ticket, of.count, len(g.tasks))
	f.settleBook()
	c.claimed, c.granted = of, g
	answer(g)
}

// grant returns what a worker needs for a lease.
func (f *simFleet) grant(c *simClient, leased *shards.Grant) simGrant {
	m := f.cycle.memory
	g := simGrant{lease: leased.Lease, cycle: f.cycle.plan.number}
	for _, a := range leased.Agents {
		agent := int(a)
		place := engine.Place{Cycle: g.cycle, Agent: agent, Take: f.takes[agent]}
		g.tasks = append(g.tasks, simTask{place: place, memory: m.committed.Of(agent), injected: m.injected})
		if o, ok := f.ledger.owners[agent]; ok && o != (simOwner{c, leased.Lease}) {
			f.fail("session %v is leased to two workers", place)
		}
		f.ledger.owners[agent] = simOwner{c, leased.Lease}
	}
	if f.params.sequential {
		g.before, g.deltas = memories.NewTable(m.committed.Map()), maps.Clone(f.deltas)
	}
	return g
}

// packet handles a packet in its turn.
func (f *simFleet) packet(n *simNode, p *simPacket, answer func(simReply)) {
	n.heardAt = f.at
	c := n.in(p.session)
	if c == nil {
		answer(simReply{refused: true})
		return
	}
	if p.number < c.next {
		answer(*c.replies[p.number])
		return
	}
	c.stash[p.number] = simStashed{p, answer}
	for {
		next, ok := c.stash[c.next]
		if !ok {
			return
		}
		delete(c.stash, c.next)
		r := &simReply{}
		c.replies[c.next] = r
		c.next++
		f.accept(n, c, next.packet, r)
		next.answer(*r)
	}
}

// accept takes what a packet contains.
func (f *simFleet) accept(n *simNode, c *simClient, p *simPacket, r *simReply) {
	if f.faults.reportEarly {
		f.reported(n, p)
	}
	for i := range p.frames {
		if frame := &p.frames[i]; frame.back != nil {
			f.giveBack(n, c, frame)
		} else {
			f.batch(n, c, frame, r)
		}
	}
	if !f.faults.reportEarly {
		f.reported(n, p)
	}
	r.stale = append(r.stale, c.stale...)
	c.stale = nil
}

func (f *simFleet) giveBack(n *simNode, c *simClient, frame *simFrame) {
	f.log("%s returns %v of %v", n.name, frame.back, frame.lease)
	f.book.GiveBack(n.name, frame.lease, frame.back)
	for _, agent := range frame.back {
		if f.ledger.owners[int(agent)] == (simOwner{c, frame.lease}) {
			delete(f.ledger.owners, int(agent))
		}
	}
	f.settleBook()
}

func (f *simFleet) reported(n *simNode, p *simPacket) {
	r := p.report
	if f.cycle.plan == nil || p.cycle != f.cycle.plan.number {
		r.Queued, r.Idle = 0, f.open
	}
	f.book.Report(n.name, r)
	f.settleBook()
}

// batch journals and counts sessions that ended under a lease.
func (f *simFleet) batch(n *simNode, c *simClient, frame *simFrame, r *simReply) {
	b := &Batch{}
	for _, row := range frame.rows {
		holds := f.open && row.Cycle == f.cycle.plan.number && row.Take == f.takes[row.Agent] && f.book.Holds(n.name, frame.lease, row.Agent)
		if !holds || !f.book.Ended(n.name, frame.lease, row.Agent) {
			f.log("%s: %v is stale", n.name, row.Place)
			r.stale = append(r.stale, frame.lease)
			if !f.faults.acceptStale || !f.open {
				continue
			}
		} else if f.ledger.owners[row.Agent] != (simOwner{c, frame.lease}) {
			f.fail("session %v is accepted from %s, which has lost it", row.Place, n.name)
		}
		f.ended(row.Agent)
		if row.Outcome.Commits() {
			f.deltas[row.Agent] = row.Delta
		}
		b.add(row)
	}
	if agent := frame.cutAgent; agent >= 0 && f.book.Ended(n.name, frame.lease, agent) {
		f.ended(agent)
		b.Cut, b.CutAlone = 1, frame.cutAlone
	}
	if len(b.rows) > 0 {
		f.journal.add(b.rows)
	}
	f.inTransit = append(f.inTransit, b)
	if frame.probe {
		c.probed++
		f.book.Probed(n.name)
	}
	f.book.Settle()
	f.settleBook()
}

func (f *simFleet) ended(agent int) {
	f.ledger.ended++
	delete(f.ledger.left, agent)
	delete(f.ledger.owners, agent)
}

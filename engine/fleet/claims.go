package fleet

import (
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/codec"
	"github.com/throng-sim/throng/engine/run/shards"
)

// claim leases a shard to a worker.
func (p intake) claim(name string, body []byte, answer func([]byte)) {
	of, err := record[claim](body)
	if err != nil {
		return
	}
	p.order.Lock()
	defer p.order.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.client(name, of.Session)
	switch {
	case w == nil:
		answer(codec.AppendWire(nil, grant{Refused: notJoined}))
		return
	case w.claimed == of: // the answer was lost
		answer(w.granted)
		return
	case of.Number < w.claimed.Number: // a late copy
		return
	}
	var g grant
	if p.open {
		if leased, ok := p.book.Claim(name, of.Ticket, of.Count); ok {
			g = p.grant(w, &leased)
		}
	}
	p.carryOut()
	g.pack()
	w.claimed, w.granted = of, codec.AppendWire(nil, &g)
	answer(w.granted)
}

// grant returns what a worker needs for a lease. mu is held.
func (p intake) grant(w *client, leased *shards.Grant) grant {
	s, now := p.shard, time.Now()
	g := grant{Lease: leased.Lease, Cycle: p.cycleOrder(), Tasks: make([]task, 0, len(leased.Agents))}
	for _, a := range leased.Agents {
		agent := int(a)
		t := task{Agent: a, Take: p.takes[agent], Since: now.Sub(s.Ready) - p.waited, Arrived: s.Arrivals != nil}
		requeued := t.Take != s.Takes[agent]
		switch {
		case t.Arrived && requeued:
			t.Since = -1
		case t.Arrived:
			t.Since -= s.Arrivals.At(p.at[agent])
		}
		if t.Prefix, t.Begun = p.prefixes.get(agent, t.Take); t.Begun {
			p.prefixes.handOver(agent)
			w.account.begun[agent] = p.prefixes.spent(agent)
		} else {
			delete(w.account.begun, agent) // of an earlier session in the cycle
		}
		g.Tasks = append(g.Tasks, t)
		p.remember(w, &g, agent)
	}
	if p.standing.Settings.Sequential { // any session may change the memory of the next
		g.Memory, g.Deltas = s.Memory.Map(), p.deltas
	}
	return g
}

// remember adds an agent's memory to a grant, unless the worker has it. mu is held.
func (p intake) remember(w *client, g *grant, agent int) {
	m := p.shard.Memory.Of(agent)
	if m == nil || p.standing.Settings.Sequential {
		return
	}
	switch was := w.has[agent].memory; {
	case was == m:
	case was == nil || !g.change(agent, was, m):
		if g.Memory == nil {
			g.Memory = map[int]*engine.Memory{}
		}
		g.Memory[agent] = m
	}
	w.has[agent] = kept{m, p.shard.Cycle}
}

// change adds what changed in an agent's memory, if that is simpler than the whole.
func (g *grant) change(agent int, was, now *engine.Memory) bool {
	c, ok := changeOf(was, now)
	if ok {
		if g.Changed == nil {
			g.Changed = map[int]memoryChange{}
		}
		g.Changed[agent] = c
	}
	return ok
}

package fleet

import (
	"context"
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/codec"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/run/shards"
)

// receive handles a request of a worker of the run. The requests of one worker are handled one after another.
func (p intake) receive(name string, kind byte, body []byte, answer func([]byte)) {
	switch kind {
	case claimRequest:
		p.claim(name, body, answer)
	case packetRequest:
		p.packet(name, body, answer)
	case callRequest:
		p.call(name, body, answer)
	}
}

// notJoined is why a worker is refused that the coordinator has given up.
const notJoined = "the coordinator had lost this worker"

// client returns a worker in the session that it names, or nil. mu is held.
func (p *Pool) client(name string, session uint64) *client {
	if w := p.clients[name]; w != nil && w.joined && w.session == session {
		return w
	}
	return nil
}

// packet handles a packet in its turn. Those that came too early wait, and those that came before get the same reply again.
func (p intake) packet(name string, body []byte, answer func([]byte)) {
	head, frames, err := readPacket(body)
	if err != nil {
		answer(codec.AppendWire(nil, packetReply{Failed: err.Error()}))
		return
	}
	p.mu.Lock()
	w := p.client(name, head.Session)
	if w == nil {
		p.mu.Unlock()
		answer(codec.AppendWire(nil, packetReply{Refused: notJoined}))
		return
	}
	if head.Number < w.next {
		if state := w.replies[head.Number]; state != nil && state.reply == nil {
			state.answers = append(state.answers, answer)
		} else if state != nil {
			answer(state.reply)
		} else {
			answer(nil) // the worker has its reply
		}
		p.mu.Unlock()
		return
	}
	switch early, ok := w.stash[head.Number]; {
	case ok:
		early.answer(nil) // a copy
	case len(w.stash) >= keptReplies:
		answer(nil) // it is sent again
		p.mu.Unlock()
		return
	}
	w.stash[head.Number] = pendingPacket{frames, answer}
	p.mu.Unlock()
	for {
		p.mu.Lock()
		next, ok := w.stash[w.next]
		number := w.next
		if ok {
			delete(w.stash, number)
			w.next++
			w.replies[number] = &packetState{answers: []func([]byte){next.answer}}
			delete(w.replies, number-keptReplies)
		}
		p.mu.Unlock()
		if !ok {
			return
		}
		p.accept(name, w, number, next.frames)
	}
}

// accept journals what a packet contains, and replies once that is durable.
func (p intake) accept(name string, w *client, number uint64, frames []frame) {
	var reply packetReply
	var sessions ended
	waits := false
	p.order.Lock()
	p.mu.Lock()
	if p.clients[name] != w { // it was lost while the packet waited for its turn
		reply.Refused, frames = notJoined, nil
	}
	p.mu.Unlock()
	for i := range frames {
		f := &frames[i]
		if f.kind == reportFrame {
			p.add(name, w, &sessions) // the report counts them as sent
		}
		durable, err := p.take(name, w, f, &sessions, &reply)
		waits = waits || durable
		if err != nil {
			reply.Failed = err.Error()
		}
	}
	p.add(name, w, &sessions)
	p.mu.Lock()
	reply.Stale = append(reply.Stale, w.stale...)
	w.stale = nil
	p.mu.Unlock()
	p.order.Unlock()
	if !waits {
		p.reply(w, number, &reply)
		return
	}
	go func() {
		defer p.cfg.Rescue()
		if err := p.host.Commit(p.host.Context()); err != nil {
			reply.Failed = err.Error()
		}
		p.reply(w, number, &reply)
	}()
}

func (p intake) reply(w *client, number uint64, r *packetReply) {
	r.At = time.Now()
	p.mu.Lock()
	state := w.replies[number]
	p.mu.Unlock()
	p.complete(state, codec.AppendWire(nil, r))
}

// complete sends the reply to a request, also to those that repeated it.
func (p intake) complete(state *packetState, data []byte) {
	p.mu.Lock()
	answers := state.answers
	state.reply, state.answers = data, nil
	p.mu.Unlock()
	for _, answer := range answers {
		answer(data)
	}
}

// take handles a frame. It reports whether the worker waits until its row is durable. order is held.
func (p intake) take(name string, w *client, f *frame, sessions *ended, r *packetReply) (durable bool, err error) {
	switch f.kind {
	case batchFrame:
		p.batch(name, w, f, sessions, r)
	case rowFrame:
		return p.row(name, f, r), nil
	case settleFrame:
		s, err := record[settled](f.body)
		p.host.Settle(s.Claimed, s.Spent)
		p.mu.Lock()
		a := &w.account
		a.claimed, a.balance = a.claimed.Minus(s.Claimed), a.balance.Plus(s.Spent)
		p.mu.Unlock()
		return false, err
	case traceFrame:
		t, err := record[traced](f.body)
		p.host.Trace(t.Exchange, t.Failed)
		return false, err
	case throttledFrame:
		if p.cfg.Throttled != nil {
			go p.cfg.Throttled(name + ": " + string(f.body))
		}
	case backFrame:
		b, err := record[back](f.body)
		p.do(func() { p.book.GiveBack(name, b.Lease, b.Agents) })
		return false, err
	case reportFrame:
		r, err := readReport(f.body)
		if err == nil {
			p.reported(name, w, &r)
		}
		return false, err
	case statusFrame:
		s, err := record[status](f.body)
		if err == nil {
			p.described(name, w, &s)
		}
		return false, err
	}
	return false, nil
}

// reported takes how far a worker is.
func (p intake) reported(name string, w *client, r *report) {
	p.do(func() {
		if p.clients[name] != w {
			return
		}
		w.report = *r
		if p.shard == nil || r.Cycle != p.shard.Cycle {
			r.Queued, r.Idle = 0, p.open // sessions in flight use its share, even if they no longer count
		}
		p.book.Report(name, r.Report)
	})
}

// described takes what people see of a worker.
func (p intake) described(name string, w *client, s *status) {
	for _, r := range s.Services {
		if of := p.more.Services[r.State.Name]; of != nil {
			of.Put(name, r)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	w.pace.update(time.Now(), w.ended)
	w.status = *s
}

// row journals a row of a session in flight, if the worker has the lease of that session. order is held.
func (p intake) row(name string, f *frame, r *packetReply) (durable bool) {
	p.mu.Lock()
	holds := true
	switch row := f.row.(type) {
	case engine.IntentRow:
		if holds = p.holds(name, f.lease, row.Place); holds {
			p.prefixes.intend(&row)
		}
		durable = true
	case engine.AnswerRow:
		if holds = p.holds(name, f.lease, row.Place); holds {
			p.prefixes.answer(&row)
		}
	case engine.UnconfirmedRow:
		holds = p.holds(name, f.lease, row.Place)
	default:
		durable = true
	}
	p.mu.Unlock()
	if !holds {
		r.Stale = append(r.Stale, f.lease)
		return false
	}
	p.host.Append(f.row)
	return durable
}

// holds reports whether a worker has the lease of a session in the open cycle. mu is held.
func (p intake) holds(name string, l shards.Lease, place engine.Place) bool {
	return p.open && place.Cycle == p.shard.Cycle && place.Take == p.takes[place.Agent] && p.book.Holds(name, l, place.Agent)
}

// ended is what a packet contains of ended sessions.
type ended struct {
	rows   engine.SessionRows
	counts run.BatchCounts
	probes int
}

// add journals and delivers ended sessions. Those of an abandoned run are dropped, as if they had been cut. order is held.
func (p intake) add(name string, w *client, e *ended) {
	select {
	case <-p.abandoned:
		return
	default:
	}
	if len(e.rows) == 0 && e.counts.Cut == 0 && e.probes == 0 && e.counts.Unrecorded == (engine.Outlay{}) {
		return
	}
	if len(e.rows) > 0 && p.cfg.Journal != nil {
		p.cfg.Journal(e.rows)
	}
	p.do(func() {
		w.ended += int64(len(e.rows))
		p.queue(run.NewBatch(e.rows, e.counts))
		for range e.probes {
			w.probed++
			p.book.Probed(name)
		}
		p.book.Settle()
	})
	*e = ended{}
}

// batch takes the sessions that ended under a lease. order is held.
func (p intake) batch(name string, w *client, f *frame, to *ended, r *packetReply) {
	counts := &to.counts
	counts.Unrecorded = counts.Unrecorded.Plus(f.counts.Unrecorded)
	to.probes += f.counts.Probes
	to.rows = slices.Grow(to.rows, len(f.rows))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spendBatch(w, f.counts.Unrecorded)
	for i := range f.rows {
		row := &f.rows[i]
		spent := engine.OutlayOf(row.Steps)
		if !p.holds(name, f.lease, row.Place) || !p.book.Ended(name, f.lease, row.Agent) {
			r.Stale = append(r.Stale, f.lease)
			stray := spent.Minus(p.prefixes.spent(row.Agent))
			counts.Unrecorded = counts.Unrecorded.Plus(stray)
			p.spendBatch(w, stray)
			continue
		}
		p.spendBatch(w, spent.Minus(w.account.begun[row.Agent]))
		delete(p.prefixes, row.Agent)
		if p.deltas != nil && row.Outcome.Commits() {
			p.deltas[row.Agent] = row.Delta
		}
		to.rows = append(to.rows, *row)
	}
	for _, agent := range f.counts.CutAgents {
		if p.book.Ended(name, f.lease, int(agent)) {
			counts.Cut++
			counts.CutAlone = f.counts.CutAlone // "" if the run is cut; one that runs again is not counted
		}
	}
}

// spendBatch moves an outlay from a worker's balance to rows. mu is held.
func (p intake) spendBatch(w *client, o engine.Outlay) {
	w.account.balance = w.account.balance.Minus(o)
}

func (p intake) queueUnrecorded(o engine.Outlay) {
	p.queue(run.NewBatch(nil, run.BatchCounts{Unrecorded: o}))
}

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
			w.account.begun[agent] = p.prefixes.spent(agent)
		}
		g.Tasks = append(g.Tasks, t)
		p.remember(w, &g, agent)
	}
	if p.standing.Settings.Sequential { // any session may change the memory of the next
		g.Memory, g.Deltas = s.Memory, p.deltas
	}
	return g
}

// remember adds an agent's memory to a grant, unless the worker has it. mu is held.
func (p intake) remember(w *client, g *grant, agent int) {
	m := p.shard.Memory[agent]
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

// call answers a call of a session. It may have to wait.
func (p intake) call(name string, body []byte, answer func([]byte)) {
	of, err := record[call](body)
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.client(name, of.Session)
	if w == nil {
		answer(codec.AppendWire(nil, reply{Error: notJoined, Cut: true}))
		return
	}
	if state := w.calls[of.ID]; state != nil {
		if state.reply == nil {
			state.answers = append(state.answers, answer)
		} else {
			answer(state.reply)
		}
		return
	}
	if of.ID < w.oldest { // a late copy
		return
	}
	if of.Oldest > w.oldest {
		w.oldest = of.Oldest
		for id := range w.calls {
			if id < w.oldest {
				delete(w.calls, id)
			}
		}
	}
	ctx, cancel := context.WithCancel(p.host.Context())
	state := &callState{packetState{answers: []func([]byte){answer}}, cancel}
	w.calls[of.ID] = state
	go func() {
		defer p.cfg.Rescue()
		r := p.answer(ctx, name, w, &of)
		cancel()
		p.complete(&state.packetState, codec.AppendWire(nil, &r))
	}()
}

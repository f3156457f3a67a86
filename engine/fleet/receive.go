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
	head, content, err := readPacket(body, p.spare.get())
	if err != nil {
		answer((&packetReply{At: time.Now(), Failed: err.Error()}).append(nil))
		return
	}
	p.mu.Lock()
	w := p.client(name, head.Session)
	if w == nil {
		p.mu.Unlock()
		answer((&packetReply{At: time.Now(), Refused: notJoined}).append(nil))
		return
	}
	for ; w.first < min(head.Oldest, w.next); w.first++ {
		delete(w.replies, w.first)
	}
	if head.Number < w.next {
		if state := w.replies[head.Number]; state != nil && state.reply == nil {
			state.answer(nil) // the worker waits for this copy instead
			state.answer = answer
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
	case len(w.stash) >= maxEarly:
		answer(nil) // it is sent again
		p.mu.Unlock()
		return
	}
	w.stash[head.Number] = pendingPacket{content, answer}
	p.mu.Unlock()
	for {
		p.mu.Lock()
		next, ok := w.stash[w.next]
		number := w.next
		if ok {
			delete(w.stash, number)
			w.next++
			w.replies[number] = &packetState{answer: next.answer}
		}
		p.mu.Unlock()
		if !ok {
			return
		}
		p.accept(name, w, number, next.packet)
	}
}

// accept journals what a packet contains, and replies once that is durable.
func (p intake) accept(name string, w *client, number uint64, content packet) {
	var reply packetReply
	of := accepted{packet: content}
	p.order.Lock()
	p.mu.Lock()
	if p.clients[name] != w { // it was lost while the packet waited for its turn
		reply.Refused, of.frames = notJoined, nil
	}
	p.mu.Unlock()
	for i := range of.frames {
		f := &of.frames[i]
		if f.kind == reportFrame {
			p.add(name, w, &of) // the report counts them as sent
		}
		if err := p.take(name, w, f, &of, &reply); err != nil {
			reply.Failed = err.Error()
		}
	}
	p.add(name, w, &of)
	p.mu.Lock()
	reply.Stale = append(reply.Stale, w.stale...)
	w.stale = nil
	p.mu.Unlock()
	p.order.Unlock()
	if !of.waits {
		p.reply(w, number, &reply)
		return
	}
	go func() {
		defer p.cfg.Rescue()
		// With a row, even an empty one, it does not wait for checkpoints.
		if err := p.host.Commit(p.host.Context(), engine.SessionRows{}); err != nil {
			reply.Failed = err.Error()
		}
		p.reply(w, number, &reply)
	}()
}

// isCut reports whether all sessions of the run are cut. Workers also learn it from each reply, because orders may arrive later: a session
// that fails for that reason must not begin again.
func (p intake) isCut() bool { return p.host.Context().Err() != nil }

func (p intake) reply(w *client, number uint64, r *packetReply) {
	r.At, r.Over = time.Now(), p.isCut()
	p.mu.Lock()
	state := w.replies[number]
	p.mu.Unlock()
	p.complete(state, r.append(nil))
}

// complete sends the reply to a request.
func (p intake) complete(state *packetState, data []byte) {
	p.mu.Lock()
	answer := state.answer
	state.reply, state.answer = data, nil
	p.mu.Unlock()
	answer(data)
}

// take handles a frame. order is held.
func (p intake) take(name string, w *client, f *frame, of *accepted, r *packetReply) error {
	switch f.kind {
	case batchFrame:
		return p.batch(name, w, f, of, r)
	case rowFrame:
		p.row(name, f, of, r)
	case settleFrame:
		s, err := record[settled](f.body)
		p.host.Settle(s.Claimed, s.Spent)
		p.mu.Lock()
		a := &w.account
		a.claimed, a.balance = a.claimed.Minus(s.Claimed), a.balance.Plus(s.Spent)
		crew(p).settleAccounts()
		p.mu.Unlock()
		return err
	case traceFrame:
		t, err := record[traced](f.body)
		p.host.Trace(t.Exchange, t.Failed)
		return err
	case throttledFrame:
		if p.cfg.Throttled != nil {
			go p.cfg.Throttled(name + ": " + string(f.body))
		}
	case backFrame:
		b, err := record[back](f.body)
		p.do(func() { p.book.GiveBack(name, b.Lease, b.Agents) })
		return err
	case reportFrame:
		r, err := readReport(f.body)
		if err == nil {
			p.reported(name, w, &r)
		}
		return err
	case statusFrame:
		s, err := record[status](f.body)
		if err == nil {
			p.described(name, w, &s)
		}
		return err
	}
	return nil
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

// row takes a row of a session in flight, if the worker has the lease of that session. order is held.
func (p intake) row(name string, f *frame, of *accepted, r *packetReply) {
	p.mu.Lock()
	holds, durable := true, false
	switch row := f.row.(type) {
	case engine.IntentRow:
		if holds = p.holds(name, f.lease, row.Place); holds {
			p.prefixes.intend(&row, p.clients[name])
		}
		durable = true
	case engine.AnswerRow:
		if holds = p.holds(name, f.lease, row.Place); holds {
			p.prefixes.answer(&row, p.clients[name])
		}
	case engine.UnconfirmedRow:
		holds = p.holds(name, f.lease, row.Place)
	default:
		durable = true
	}
	p.mu.Unlock()
	if !holds {
		r.Stale = append(r.Stale, f.lease)
		return
	}
	of.waiting, of.waits = append(of.waiting, f.row), of.waits || durable
}

// journal journals the rows of sessions in flight that were taken. order is held.
func (p intake) journal(of *accepted) {
	if len(of.waiting) > 0 {
		p.host.Append(of.waiting...)
		clear(of.waiting)
		of.waiting = of.waiting[:0]
	}
}

// holds reports whether a worker has the lease of a session in the open cycle. mu is held.
func (p intake) holds(name string, l shards.Lease, place engine.Place) bool {
	return p.open && place.Cycle == p.shard.Cycle && place.Take == p.takes[place.Agent] && p.book.Holds(name, l, place.Agent)
}

// accepted is what was taken of a packet and is not in the journal yet.
type accepted struct {
	packet               // its rows are those of the frames that follow
	waiting []engine.Row // of sessions in flight, in order
	waits   bool         // the worker waits until its rows are durable
	ended   engine.SessionRows
	counts  run.BatchCounts
	probes  int
	freeing int // sessions that the book has ended, and that were not delivered
}

// add journals and delivers what was taken. Ended sessions of an abandoned run are dropped, as if they had been cut. order is held.
func (p intake) add(name string, w *client, of *accepted) {
	p.journal(of)
	freeing := of.freeing
	of.freeing = 0
	select {
	case <-p.abandoned:
		p.do(func() { p.undelivered -= freeing })
		return
	default:
	}
	if len(of.ended) == 0 && of.counts.Cut == 0 && of.probes == 0 && of.counts.Unrecorded == (engine.Outlay{}) {
		return
	}
	if len(of.rows) > 0 {
		of.ended = slices.Clip(of.ended) // what follows is another batch
	}
	if len(of.ended) > 0 && p.cfg.Journal != nil {
		p.cfg.Journal(of.ended)
	}
	p.do(func() {
		w.ended += int64(len(of.ended))
		crew(p).settleAccounts() // before the run learns that the cycle may end
		p.queue(run.NewBatch(of.ended, of.counts))
		p.undelivered -= freeing
		for range of.probes {
			w.probed++
			p.book.Probed(name)
		}
		p.book.Settle()
	})
	of.ended, of.counts, of.probes = nil, run.BatchCounts{}, 0
}

// batch takes the sessions that ended under a lease. order is held.
func (p intake) batch(name string, w *client, f *frame, of *accepted, r *packetReply) (err error) {
	var said run.BatchCounts
	if len(f.body) > 0 {
		said, err = record[run.BatchCounts](f.body)
	}
	counts := &of.counts
	counts.Unrecorded = counts.Unrecorded.Plus(said.Unrecorded)
	of.probes += said.Probes
	rows := of.rows[:f.rows]
	if len(of.ended) == 0 && f.rows > 0 {
		of.ended = rows[:0] // they are moved together
	}
	of.rows = of.rows[f.rows:]
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spendBatch(w, said.Unrecorded)
	for i := range rows {
		row := &rows[i]
		spent := engine.OutlayOf(row.Steps)
		if !p.holds(name, f.lease, row.Place) || !p.book.Ended(name, f.lease, row.Agent) {
			r.Stale = append(r.Stale, f.lease)
			if known := p.prefixes[row.Agent]; known != nil && known.by == w {
				p.prefixes.handOver(row.Agent)
			}
			stray := spent.Minus(w.account.begun[row.Agent])
			counts.Unrecorded = counts.Unrecorded.Plus(stray)
			p.spendBatch(w, stray)
			continue
		}
		if begun, ok := w.account.begun[row.Agent]; ok {
			spent = spent.Minus(begun)
		}
		p.spendBatch(w, spent)
		delete(p.prefixes, row.Agent)
		if p.deltas != nil && row.Outcome.Commits() {
			p.deltas[row.Agent] = row.Delta
		}
		of.ended = append(of.ended, *row)
		p.freeSlot(of)
	}
	for _, agent := range said.CutAgents {
		if p.book.Ended(name, f.lease, int(agent)) {
			p.freeSlot(of)
			counts.Cut++
			counts.CutAlone = said.CutAlone // "" if the run is cut; one that runs again is not counted
		}
	}
	return err
}

// freeSlot notes that the book counts a session as ended. Its slot is free for the run only after its row is in the journal and
// delivered: else a cycle could be closed before that. mu is held.
func (p intake) freeSlot(of *accepted) {
	of.freeing++
	p.undelivered++
}

// spendBatch moves an outlay from a worker's balance to rows. mu is held.
func (p intake) spendBatch(w *client, o engine.Outlay) {
	if o == (engine.Outlay{}) {
		return
	}
	w.account.balance = w.account.balance.Minus(o)
}

func (p intake) queueUnrecorded(o engine.Outlay) {
	p.queue(run.NewBatch(nil, run.BatchCounts{Unrecorded: o}))
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
			state.answer = answer // the worker waits for this copy instead
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
		for id, state := range w.calls {
			if id < w.oldest {
				state.cancel() // no session waits for it
				delete(w.calls, id)
			}
		}
	}
	ctx, cancel := context.WithCancel(p.host.Context())
	state := &callState{packetState{answer: answer}, cancel}
	w.calls[of.ID] = state
	go func() {
		defer p.cfg.Rescue()
		r := p.answer(ctx, name, w, &of)
		cancel()
		r.Over = p.isCut()
		p.complete(&state.packetState, codec.AppendWire(nil, &r))
	}()
}

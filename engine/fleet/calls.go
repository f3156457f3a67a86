package fleet

import (
	"context"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/codec"
	"github.com/throng-sim/throng/engine/service/lending"
)

// answer answers a call.
func (p intake) answer(ctx context.Context, name string, w *client, of *call) (r reply) {
	var err error
	switch of.Method {
	case doubtCall:
		err = p.doubt(name, of.Body, &r)
	case tryClaimCall, claimCall:
		err = p.spend(ctx, name, w, of, &r)
	case recallCall, takeIntentCall, awaitSharedCall, releaseSharedCall, settleSharedCall:
		err = p.shared(ctx, name, w, of, &r)
	case recordedCall:
		var a agentCall
		if a, err = record[agentCall](of.Body); err == nil {
			r.Entries, err = p.host.Recorded(ctx, a.Cycle, a.Agent)
		}
	case admitCall, tellCall:
		r.Body, err = p.lend(ctx, name, of)
	default:
		err = codec.ErrDamaged
	}
	r.fail(err)
	return r
}

// doubt records that the run is inexact, unless the session is stale: then another one decides.
func (p intake) doubt(name string, body []byte, r *reply) error {
	of, err := record[doubt](body)
	if err != nil {
		return err
	}
	p.mu.Lock()
	holds := p.open && of.Since.Cycle == p.shard.Cycle && p.book.Holds(name, of.Lease, of.Since.Agent)
	p.mu.Unlock()
	if !holds {
		return engine.ErrCut
	}
	r.OK = p.host.Doubt(&of.Since)
	return nil
}

// spend claims an outlay from the budget of the run.
func (p intake) spend(ctx context.Context, name string, w *client, of *call, r *reply) error {
	a, err := record[engine.Outlay](of.Body)
	if err != nil {
		return err
	}
	if r.OK = of.Method == tryClaimCall && p.host.TryClaim(a); of.Method == claimCall {
		if err = p.host.Claim(ctx, a); err != nil {
			return err
		}
		r.OK = true
	}
	if !r.OK {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.clients[name] != w { // it was lost in the meantime
		p.host.Settle(a, engine.Outlay{})
		return engine.ErrCut
	}
	w.account.claimed = w.account.claimed.Plus(a)
	return nil
}

// lock is held by the worker that requests a shared answer.
type lock struct {
	owner    *client
	released chan struct{}
}

// shared answers a call about an answer that belongs to the run.
func (p intake) shared(ctx context.Context, name string, w *client, of *call, r *reply) error {
	if of.Method == settleSharedCall {
		s, err := record[sharedCall](of.Body)
		if err != nil {
			return err
		}
		err = p.host.SettleShared(s.Row, s.Spent)
		p.carry(name, w, engine.Outlay{}.Minus(s.Spent))
		return err
	}
	k, err := record[keyCall](of.Body)
	if err != nil {
		return err
	}
	switch of.Method {
	case recallCall:
		r.Entry, r.OK = p.host.Recall(k.Key)
	case takeIntentCall:
		r.Entry, r.OK = p.host.TakeIntent(k.Key, k.Path)
		p.carry(name, w, r.Entry.Spent)
	case releaseSharedCall:
		p.mu.Lock()
		defer p.mu.Unlock()
		p.release(w, k.Key)
	default:
		r.Entry, r.OK, err = p.awaitShared(ctx, w, k.Key)
	}
	return err
}

// carry adds an outlay to the balance of a worker. If the worker was lost in the meantime, no row will contain it.
func (p intake) carry(name string, w *client, o engine.Outlay) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.clients[name] == w {
		w.account.balance = w.account.balance.Plus(o)
		crew(p).settleAccounts()
	} else if o != (engine.Outlay{}) {
		p.queueUnrecorded(o)
	}
}

// awaitShared waits for the session that requests an answer, or makes this session of a worker the one.
func (p intake) awaitShared(ctx context.Context, w *client, key engine.SharedKey) (engine.Entry, bool, error) {
	for {
		if e, ok := p.host.Recall(key); ok {
			return e, true, nil
		}
		p.mu.Lock()
		if ctx.Err() != nil { // the worker is lost, and its locks are released
			p.mu.Unlock()
			return engine.Entry{}, false, context.Cause(ctx)
		}
		held := p.locks[key]
		if held == nil {
			p.locks[key] = &lock{w, make(chan struct{})}
			p.mu.Unlock()
			e, ok := p.host.Recall(key)
			if ok { // settled in between
				p.mu.Lock()
				p.release(w, key)
				p.mu.Unlock()
			}
			return e, ok, nil
		}
		p.mu.Unlock()
		select {
		case <-held.released:
		case <-ctx.Done():
			return engine.Entry{}, false, context.Cause(ctx)
		}
	}
}

// release lets others request a shared answer, if it is this worker that does. mu is held.
func (p intake) release(w *client, key engine.SharedKey) {
	if l := p.locks[key]; l != nil && l.owner == w {
		close(l.released)
		delete(p.locks, key)
	}
}

// releaseLocks releases the locks of a lost worker. mu is held.
func (p intake) releaseLocks(w *client) {
	for key := range p.locks {
		p.release(w, key)
	}
}

// lend answers a call about the limits of services.
func (p intake) lend(ctx context.Context, name string, of *call) ([]byte, error) {
	l := p.more.Lending
	if l == nil {
		return nil, lending.ErrUnknown
	}
	if of.Method == admitCall {
		ask, err := record[lending.Ask](of.Body)
		if err != nil {
			return nil, err
		}
		granted, err := l.Admit(ctx, name, ask)
		return codec.AppendWire(nil, granted), err
	}
	notes, err := record[lending.Notes](of.Body)
	if err != nil {
		return nil, err
	}
	lent, err := l.Tell(name, notes)
	return codec.AppendWire(nil, lent), err
}

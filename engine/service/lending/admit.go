package lending

import (
	"context"
	"fmt"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/admission"
)

// Admit is [Lender.Admit] for a worker. An ask with the same ID continues to wait, or receives the same answer. The ask also waits
// while no call of Admit is in progress.
func (l *Lending) Admit(ctx context.Context, worker string, a Ask) (Grant, error) {
	k, err := l.ask(worker, a)
	if err != nil {
		return Grant{}, err
	}
	over, compare := time.NewTimer(pollTime), time.NewTimer(firstCause)
	defer over.Stop()
	defer compare.Stop()
	for {
		select {
		case <-k.done:
			return l.answer(k, a), nil
		case <-over.C:
			return l.answer(k, a), nil
		case <-compare.C:
			if engine.ThrottleCause(k.cause.Load()) != a.Cause {
				return l.answer(k, a), nil
			}
			compare.Reset(causeTime)
		case <-ctx.Done():
			return Grant{}, context.Cause(ctx)
		}
	}
}

// answer returns the grant of an ask, or what it waits for.
func (l *Lending) answer(k *ask, a Ask) Grant {
	l.mu.Lock()
	defer l.mu.Unlock()
	g := k.grant
	if g.Requests == 0 {
		g.Cause = a.Cause
		if k.ctx.Err() == nil {
			g.Cause = engine.ThrottleCause(k.cause.Load())
		}
	}
	g.Lent = l.lent()
	return g
}

// ask returns the ask in progress, and starts it if it is new.
func (l *Lending) ask(worker string, a Ask) (*ask, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m, of := l.members[worker], l.services[a.Service]
	switch {
	case m == nil || m.id != a.Member || l.closed:
		return nil, ErrUnknown
	case of == nil:
		return nil, fmt.Errorf("there is no service %q", a.Service)
	}
	if a.Over > m.over {
		m.over = a.Over
		for id := range m.asks {
			if id <= m.over {
				delete(m.asks, id)
			}
		}
	}
	if k := m.asks[a.ID]; k != nil {
		return k, nil
	}
	k := newAsk(a, of)
	if a.ID <= m.over { // repeated by the network
		k.end()
		close(k.done)
		return k, nil
	}
	m.asks[a.ID] = k
	l.running.Go(func() { l.run(m, k) })
	return k, nil
}

func newAsk(a Ask, of *lentService) *ask {
	k := &ask{Ask: a, of: of, done: make(chan struct{})}
	k.ctx, k.end = context.WithCancel(context.Background())
	k.cause.Store(uint32(a.Cause))
	return k
}

// run waits for the first admission of an ask, and takes as many more as there are without waiting.
func (l *Lending) run(m *member, k *ask) {
	control := k.of.control
	var all []*held
	next := func() *held { return &held{control, admission.Request{Endpoint: k.Endpoint}} }
	first := next()
	err := l.counted(k)
	if err == nil {
		err = control.Enter(k.ctx, &first.request, k)
	}
	if err == nil {
		all = append(all, first)
		for len(all) < k.Requests {
			h := next()
			if !control.TryEnter(&h.request) {
				break
			}
			all = append(all, h)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	defer close(k.done)
	if k.ctx.Err() != nil {
		for _, h := range all {
			h.drop()
		}
		return
	}
	k.grant = Grant{
		First: l.number + 1, Requests: len(all), Rated: control.Paced(&first.request), Cause: engine.ThrottleCause(k.cause.Load()), Waited: k.held.Load(),
	}
	for _, h := range all {
		l.number++
		m.held[l.number] = h
	}
}

// counted waits until all requests in flight are counted: every worker knows that requests of the service need an admission, and has
// reported those without. A worker that has said nothing yet has none.
func (l *Lending) counted(k *ask) error {
	for {
		l.mu.Lock()
		behind := false
		for _, m := range l.members {
			behind = behind || m.number > 0 && m.follows < k.of.since
		}
		followed := l.followed
		l.mu.Unlock()
		if !behind {
			return nil
		}
		select {
		case <-followed:
		case <-k.ctx.Done():
			return context.Cause(k.ctx)
		}
	}
}

// Tell is [Lender.Tell] for a worker. Repeated notes are ignored.
func (l *Lending) Tell(worker string, n Notes) (Lent, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.members[worker]
	if m == nil || m.id != n.Member {
		return Lent{}, ErrUnknown
	}
	if n.Number <= m.number {
		return l.lent(), nil
	}
	m.number = n.Number
	now, refused := time.Now(), false
	for i := range n.All {
		one := &n.All[i]
		l.note(m, one, now)
		refused = refused || one.Said != nil && one.Said.Stops()
	}
	if n.Lent > m.follows {
		m.follows = n.Lent
		l.follow()
	}
	if refused {
		l.refresh(now)
	}
	return l.lent(), nil
}

// note carries out one note. Notes about what was forgotten are ignored. mu is held.
func (l *Lending) note(m *member, n *Note, now time.Time) {
	h, of := m.held[n.ID], l.services[n.Service]
	switch n.Kind {
	case Ended:
		if h != nil {
			delete(m.held, n.ID)
			h.control.Leave(&h.request)
		}
	case Returned:
		if h != nil {
			h.control.GiveBack(&h.request)
		}
	case Withdrawn:
		l.withdraw(m, n.ID)
	case Heard:
		switch {
		case n.Said == nil:
		case h != nil:
			h.control.Observe(&h.request, *n.Said)
		case of != nil && n.ID == 0:
			of.control.Observe(of.control.Sent(n.Endpoint, now.Add(-n.Age)), *n.Said)
		}
	case Used:
		if of != nil {
			of.control.Spent(of.control.Sent(n.Endpoint, now), n.N)
		}
	case Began:
		if of != nil && n.N > 0 {
			m.began[n.Service] += n.N
			of.control.Force(n.N)
		}
	case Over:
		if m.began[n.Service] > 0 {
			m.began[n.Service]--
			of.control.Leave(nil)
		}
	}
}

// withdraw ends an ask, and takes back what it was granted. Its ID stays known, because the ask may arrive after it was withdrawn.
// mu is held.
func (l *Lending) withdraw(m *member, id uint64) {
	if id <= m.over {
		return
	}
	k := m.asks[id]
	if k == nil {
		k = newAsk(Ask{}, nil)
		close(k.done)
		m.asks[id] = k
	}
	k.end()
	for i := range k.grant.Requests {
		number := k.grant.First + uint64(i)
		if h := m.held[number]; h != nil {
			delete(m.held, number)
			h.drop()
		}
	}
	k.grant = Grant{}
}

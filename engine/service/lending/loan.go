package lending

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/admission"
)

// Loan is the limits of one service, as a worker borrows them. Its state is guarded by the borrower's mutex.
type Loan struct {
	b       *Borrower
	service string

	free     bool              // requests need no admission
	barred   int               // refusals that the coordinator does not have yet; no request starts before
	inFlight int               // requests
	outside  int               // of these, without an admission
	counted  int               // of these, how many the coordinator counts
	queues   map[string]*queue // by endpoint
	buckets  map[string]string // that the service named last, by endpoint
}

var _ admission.Admitter = (*Loan)(nil)

// Enter implements [admission.Admitter].
func (l *Loan) Enter(ctx context.Context, r *admission.Request, h admission.Holder) error {
	b := l.b
	b.mu.Lock()
	if l.free && l.barred == 0 {
		l.begin(r, time.Now())
		b.mu.Unlock()
		return nil
	}
	q, w := l.join(r)
	l.pump()
	b.mu.Unlock()
	for {
		b.mu.Lock()
		admitted, at := w.admitted, l.cause(q)
		b.mu.Unlock()
		if admitted {
			return nil
		}
		err := h.Hold(at, func() (engine.ThrottleCause, error) {
			select {
			case <-w.wake:
			case <-ctx.Done():
				return at, context.Cause(ctx)
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			if w.admitted {
				return l.cause(q), nil
			}
			return at, nil
		})
		if err != nil {
			l.abandon(q, w)
			return err
		}
	}
}

// cause returns what the requests of a queue wait for.
func (l *Loan) cause(q *queue) engine.ThrottleCause {
	if l.barred > 0 {
		return engine.ThrottledByRefusal
	}
	return q.cause
}

// begin starts a request without an admission.
func (l *Loan) begin(r *admission.Request, now time.Time) {
	l.inFlight++
	l.outside++
	r.Left, r.Admission, r.Rated = now, 0, false
}

// join puts a request into its queue, behind all that waited first.
func (l *Loan) join(r *admission.Request) (*queue, *waiter) {
	q := l.queues[r.Endpoint]
	if q == nil {
		q = &queue{endpoint: r.Endpoint, most: leastAsks}
		l.queues[r.Endpoint] = q
	}
	if r.Ticket == 0 {
		l.b.ticket++
		r.Ticket = l.b.ticket
	}
	w := &waiter{request: r, wake: make(chan struct{}, 1)}
	at, _ := slices.BinarySearchFunc(q.waiting, r.Ticket, func(w *waiter, ticket uint64) int { return cmp.Compare(w.request.Ticket, ticket) })
	q.waiting = slices.Insert(q.waiting, at, w)
	return q, w
}

// pump starts waiting requests if they need no admission, and asks for admissions otherwise.
func (l *Loan) pump() {
	if l.barred > 0 {
		return
	}
	for _, q := range l.queues {
		if l.free {
			now := time.Now()
			for _, w := range q.waiting {
				l.begin(w.request, now)
				w.admit(now, 0, false)
			}
			q.waiting = nil
			continue
		}
		for more := len(q.waiting) - q.asked; more > 0 && q.asks < q.most; more = len(q.waiting) - q.asked {
			l.b.ask(l, q, min(more, mostBlock))
		}
	}
}

// abandon ends the wait of a request whose context ended. An admission that arrived is returned.
func (l *Loan) abandon(q *queue, w *waiter) {
	l.b.mu.Lock()
	waited := q.remove(w)
	l.b.mu.Unlock()
	if !waited {
		l.GiveBack(w.request)
		l.Leave(w.request)
	}
}

// valid reports whether the coordinator knows the request by its admission.
func (l *Loan) valid(r *admission.Request) bool { return r.Admission > l.b.void }

// GiveBack implements [admission.Admitter].
func (l *Loan) GiveBack(r *admission.Request) {
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	if l.valid(r) {
		l.b.note(entry{Note: Note{Kind: Returned, ID: r.Admission}})
	}
}

// Leave implements [admission.Admitter].
func (l *Loan) Leave(r *admission.Request) {
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	l.inFlight--
	if l.valid(r) {
		l.b.note(entry{Note: Note{Kind: Ended, ID: r.Admission}})
		return
	}
	l.outside--
	if l.counted > l.outside {
		l.counted--
		l.b.note(entry{Note: Note{Kind: Over, Service: l.service}})
	}
}

// Observe implements [admission.Admitter]. After a refusal no request of the service starts until the coordinator has the note, and
// has answered whether requests need an admission.
func (l *Loan) Observe(r *admission.Request, s admission.Said) {
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	e := entry{Note: Note{Kind: Heard, Said: &s}}
	if l.valid(r) {
		e.ID = r.Admission
	} else {
		renamed := s.Bucket != "" && l.buckets[r.Endpoint] != s.Bucket
		if !s.Refused && !renamed {
			return
		}
		if renamed {
			l.buckets[r.Endpoint] = s.Bucket
		}
		e.Service, e.Endpoint, e.left = l.service, r.Endpoint, r.Left
	}
	if s.Stops() {
		l.barred++
		e.bars = l
	}
	l.b.note(e)
}

// Spent implements [admission.Admitter].
func (l *Loan) Spent(r *admission.Request, tokens int) {
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	if r.Rated {
		l.b.note(entry{Note: Note{Kind: Used, Service: l.service, Endpoint: r.Endpoint, N: tokens}})
	}
}

// Paced implements [admission.Admitter].
func (l *Loan) Paced(r *admission.Request) bool { return r.Rated }

// Fill implements [admission.Admitter] with what this worker has in flight and waiting. The coordinator has the rest of the state.
func (l *Loan) Fill(s *engine.ServiceState, _ time.Time) {
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	s.InFlight = l.inFlight
	for _, q := range l.queues {
		s.Waiting += len(q.waiting)
	}
}

package lending

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/admission"
)

const (
	// Asks in progress for one endpoint. Each that was answered without waiting allows another one, so that messages do not slow
	// requests down while the limits leave room. Each that has waited without success for a whole poll halves their number.
	leastAsks, mostAsks = 4, 64

	mostBlock = 32   // requests of one ask
	mostNotes = 2000 // in one message

	// After an error a message is repeated after leastPause, and twice as long after each further error, up to mostPause.
	leastPause, mostPause = 50 * time.Millisecond, time.Second
)

// Borrower is a worker's side of the lent limits. It is safe for concurrent use. Call Close at the end.
type Borrower struct {
	lender  Lender
	ctx     context.Context
	end     context.CancelFunc
	running sync.WaitGroup
	wake    chan struct{} // notes wait

	mu       sync.Mutex
	services map[string]*Loan
	lent     Lent
	member   uint64 // from the coordinator, where it joined last
	told     uint64 // version of lent that was passed on
	rejoined bool   // notes must be sent even without content
	notes    []entry
	number   uint64              // of the last notes
	asked    uint64              // ID of the last ask
	asks     map[uint64]struct{} // that the coordinator must remember: it may not have answered them, or not know that they are withdrawn
	ticket   uint64              // rank of the last request that waited
	highest  uint64              // number of the last admission
	void     uint64              // admissions up to this one were forgotten by the coordinator
}

// entry is a note that has not been passed on.
type entry struct {
	Note
	member uint64    // when the note was made
	left   time.Time // when the request was sent; zero if it has an admission
	bars   *Loan     // whose requests must not start before the coordinator has the note
}

// NewBorrower returns a borrower of a worker that has joined. lent is what [Lending.Join] returned.
func NewBorrower(lender Lender, lent Lent) *Borrower {
	b := &Borrower{lender: lender, wake: make(chan struct{}, 1), services: map[string]*Loan{}, lent: lent, member: lent.Member, asks: map[uint64]struct{}{}}
	b.ctx, b.end = context.WithCancel(context.Background())
	b.rejoined = true
	b.awaken()
	b.running.Go(b.tell)
	return b
}

// Close ends the connection to the lender. No request may be in flight. The coordinator must forget the worker.
func (b *Borrower) Close() {
	b.end()
	b.running.Wait()
}

// Use applies what the coordinator says, unless it is older than what applies.
func (b *Borrower) Use(lent Lent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if lent.Version > b.lent.Version {
		b.apply(lent)
		b.awaken()
	}
}

// Rejoin reports everything in flight again, after the coordinator forgot the worker and it has joined again. lent is what
// [Lending.Join] returned.
func (b *Borrower) Rejoin(lent Lent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.void, b.rejoined, b.member = b.highest, true, lent.Member
	for _, l := range b.services {
		l.outside, l.counted = l.inFlight, 0
	}
	b.apply(lent)
	b.awaken()
}

// apply applies a [Lent]. mu is held.
func (b *Borrower) apply(lent Lent) {
	b.lent = lent
	for _, l := range b.services {
		l.free = slices.Contains(lent.Free, l.service)
		if more := l.outside - l.counted; !l.free && more > 0 {
			b.note(entry{Note: Note{Kind: Began, Service: l.service, N: more}})
			l.counted = l.outside
		}
		l.pump()
	}
}

// Service returns the limits of a service.
func (b *Borrower) Service(name string) *Loan {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.services[name]
	if l == nil {
		l = &Loan{b: b, service: name, free: slices.Contains(b.lent.Free, name), queues: map[string]*queue{}, buckets: map[string]string{}}
		b.services[name] = l
	}
	return l
}

func (b *Borrower) awaken() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// note passes on a note. mu is held.
func (b *Borrower) note(e entry) {
	e.member = b.member
	b.notes = append(b.notes, e)
	b.awaken()
}

// tell passes on notes until the borrower is closed.
func (b *Borrower) tell() {
	for {
		select {
		case <-b.wake:
		case <-b.ctx.Done():
			return
		}
		for {
			n, sent := b.take()
			if n == nil {
				break
			}
			lent, ok := repeated(b.ctx, func() (Lent, error) {
				b.write(n, sent)
				return b.lender.Tell(b.ctx, *n)
			})
			if !ok {
				return
			}
			b.delivered(lent, sent)
		}
	}
}

// write fills in notes. After the worker has joined again, the coordinator counts its requests in flight from the beginning.
func (b *Borrower) write(n *Notes, sent []entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if n.Member != b.member {
		n.Lent, n.Member = 0, b.member
	}
	for i, e := range sent {
		n.All[i] = e.Note
		switch {
		case e.member != b.member && (e.Kind == Began || e.Kind == Over):
			n.All[i] = Note{}
		case !e.left.IsZero():
			n.All[i].Age = now.Sub(e.left)
		}
	}
}

// take returns the next notes to pass on, or nil if there are none.
func (b *Borrower) take() (*Notes, []entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.notes) == 0 && !b.rejoined && b.told == b.lent.Version {
		return nil, nil
	}
	sent := b.notes[:min(len(b.notes), mostNotes)]
	b.notes = slices.Clone(b.notes[len(sent):])
	b.number++
	n := &Notes{Number: b.number, Member: b.member, All: make([]Note, len(sent))}
	if len(b.notes) == 0 { // the counts of requests in flight are complete
		n.Lent, b.told, b.rejoined = b.lent.Version, b.lent.Version, false
	}
	return n, sent
}

// delivered ends withdrawn asks, and lets requests start that a refusal kept back.
func (b *Borrower) delivered(lent Lent, sent []entry) {
	b.Use(lent)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range sent {
		if e.Kind == Withdrawn {
			delete(b.asks, e.ID)
		}
		if e.bars == nil {
			continue
		}
		if e.bars.barred--; e.bars.barred == 0 {
			e.bars.pump()
		}
	}
}

// repeated calls a function until it succeeds. ok is false if ctx ended first.
func repeated[T any](ctx context.Context, call func() (T, error)) (result T, ok bool) {
	for pause := leastPause; ctx.Err() == nil; pause = min(2*pause, mostPause) {
		result, err := call()
		if err == nil {
			return result, true
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
	return result, false
}

// ask starts an ask for requests of a queue. mu is held.
func (b *Borrower) ask(l *Loan, q *queue, n int) {
	b.asked++
	a := Ask{ID: b.asked, Service: l.service, Endpoint: q.endpoint, Requests: n}
	b.asks[a.ID] = struct{}{}
	q.asks++
	q.asked += n
	b.running.Go(func() {
		for {
			g, ok := repeated(b.ctx, func() (Grant, error) {
				b.mu.Lock()
				a.Over, a.Cause, a.Member = b.answered(), q.cause, b.member
				b.mu.Unlock()
				return b.lender.Admit(b.ctx, a)
			})
			if !ok {
				return
			}
			b.Use(g.Lent)
			if b.receive(l, q, &a, &g) {
				return
			}
		}
	})
}

// answered returns the highest ID up to which all asks have their answers. mu is held.
func (b *Borrower) answered() uint64 {
	over := b.asked
	for id := range b.asks {
		over = min(over, id-1)
	}
	return over
}

// receive passes admissions on to the requests that wait longest. It reports whether the ask is over.
func (b *Borrower) receive(l *Loan, q *queue, a *Ask, g *Grant) (over bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if a.Member != b.member { // the coordinator has forgotten the ask
		return false
	}
	changed := q.cause != g.Cause
	if changed {
		q.cause = g.Cause
		for _, w := range q.waiting {
			w.awaken()
		}
	}
	if g.Requests == 0 {
		if !changed {
			q.most = max(q.most/2, leastAsks)
		}
		if len(q.waiting) > 0 && q.asks <= q.most {
			return false
		}
		b.note(entry{Note: Note{Kind: Withdrawn, ID: a.ID}}) // it is over when the coordinator has the note
	} else {
		delete(b.asks, a.ID)
	}
	q.asks--
	q.asked -= a.Requests
	if g.Requests > 0 && !g.Waited {
		q.most = min(q.most+1, mostAsks)
	}
	now := time.Now()
	for i := range g.Requests {
		id := g.First + uint64(i)
		b.highest = max(b.highest, id)
		if l.barred > 0 || len(q.waiting) == 0 {
			b.note(entry{Note: Note{Kind: Returned, ID: id}})
			b.note(entry{Note: Note{Kind: Ended, ID: id}})
			continue
		}
		w := q.waiting[0]
		q.waiting = q.waiting[1:]
		l.inFlight++
		w.admit(now, id, g.Rated)
	}
	l.pump()
	return true
}

// remove takes a waiting request out of its queue. It reports whether it was there. mu is held.
func (q *queue) remove(w *waiter) bool {
	i := slices.Index(q.waiting, w)
	if i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
	return i >= 0
}

// queue holds the requests to one endpoint that wait.
type queue struct {
	endpoint string
	waiting  []*waiter // by ticket
	asks     int       // in progress, at most most
	most     int
	asked    int // requests of these
	cause    engine.ThrottleCause
}

// waiter is a request that waits.
type waiter struct {
	request  *admission.Request
	admitted bool
	wake     chan struct{} // it was admitted, or the cause has changed
}

func (w *waiter) awaken() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// admit admits the request. The borrower's mu is held.
func (w *waiter) admit(now time.Time, id uint64, rated bool) {
	w.request.Left, w.request.Admission, w.request.Rated = now, id, rated
	w.admitted = true
	w.awaken()
}

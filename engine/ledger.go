package engine

import (
	"container/list"
	"context"
	"errors"
	"sync"
)

// Ledger tracks a run's budget, what the run has spent, and what requests in progress have claimed. The sum of spent
// and claimed amounts never exceeds a bound, except by what a request uses above its claim. A ledger created before
// its run also counts earlier requests, such as those for the run's population. It is safe for concurrent use and
// holds no lock while a claim waits.
type Ledger struct {
	mu        sync.Mutex
	at        LedgerState
	closed    string    // why claims are refused; "" if they are accepted
	waiting   list.List // of *claimant, in order of arrival
	told      bool
	OnRefused func(why string) // called once, on its own goroutine, when a claim is first refused
	// Whole, if set, is the budget of several runs: every claim is one on it too. Set it before the first claim.
	Whole *Ledger
}

// NewLedger returns the ledger for a new run.
func NewLedger(b Budget) *Ledger { return &Ledger{at: LedgerState{Budget: b}} }

type claimant struct {
	amount Outlay
	answer chan error // of one
}

// cutAlone is why one session cannot continue: its claim was refused, or the run is ending and a service does not answer.
type cutAlone struct{ why string }

func (e *cutAlone) Error() string { return e.why }
func (e *cutAlone) Unwrap() error { return ErrCut }

// CutAlone returns the error that cuts one session, an [ErrCut].
func CutAlone(why string) error { return &cutAlone{why} }

// CutAloneWhy returns why one session was cut, or "" if err is another error.
func CutAloneWhy(err error) string {
	if alone, ok := errors.AsType[*cutAlone](err); ok {
		return alone.why
	}
	return ""
}

// TryReserve claims an amount if that is possible without waiting. It does not refuse a claim; Reserve does.
func (l *Ledger) TryReserve(a Outlay) bool {
	if l.Whole == nil {
		return l.tryReserve(a)
	}
	if !l.Whole.TryReserve(a) {
		return false
	}
	ok := l.tryReserve(a)
	if !ok {
		l.Whole.Settle(a, Outlay{})
	}
	return ok
}

func (l *Ledger) tryReserve(a Outlay) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting.Len() > 0 || l.closed != "" || !l.fits(a) {
		return false
	}
	l.at.Claimed.Add(&a)
	return true
}

// Reserve claims an amount in order of arrival. If the amount would fit after all other claims are released, Reserve
// waits until enough is released. Otherwise it returns an *cutAlone. If ctx ends first, Reserve returns its cause.
func (l *Ledger) Reserve(ctx context.Context, a Outlay) error {
	if l.Whole == nil {
		return l.reserve(ctx, a)
	}
	if err := l.Whole.Reserve(ctx, a); err != nil {
		return err
	}
	err := l.reserve(ctx, a)
	if err != nil {
		l.Whole.Settle(a, Outlay{})
	}
	return err
}

func (l *Ledger) reserve(ctx context.Context, a Outlay) error {
	c := &claimant{a, make(chan error, 1)}
	l.mu.Lock()
	at := l.waiting.PushBack(c)
	l.admit()
	l.mu.Unlock()
	select {
	case err := <-c.answer:
		return err
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case err := <-c.answer:
		if err == nil { // granted in the meantime: release it
			l.at.Claimed.Subtract(&a)
		}
	default:
		l.waiting.Remove(at)
	}
	l.admit()
	return context.Cause(ctx)
}

// Settle releases a claim and counts what was spent.
func (l *Ledger) Settle(claimed, spent Outlay) {
	if l.Whole != nil {
		l.Whole.Settle(claimed, spent)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at.Claimed.Subtract(&claimed)
	l.at.Spent.Add(&spent)
	l.admit()
}

// Note counts spending that the records of steps do not contain.
func (l *Ledger) Note(beside Outlay) {
	if beside == (Outlay{}) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at.Unrecorded.Add(&beside)
}

// TryClaim is like Claim but does not wait. If it would have to, ok is false and nothing is claimed.
func (l *Ledger) TryClaim(a Outlay) (settle func(spent Outlay), ok bool) {
	if !l.TryReserve(a) {
		return nil, false
	}
	return func(spent Outlay) { l.Settle(a, spent) }, true
}

// Claim reserves the most that a request may use, before it is sent. It waits while the claims of others leave too
// little. The caller must call settle once, with what the request used. An error means that the budget is used up, or
// is the cause of ctx.
func (l *Ledger) Claim(ctx context.Context, a Outlay) (settle func(spent Outlay), err error) {
	if err := l.Reserve(ctx, a); err != nil {
		return nil, err
	}
	return func(spent Outlay) { l.Settle(a, spent) }, nil
}

// Spent returns the settled spending.
func (l *Ledger) Spent() Outlay {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at.Spent
}

// Resume adds what earlier processes spent.
func (l *Ledger) Resume(spent, beside Outlay) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at.Spent.Add(&spent)
	l.at.Unrecorded.Add(&beside)
}

// SetBudget changes the bounds and admits waiting claims that now fit.
func (l *Ledger) SetBudget(b Budget) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at.Budget = b
	l.admit()
}

// Close refuses all further claims because a bound is reached.
func (l *Ledger) Close(of *Bound, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed == "" {
		l.at.Hit, l.closed = of, why
	}
	l.admit()
}

// LedgerState is the state of a ledger at one moment.
type LedgerState struct {
	Budget  Budget
	Spent   Outlay
	Claimed Outlay // by requests in progress
	// Unrecorded is the part of Spent that the step records of ended sessions do not contain; it may be negative.
	Unrecorded Outlay
	Hit        *Bound // the bound that refused a claim or closed the ledger, or nil
}

// State returns what the ledger holds now.
func (l *Ledger) State() LedgerState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at
}

// never returns the bound that an amount exceeds even after all claims are released, and a message, or "" if the
// amount may fit later. The caller holds mu.
func (l *Ledger) never(a Outlay) (of *Bound, why string) {
	if l.closed != "" {
		return l.at.Hit, l.closed
	}
	spent, next := l.at.Spent.Amount(), a.Amount()
	if of := l.at.Budget.over(spent, next); of != nil {
		return of, of.usedUp(&l.at.Budget, spent, next, 0)
	}
	return nil, ""
}

// fits reports whether an amount can be claimed now. The caller holds mu.
func (l *Ledger) fits(a Outlay) bool {
	return l.at.Budget.over(l.at.Spent.Amount().Plus(l.at.Claimed.Amount()), a.Amount()) == nil
}

// admit answers the claims at the front of the queue that fit now or never will. The caller holds mu.
func (l *Ledger) admit() {
	for front := l.waiting.Front(); front != nil; front = l.waiting.Front() {
		c := front.Value.(*claimant)
		switch of, why := l.never(c.amount); {
		case why != "":
			c.answer <- &cutAlone{why}
			l.refused(of, why)
		case !l.fits(c.amount):
			return
		default:
			l.at.Claimed.Add(&c.amount)
			c.answer <- nil
		}
		l.waiting.Remove(front)
	}
}

// refused reports the first refused claim to OnRefused. The caller holds mu.
func (l *Ledger) refused(of *Bound, why string) {
	if l.at.Hit == nil {
		l.at.Hit = of
	}
	if !l.told && l.OnRefused != nil {
		l.told = true
		go l.OnRefused(why)
	}
}

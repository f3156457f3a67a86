package engine

import (
	"container/list"
	"context"
	"errors"
	"sync"
)

// Ledger keeps what a run may take, has taken, and has promised to requests under way. What is spent and claimed never
// exceeds a bound, unless a request takes more than was claimed for it; then by as much. One that is made before its run
// counts what is asked before that, such as for the run's population. It is safe for concurrent use and holds no lock
// while a claim waits.
type Ledger struct {
	mu        sync.Mutex
	at        LedgerState
	closed    string    // why nothing can be claimed any more; "" is that it can
	waiting   list.List // of *claimant, in the order in which they came
	told      bool
	OnRefused func(why string) // hears once, beside, that a claim was refused
}

// NewLedger returns the ledger of a run that is to come.
func NewLedger(b Budget) *Ledger { return &Ledger{at: LedgerState{Budget: b}} }

type claimant struct {
	amount Outlay
	answer chan error // of one
}

// outOfBudget is why a claim is refused. The session that made it is cut.
type outOfBudget struct{ why string }

func (e *outOfBudget) Error() string { return e.why }
func (e *outOfBudget) Unwrap() error { return ErrCut }

// OutOfBudget returns the error of a claim that is refused, an [ErrCut]. why says which bound is used up.
func OutOfBudget(why string) error { return &outOfBudget{why} }

// OutOfBudgetWhy returns why a claim was refused; "" if err is another error.
func OutOfBudgetWhy(err error) string {
	if refused, ok := errors.AsType[*outOfBudget](err); ok {
		return refused.why
	}
	return ""
}

// try claims an amount if nothing has to wait for that. It is not refused: that is for wait to say.
func (l *Ledger) TryReserve(a Outlay) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting.Len() > 0 || l.closed != "" || !l.fits(a) {
		return false
	}
	l.at.Claimed = l.at.Claimed.Plus(a)
	return true
}

// wait claims an amount, first come, first served. One that would fit if all who work gave everything back waits until
// they have given back enough; one that would not is refused with a *outOfBudget. Else its error is the context's cause.
func (l *Ledger) Reserve(ctx context.Context, a Outlay) error {
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
		if err == nil { // granted in the same moment: give it back
			l.at.Claimed = l.at.Claimed.Minus(a)
		}
	default:
		l.waiting.Remove(at)
	}
	l.admit()
	return context.Cause(ctx)
}

// settle takes back what was claimed and counts what was spent.
func (l *Ledger) Settle(claimed, spent Outlay) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at.Claimed, l.at.Spent = l.at.Claimed.Minus(claimed), l.at.Spent.Plus(spent)
	l.admit()
}

// note counts what was spent beside the steps' records.
func (l *Ledger) Note(beside Outlay) {
	if beside == (Outlay{}) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at.Unrecorded = l.at.Unrecorded.Plus(beside)
}

// TryClaim is Claim where nothing has to wait; else ok is false, and nothing is claimed.
func (l *Ledger) TryClaim(a Outlay) (settle func(spent Outlay), ok bool) {
	if !l.TryReserve(a) {
		return nil, false
	}
	return func(spent Outlay) { l.Settle(a, spent) }, true
}

// Claim sets aside what a request may take at most, before it leaves, and waits while others hold so much that it does not
// fit. settle must be called once, with what the request took. An error says that the budget is used up, or is the cause
// of ctx.
func (l *Ledger) Claim(ctx context.Context, a Outlay) (settle func(spent Outlay), err error) {
	if err := l.Reserve(ctx, a); err != nil {
		return nil, err
	}
	return func(spent Outlay) { l.Settle(a, spent) }, nil
}

// Spent is what was settled so far.
func (l *Ledger) Spent() Outlay {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at.Spent
}

// takeUp adds what earlier processes spent.
func (l *Ledger) Resume(spent, beside Outlay) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at.Spent, l.at.Unrecorded = l.at.Spent.Plus(spent), l.at.Unrecorded.Plus(beside)
}

// set changes the bounds. Who fits now need not wait any longer.
func (l *Ledger) SetBudget(b Budget) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at.Budget = b
	l.admit()
}

// close refuses all claims from now on, for a bound that is reached.
func (l *Ledger) Close(of *Bound, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed == "" {
		l.at.Hit, l.closed = of, why
	}
	l.admit()
}

// LedgerState is what a ledger holds at one moment.
type LedgerState struct {
	Budget  Budget
	Spent   Outlay
	Claimed Outlay // by requests under way
	// Unrecorded is the part of Spent that the step records of ended sessions do not contain; it may be negative.
	Unrecorded Outlay
	Hit        *Bound // the bound that refused a claim, or closed the ledger; nil if none has
}

func (l *Ledger) State() LedgerState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at
}

// never says why an amount will not fit whatever is given back; "" is that it may. mu is held.
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

// fits reports whether an amount can be claimed now. mu is held.
func (l *Ledger) fits(a Outlay) bool {
	return l.at.Budget.over(l.at.Spent.Plus(l.at.Claimed).Amount(), a.Amount()) == nil
}

// admit answers those in front who fit now, or never will. mu is held.
func (l *Ledger) admit() {
	for front := l.waiting.Front(); front != nil; front = l.waiting.Front() {
		c := front.Value.(*claimant)
		switch of, why := l.never(c.amount); {
		case why != "":
			c.answer <- &outOfBudget{why}
			l.refused(of, why)
		case !l.fits(c.amount):
			return
		default:
			l.at.Claimed = l.at.Claimed.Plus(c.amount)
			c.answer <- nil
		}
		l.waiting.Remove(front)
	}
}

// refused tells of the first claim that was. mu is held.
func (l *Ledger) refused(of *Bound, why string) {
	if l.at.Hit == nil {
		l.at.Hit = of
	}
	if !l.told && l.OnRefused != nil {
		l.told = true
		go l.OnRefused(why)
	}
}

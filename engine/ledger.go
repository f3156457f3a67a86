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
	mu      sync.Mutex
	budget  Budget
	spent   Outlay
	claimed Outlay
	beside  Outlay    // what of spent the steps' records of the sessions that ended do not say; may be negative
	hit     *bound    // that made a claim fail, or had the ledger closed; nil is none yet
	closed  string    // why nothing can be claimed any more; "" is that it can
	waiting list.List // of *claimant, in the order in which they came
	told    bool
	tell    func(why string) // hears once, beside, that a claim was refused
}

// NewLedger returns the ledger of a run that is to come.
func NewLedger(b Budget) *Ledger { return &Ledger{budget: b} }

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
func (l *Ledger) try(a Outlay) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting.Len() > 0 || l.closed != "" || !l.fits(a) {
		return false
	}
	l.claimed = l.claimed.Plus(a)
	return true
}

// wait claims an amount, first come, first served. One that would fit if all who work gave everything back waits until
// they have given back enough; one that would not is refused with a *outOfBudget. Else its error is the context's cause.
func (l *Ledger) wait(ctx context.Context, a Outlay) error {
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
			l.claimed = l.claimed.Minus(a)
		}
	default:
		l.waiting.Remove(at)
	}
	l.admit()
	return context.Cause(ctx)
}

// settle takes back what was claimed and counts what was spent.
func (l *Ledger) settle(claimed, spent Outlay) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.claimed, l.spent = l.claimed.Minus(claimed), l.spent.Plus(spent)
	l.admit()
}

// note counts what was spent beside the steps' records.
func (l *Ledger) note(beside Outlay) {
	if beside == (Outlay{}) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.beside = l.beside.Plus(beside)
}

// TryClaim is Claim where nothing has to wait; else ok is false, and nothing is claimed.
func (l *Ledger) TryClaim(a Outlay) (settle func(spent Outlay), ok bool) {
	if !l.try(a) {
		return nil, false
	}
	return func(spent Outlay) { l.settle(a, spent) }, true
}

// Claim sets aside what a request may take at most, before it leaves, and waits while others hold so much that it does not
// fit. settle must be called once, with what the request took. An error says that the budget is used up, or is the cause
// of ctx.
func (l *Ledger) Claim(ctx context.Context, a Outlay) (settle func(spent Outlay), err error) {
	if err := l.wait(ctx, a); err != nil {
		return nil, err
	}
	return func(spent Outlay) { l.settle(a, spent) }, nil
}

// Spent is what was settled so far.
func (l *Ledger) Spent() Outlay {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.spent
}

// takeUp adds what earlier processes spent.
func (l *Ledger) takeUp(spent, beside Outlay) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spent, l.beside = l.spent.Plus(spent), l.beside.Plus(beside)
}

// set changes the bounds. Who fits now need not wait any longer.
func (l *Ledger) set(b Budget) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.budget = b
	l.admit()
}

// close refuses all claims from now on, for a bound that is reached.
func (l *Ledger) close(of *bound, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed == "" {
		l.hit, l.closed = of, why
	}
	l.admit()
}

// books are what stands in a ledger at a moment.
type books struct {
	budget                 Budget
	spent, claimed, beside Outlay
	hit                    *bound
}

func (l *Ledger) books() books {
	l.mu.Lock()
	defer l.mu.Unlock()
	return books{l.budget, l.spent, l.claimed, l.beside, l.hit}
}

// never says why an amount will not fit whatever is given back; "" is that it may. mu is held.
func (l *Ledger) never(a Outlay) (of *bound, why string) {
	if l.closed != "" {
		return l.hit, l.closed
	}
	spent, next := l.spent.Amount(), a.Amount()
	if of := l.budget.over(spent, next); of != nil {
		return of, of.usedUp(&l.budget, spent, next, 0)
	}
	return nil, ""
}

// fits reports whether an amount can be claimed now. mu is held.
func (l *Ledger) fits(a Outlay) bool {
	return l.budget.over(l.spent.Plus(l.claimed).Amount(), a.Amount()) == nil
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
			l.claimed = l.claimed.Plus(c.amount)
			c.answer <- nil
		}
		l.waiting.Remove(front)
	}
}

// refused tells of the first claim that was. mu is held.
func (l *Ledger) refused(of *bound, why string) {
	if l.hit == nil {
		l.hit = of
	}
	if !l.told && l.tell != nil {
		l.told = true
		go l.tell(why)
	}
}

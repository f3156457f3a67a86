package engine

import (
	"fmt"
	"time"
)

// minShare is of how many sessions' ends a forecast is made, at least.
const minShare = 5

// newLedger opens the books of a run, or takes over those that were opened before it.
func newLedger(cfg *Config) *Ledger {
	l := cfg.Ledger
	if l == nil {
		l = NewLedger(cfg.Settings.Budget)
	}
	l.note(l.Spent().Minus(recorded(cfg.Written))) // such as attempts that never left
	if res := cfg.Resume; res != nil {
		l.takeUp(res.Spent().settled(), res.State.Totals.Peaks.Beside)
	}
	return l
}

// TimeOver is why work ends that takes longer than its budget lets it.
func (b *Budget) TimeOver() error {
	return &outOfBudget{bounds[len(bounds)-1].usedUp(b, Amount{}, Amount{}, b.Wall)}
}

// Larger is the flag and value with which work goes on that was refused a claim, or took so long; "" is that there is none.
func (l *Ledger) Larger(elapsed time.Duration) string {
	books := l.books()
	s := BudgetState{Budget: books.budget, Spent: books.spent.Amount(), hit: books.hit}
	return s.Larger(elapsed)
}

// setBudget changes what the run may take. Requests that wait for a larger one go on; a run that is ending for want of
// it ends all the same. Its errors are a *FieldError.
func (r *Run) setBudget(b Budget) error {
	if err := b.validate(); err != nil {
		return err
	}
	if err := CheckPriced(b, r.unpriced); err != nil {
		return err
	}
	r.ledger.set(b)
	return nil
}

// outOfBudget ends the run: no session starts, those in flight go on as far as they need no more.
func (l *loop) outOfBudget(why string) {
	if l.phase == Draining || l.phase == Ended {
		return
	}
	l.change(PhaseChange, l.phase.String(), Draining.String(), "budget", why)
	l.ending, l.stopping = EndOutOfBudget, why
	l.setPhase(Draining)
}

// checkWall ends the run when its wall time is over: no request leaves any more.
func (l *loop) checkWall(now time.Time) {
	if l.phase == Draining || l.phase == Ended {
		return
	}
	b := l.r.ledger.books().budget
	if elapsed := l.writing + l.elapsed + now.Sub(l.began); b.Wall > 0 && elapsed >= b.Wall {
		of := &bounds[len(bounds)-1]
		why := of.usedUp(&b, Amount{}, Amount{}, elapsed)
		l.r.ledger.close(of, why)
		l.outOfBudget(why)
	}
}

// budget is how far the budget is used up.
func (l *loop) budget(now time.Time, remaining time.Duration) BudgetState {
	books := l.r.ledger.books()
	s := BudgetState{Budget: books.budget, Spent: books.spent.Amount(), Claimed: books.claimed.Amount(), hit: books.hit}
	done, total := l.totals.Ended(), l.sessions.total
	if done >= minShare && total >= done {
		s.Forecast = l.forecast(books, float64(total)/float64(done))
	}
	switch {
	case l.ending == EndOutOfBudget:
		s.Short = l.stopping
	case l.phase != Ended && l.phase != Draining:
		s.Short = s.short(l.writing+l.elapsed+now.Sub(l.began), remaining, done, total)
	}
	return s
}

// forecast is what will be spent when there are times as many sessions as have ended. What the run itself asks, it has
// mostly asked by then; what is spent already stays.
func (l *loop) forecast(books books, times float64) Amount {
	own := l.totals.own()
	each, shared, spent := own.spent().Plus(books.beside).Amount(), l.totals.Shared.spent().Amount(), books.spent.Amount()
	more := func(of func(Amount) int64) int64 {
		return max(int64(times*float64(of(each)))+of(shared), of(spent))
	}
	return Amount{
		more(func(a Amount) int64 { return a.Cost }), more(func(a Amount) int64 { return a.Tokens }), more(func(a Amount) int64 { return a.Requests }),
	}
}

// short says which bound will not last for all sessions; "" is none, or that nobody can say.
func (s *BudgetState) short(elapsed, remaining time.Duration, done, total int64) string {
	if s.Forecast == (Amount{}) && remaining < 0 || total <= done {
		return ""
	}
	lasts := total
	var first *bound
	for i := range bounds {
		of := &bounds[i]
		limit, now, end := of.limit(&s.Budget), of.part(s.Spent, elapsed), of.part(s.Forecast, elapsed+max(remaining, 0))
		if limit <= 0 || end <= limit || end <= now {
			continue
		}
		share := float64(max(limit-now, 0)) / float64(end-now)
		if n := done + int64(share*float64(total-done)); n < lasts {
			first, lasts = of, n
		}
	}
	if first == nil {
		return ""
	}
	return fmt.Sprintf("at this pace the budget of %s lasts for %s of %s sessions",
		first.words(first.limit(&s.Budget)), FormatCount(lasts), FormatCount(total))
}

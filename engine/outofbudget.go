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

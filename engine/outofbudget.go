package engine

import (
	"fmt"
	"time"
)

// TimeUp returns the bound on wall time, and a message that it is reached after elapsed.
func (b *Budget) TimeUp(elapsed time.Duration) (*Bound, string) {
	of := &bounds[len(bounds)-1]
	return of, of.usedUp(b, Amount{}, Amount{}, elapsed)
}

// TimeOver returns the error for work that takes longer than the budget allows.
func (b *Budget) TimeOver() error {
	_, why := b.TimeUp(b.Wall)
	return &outOfBudget{why}
}

// Larger returns the flag and value that let work resume after a refused claim or the end of its time, or "" without a
// bound.
func (l *Ledger) Larger(elapsed time.Duration) string {
	books := l.State()
	s := BudgetState{Budget: books.Budget, Spent: books.Spent.Amount(), Hit: books.Hit}
	return s.Larger(elapsed)
}

// Shortage describes the bound that will run out before the last session. It returns "" if there is none or it is
// unknown.
func (s *BudgetState) Shortage(elapsed, remaining time.Duration, done, total int64) string {
	if s.Forecast == (Amount{}) && remaining < 0 || total <= done {
		return ""
	}
	lasts := total
	var first *Bound
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

package engine

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Budget limits what a run may use. The zero value is unlimited.
type Budget struct {
	Dollars float64 // for model calls; 0 means unlimited
	Tokens  int64   // input and output; 0 means unlimited
	// Requests counts attempts sent to all services, including sign-ins; 0 means unlimited. Requests that the HTTP library
	// resends because a kept-alive connection was closed do not count as attempts.
	Requests int64
	Wall     time.Duration // summed over all processes that execute the run, including pauses; 0 means unlimited
}

// Amount is a quantity of cost, tokens and requests.
type Amount struct {
	Cost     int64 `cbor:"1,keyasint,omitempty"` // in billionths of a US dollar
	Tokens   int64 `cbor:"2,keyasint,omitempty"`
	Requests int64 `cbor:"3,keyasint,omitempty"`
}

// Plus returns the sum of a and b.
func (a Amount) Plus(b Amount) Amount {
	return Amount{a.Cost + b.Cost, a.Tokens + b.Tokens, a.Requests + b.Requests}
}

// Minus returns the difference of a and b.
func (a Amount) Minus(b Amount) Amount {
	return Amount{a.Cost - b.Cost, a.Tokens - b.Tokens, a.Requests - b.Requests}
}

// BudgetState is the current use of a budget.
type BudgetState struct {
	Budget  Budget
	Spent   Amount
	Claimed Amount // upper limit for the requests in progress
	// Forecast is the expected spending at the end of the run at the current rate; zero if unknown.
	Forecast Amount
	Short    string // describes the bound that will run out or is reached; "" if there is none

	Hit *Bound // the bound that was reached; nil if none
}

// Bound describes one bound of a budget. Values are whole numbers; a limit of 0 means unlimited.
type Bound struct {
	flag  string // name of its flag
	limit func(*Budget) int64
	part  func(a Amount, elapsed time.Duration) int64
	words func(int64) string // formats the limit
	figure,
	flagged func(int64) string // format an amount: for people, and as the flag's value
	next string // verb for the expected use of the next call; "" omits that part of the message
	unit string // of the flag's value, for display
}

var bounds = []Bound{
	{
		"budget", func(b *Budget) int64 { return b.billionths() }, func(a Amount, _ time.Duration) int64 { return a.Cost },
		FormatDollars, FormatDollars, func(n int64) string { return strconv.FormatFloat(float64(n)/1e9, 'f', -1, 64) }, "cost up to", "dollars",
	},
	{
		"max-tokens", func(b *Budget) int64 { return b.Tokens }, func(a Amount, _ time.Duration) int64 { return a.Tokens },
		func(n int64) string { return FormatCount(n) + " tokens" }, FormatCount, plainly, "use up to", "tokens",
	},
	{
		"max-requests", func(b *Budget) int64 { return b.Requests }, func(a Amount, _ time.Duration) int64 { return a.Requests },
		func(n int64) string { return FormatCount(n) + " requests" }, FormatCount, plainly, "", "requests",
	},
	{
		"max-time", func(b *Budget) int64 { return int64(b.Wall) }, func(_ Amount, elapsed time.Duration) int64 { return int64(elapsed) },
		func(n int64) string { return FormatDuration(time.Duration(n)) + " of wall time" },
		func(n int64) string { return FormatDuration(time.Duration(n)) },
		func(n int64) string { return timeValue((*time.Duration)(&n)).String() }, "", "of wall time",
	},
}

func plainly(n int64) string { return strconv.FormatInt(n, 10) }

// maxDollars is the largest budget.
const maxDollars = 1_000_000

// Validate returns an error for each bound that is out of range.
func (b *Budget) Validate() error {
	var mistakes []error
	for _, part := range []struct {
		ok   bool
		name string
	}{
		{b.Dollars >= 0 && b.Dollars <= maxDollars, "budget"}, {b.Tokens >= 0, "max-tokens"}, {b.Requests >= 0, "max-requests"}, {b.Wall >= 0, "max-time"},
	} {
		if !part.ok {
			mistakes = append(mistakes, &FieldError{part.name, "is out of range", "0 is unlimited"})
		}
	}
	return errors.Join(mistakes...)
}

// billionths returns the cost limit in billionths of a US dollar; 0 means unlimited.
func (b *Budget) billionths() int64 {
	if b.Dollars <= 0 {
		return 0
	}
	return max(int64(math.Round(b.Dollars*1e9)), 1)
}

// over returns the first bound that spending next would exceed, or nil. An amount that does not count toward a bound cannot exceed it.
func (b *Budget) over(spent, next Amount) *Bound {
	for i := range bounds {
		of := &bounds[i]
		if limit, more := of.limit(b), of.part(next, 0); limit > 0 && more > 0 && of.part(spent, 0)+more > limit {
			return of
		}
	}
	return nil
}

// tightest returns the bound with the largest used fraction, or nil if there are no bounds.
func (b *Budget) tightest(spent Amount, elapsed time.Duration) (of *Bound) {
	most := 0.0
	for i := range bounds {
		limit := bounds[i].limit(b)
		if limit <= 0 {
			continue
		}
		if share := float64(bounds[i].part(spent, elapsed)) / float64(limit); of == nil || share > most {
			of, most = &bounds[i], share
		}
	}
	return of
}

// begin returns the beginning of the message that the bound is reached. It also identifies the bound in a run's reason.
func (of *Bound) begin(b *Budget) string {
	return "the budget of " + of.words(of.limit(b)) + " is used up"
}

// usedUp returns the message that the bound is reached. next is the maximum use of the next call.
func (of *Bound) usedUp(b *Budget, spent, next Amount, elapsed time.Duration) string {
	text := of.begin(b) + ": " + of.figure(of.part(spent, elapsed)) + " spent"
	if more := of.part(next, 0); more > 0 && of.next != "" {
		text += fmt.Sprintf(", the next call may %s %s", of.next, of.figure(more))
	}
	return text
}

// CheckResumeBudget returns a *FieldError if a run with this spending cannot resume with budget b, and nil if it can.
// reason is why the run ended: if it names a bound of the budget, that bound must change.
func CheckResumeBudget(b Budget, reason string, spent Amount, elapsed time.Duration) error {
	for i := range bounds {
		of := &bounds[i]
		limit, used := of.limit(&b), of.part(spent, elapsed)
		if limit > 0 && (used >= limit || strings.HasPrefix(reason, of.begin(&b))) {
			return &FieldError{
				of.flag, fmt.Sprintf("%s of %s are spent, which leaves too little to continue", of.figure(used), of.words(limit)),
				"choose a larger one, such as " + of.larger(limit, used),
			}
		}
	}
	return nil
}

// larger returns the flag with the limit doubled until it exceeds the amount used.
func (of *Bound) larger(limit, used int64) string {
	for limit *= 2; limit <= used; {
		limit *= 2
	}
	return "--" + of.flag + " " + of.flagged(limit)
}

// Larger returns the flag and value that let a run that is out of budget resume, such as "--budget 10", or "" if the
// budget has no bounds.
func (s *BudgetState) Larger(elapsed time.Duration) string {
	of := s.Hit
	if of == nil {
		of = s.Budget.tightest(s.Spent, elapsed)
	}
	if of == nil || of.limit(&s.Budget) == 0 {
		return ""
	}
	return of.larger(of.limit(&s.Budget), of.part(s.Spent, elapsed))
}

// Bound returns the setting that ended a run and can be raised to extend it, its unit, and a suggested value. It
// returns "" if neither the budget nor the run's length ended the run. For a budget it suggests twice the limit. For
// the length it suggests the current value, so that a user does not extend a run by accident.
func (r *RunRecord) Bound() (setting, unit, offer string) {
	b := &r.Settings.Budget
	for i := range bounds {
		of := &bounds[i]
		if r.Ending == EndOutOfBudget && of.limit(b) > 0 && strings.HasPrefix(r.Reason, of.begin(b)) {
			return of.flag, of.unit, of.flagged(2 * of.limit(b))
		}
	}
	switch {
	case !r.AllDone():
		return "", "", ""
	case r.Settings.Cycles > 0:
		return "cycles", "cycles", strconv.Itoa(r.Settings.Cycles)
	default:
		return "hours", "hours of wall time", strconv.FormatFloat(r.Settings.Hours, 'g', -1, 64)
	}
}

// AllDone reports whether a run ended because it reached its planned length.
func (r *RunRecord) AllDone() bool {
	return r.Ending == EndFinished && strings.HasPrefix(r.Reason, AllDone) || r.Ending != NotEnded && r.Cycles > 0 && r.Cycle >= r.Cycles
}

// Describe returns the spending against each bound, such as "$1.50 of $5.00, 12 of 50 requests", or "" if there are no bounds.
func (s *BudgetState) Describe(elapsed time.Duration) string {
	var parts []string
	for i := range bounds {
		of := &bounds[i]
		if limit := of.limit(&s.Budget); limit > 0 {
			parts = append(parts, of.figure(of.part(s.Spent, elapsed))+" of "+of.words(limit))
		}
	}
	return strings.Join(parts, ", ")
}

// CheckPriced returns a *FieldError if b limits the cost and the prices of some models are unknown.
func CheckPriced(b Budget, unpriced []string) error {
	if b.Dollars <= 0 || len(unpriced) == 0 {
		return nil
	}
	return &FieldError{
		"budget", "the price of " + strings.Join(unpriced, ", ") + " is unknown, so a budget in dollars cannot be enforced",
		"add the price to prices.json in the data folder, or limit the tokens with --max-tokens",
	}
}

// TimeUp returns the bound on wall time, and a message that it is reached after elapsed.
func (b *Budget) TimeUp(elapsed time.Duration) (*Bound, string) {
	of := &bounds[len(bounds)-1]
	return of, of.usedUp(b, Amount{}, Amount{}, elapsed)
}

// TimeOver returns the error for work that takes longer than the budget allows.
func (b *Budget) TimeOver() error {
	_, why := b.TimeUp(b.Wall)
	return &cutAlone{why}
}

// Larger returns the flag and value that let work resume after a refused claim or the end of its time, or "" without a bound.
func (l *Ledger) Larger(elapsed time.Duration) string {
	books := l.State()
	s := BudgetState{Budget: books.Budget, Spent: books.Spent.Amount(), Hit: books.Hit}
	return s.Larger(elapsed)
}

// Shortage describes the bound that will run out before the last session. It returns "" if there is none or it is unknown.
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

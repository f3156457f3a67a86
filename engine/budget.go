package engine

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Budget is what a run may take. The zero value has no bounds.
type Budget struct {
	Dollars float64 // what calls of models may cost; 0 is any
	Tokens  int64   // in and out; 0 is any
	// Requests are attempts that leave, to all services, sign-ins too; 0 is any. What the HTTP library sends again by
	// itself, since a kept connection was closed under it, is no attempt.
	Requests int64
	Wall     time.Duration // of all processes that work on the run, pauses included; 0 is any
}

// Amount is a part of a budget.
type Amount struct {
	Cost     int64 `cbor:"1,keyasint,omitempty"` // in billionths of a US dollar
	Tokens   int64 `cbor:"2,keyasint,omitempty"`
	Requests int64 `cbor:"3,keyasint,omitempty"`
}

// Plus returns the sum of a and b.
func (a Amount) Plus(b Amount) Amount {
	return Amount{a.Cost + b.Cost, a.Tokens + b.Tokens, a.Requests + b.Requests}
}

// Minus returns a without b.
func (a Amount) Minus(b Amount) Amount {
	return Amount{a.Cost - b.Cost, a.Tokens - b.Tokens, a.Requests - b.Requests}
}

// BudgetState is how far a budget is used up.
type BudgetState struct {
	Budget  Budget
	Spent   Amount
	Claimed Amount // by requests under way, at most
	// Forecast is what the run will have spent at its end if it goes on as so far; zero while nobody can say.
	Forecast Amount
	Short    string // in words: which bound will not last, or is reached; "" is none

	Hit *Bound // the bound that was reached; nil if none
}

// Bound is one of those that a budget may have. All count in whole numbers; a limit of 0 is none.
type Bound struct {
	flag  string // that sets it
	limit func(*Budget) int64
	part  func(a Amount, elapsed time.Duration) int64
	words func(int64) string // of the limit
	figure,
	flagged func(int64) string // of a part; as the flag's value
	next string // what the next call may do with so much; "" says nothing of it
	unit string // of the flag's value, for people
}

var bounds = []Bound{
	{
		"budget", func(b *Budget) int64 { return b.billionths() }, func(a Amount, _ time.Duration) int64 { return a.Cost },
		FormatDollars, FormatDollars, func(n int64) string { return strconv.FormatFloat(float64(n)/1e9, 'f', -1, 64) }, "cost up to", "dollars",
	},
	{
		"max-tokens", func(b *Budget) int64 { return b.Tokens }, func(a Amount, _ time.Duration) int64 { return a.Tokens },
		func(n int64) string { return FormatCount(n) + " tokens" }, FormatCount, plainly, "take up to", "tokens",
	},
	{
		"max-requests", func(b *Budget) int64 { return b.Requests }, func(a Amount, _ time.Duration) int64 { return a.Requests },
		func(n int64) string { return FormatCount(n) + " requests" }, FormatCount, plainly, "", "requests",
	},
	{
		"max-time", func(b *Budget) int64 { return int64(b.Wall) }, func(_ Amount, elapsed time.Duration) int64 { return int64(elapsed) },
		func(n int64) string { return FormatDuration(time.Duration(n)) + " of wall time" },
		func(n int64) string { return FormatDuration(time.Duration(n)) },
		func(n int64) string { return time.Duration(n).String() }, "", "of wall time",
	},
}

func plainly(n int64) string { return strconv.FormatInt(n, 10) }

// maxDollars is the largest budget.
const maxDollars = 1_000_000

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

// billionths is the bound on money; 0 is none.
func (b *Budget) billionths() int64 {
	if b.Dollars <= 0 {
		return 0
	}
	return max(int64(math.Round(b.Dollars*1e9)), 1)
}

// over is the first bound that so much more would break; nil is none. What takes nothing of a bound breaks none.
func (b *Budget) over(spent, next Amount) *Bound {
	for i := range bounds {
		of := &bounds[i]
		if limit, more := of.limit(b), of.part(next, 0); limit > 0 && more > 0 && of.part(spent, 0)+more > limit {
			return of
		}
	}
	return nil
}

// tightest is the bound of which the largest share is used; nil without any.
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

// begin is how it is said that a bound is reached.
func (of *Bound) begin(b *Budget) string {
	return "the budget of " + of.words(of.limit(b)) + " is used up"
}

// usedUp says in words that a bound is reached: next is what the next call may take.
func (of *Bound) usedUp(b *Budget, spent, next Amount, elapsed time.Duration) string {
	text := of.begin(b) + ": " + of.figure(of.part(spent, elapsed)) + " spent"
	if more := of.part(next, 0); more > 0 && of.next != "" {
		text += fmt.Sprintf(", the next call may %s %s", of.next, of.figure(more))
	}
	return text
}

// CheckResumeBudget says why a run that spent so much cannot go on with a budget, as a *FieldError; nil is that it can. reason is
// why it ended last, if it was out of budget: then the bound that it names must be another.
func CheckResumeBudget(b Budget, reason string, spent Amount, elapsed time.Duration) error {
	for i := range bounds {
		of := &bounds[i]
		limit, used := of.limit(&b), of.part(spent, elapsed)
		if limit > 0 && (used >= limit || strings.HasPrefix(reason, of.begin(&b))) {
			return &FieldError{
				of.flag, fmt.Sprintf("%s of %s are spent, which leaves too little to go on", of.figure(used), of.words(limit)),
				"a larger one, such as " + of.larger(limit, used),
			}
		}
	}
	return nil
}

// larger is the flag and value of twice as much, and again until it is more than what is used.
func (of *Bound) larger(limit, used int64) string {
	for limit *= 2; limit <= used; {
		limit *= 2
	}
	return "--" + of.flag + " " + of.flagged(limit)
}

// Larger is the flag and value with which a run that is out of this budget goes on, such as "--budget 10"; "" where it
// has no bound.
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

// Bound is what ended a run, where a larger one lets it go on: the setting that it is, what that counts, and what to
// offer; "" where neither a budget nor the run's length did. Of a budget it offers twice as much, of the length what it
// was, so that nobody makes a run longer who did not mean to.
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

// AllDone reports whether a run ended because it was as long as it was to be.
func (r *RunRecord) AllDone() bool {
	return r.Ending == EndFinished && strings.HasPrefix(r.Reason, AllDone) || r.Ending != NotEnded && r.Cycles > 0 && r.Cycle >= r.Cycles
}

// Describe writes what is spent of the bounds that there are, such as "$1.50 of $5.00, 12 of 50 requests"; "" without
// any.
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

// CheckPriced says that a bound on money cannot be kept where nobody knows what models cost.
func CheckPriced(b Budget, unpriced []string) error {
	if b.Dollars <= 0 || len(unpriced) == 0 {
		return nil
	}
	return &FieldError{
		"budget", "nobody knows what " + strings.Join(unpriced, ", ") + " costs, so that a budget of money cannot be kept",
		"write its price into prices.json in the data folder, or bound the tokens: --max-tokens",
	}
}

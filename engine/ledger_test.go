package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// look returns the state of a ledger and the number of waiting claims.
func (l *Ledger) look() (b LedgerState, waiting int) {
	b = l.State()
	l.mu.Lock()
	defer l.mu.Unlock()
	return b, l.waiting.Len()
}

// took returns an outlay with the given amount.
func took(a Amount) Outlay { return Outlay{a.Requests, Usage{Input: a.Tokens, Cost: a.Cost}} }

// claim calls TryReserve, then Reserve.
func (l *Ledger) claim(ctx context.Context, of Amount) error {
	a := took(of)
	if l.TryReserve(a) {
		return nil
	}
	return l.Reserve(ctx, a)
}

// demand is one request of the test.
type demand struct {
	most, takes Amount
	lasts       time.Duration
	patience    time.Duration // timeout of its context; 0 means no timeout
}

func drawDemand(t *rapid.T) demand {
	most := Amount{
		Cost: rapid.Int64Range(0, 9).Draw(t, "cost"), Tokens: rapid.Int64Range(0, 40).Draw(t, "tokens"), Requests: 1,
	}
	return demand{
		most: most,
		takes: Amount{
			rapid.Int64Range(0, most.Cost).Draw(t, "took cost"), rapid.Int64Range(0, most.Tokens).Draw(t, "took tokens"),
			rapid.Int64Range(0, 1).Draw(t, "left"),
		},
		lasts:    time.Duration(rapid.IntRange(0, 5).Draw(t, "lasts")) * time.Second,
		patience: time.Duration(rapid.SampledFrom([]int{0, 0, 0, 1, 4}).Draw(t, "patience")) * time.Second,
	}
}

// TestLedgerNeverOvershoots makes many concurrent claims. While requests stay within their claims, spent and claimed
// amounts stay within the bounds, no claim blocks forever, and no claim that would have fit is refused.
func TestLedgerNeverOvershoots(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		budget := Budget{
			Dollars: float64(rapid.IntRange(0, 30).Draw(r, "dollars")) / 1e9, Tokens: rapid.Int64Range(0, 200).Draw(r, "tokens"),
			Requests: rapid.Int64Range(0, 20).Draw(r, "requests"),
		}
		workers := make([][]demand, rapid.IntRange(1, 12).Draw(r, "workers"))
		for i := range workers {
			for range rapid.IntRange(1, 5).Draw(r, "demands") {
				workers[i] = append(workers[i], drawDemand(r))
			}
		}
		var wrong error
		synctest.Test(t, func(t *testing.T) {
			l := NewLedger(budget)
			var mu sync.Mutex
			var refused []Amount
			var taken Amount
			holds := func() {
				b, _ := l.look()
				if of := budget.over(Amount{}, b.Spent.Plus(b.Claimed).Amount()); of != nil {
					mu.Lock()
					wrong = fmt.Errorf("%+v spent and %+v claimed of %+v", b.Spent, b.Claimed, budget)
					mu.Unlock()
				}
			}
			var all sync.WaitGroup
			for _, demands := range workers {
				all.Go(func() {
					for _, d := range demands {
						ctx, cancel := t.Context(), context.CancelFunc(func() {})
						if d.patience > 0 {
							ctx, cancel = context.WithTimeout(ctx, d.patience)
						}
						err := l.claim(ctx, d.most)
						cancel()
						holds()
						if err == nil {
							time.Sleep(d.lasts)
							l.Settle(took(d.most), took(d.takes))
							holds()
						}
						mu.Lock()
						if err == nil {
							taken = taken.Plus(d.takes)
						} else if errors.Is(err, ErrCut) {
							refused = append(refused, d.most)
						}
						mu.Unlock()
					}
				})
			}
			all.Wait() // the test also checks that this returns
			b, waiting := l.look()
			if b.Spent.Amount() != taken || b.Claimed != (Outlay{}) || waiting > 0 {
				wrong = fmt.Errorf("at the end %+v spent, %+v claimed, %d waiting; %+v were taken", b.Spent, b.Claimed, waiting, taken)
			}
			for _, a := range refused {
				if budget.over(b.Spent.Amount(), a) == nil {
					wrong = fmt.Errorf("%+v was refused, though at the end, with %+v spent, it fits %+v", a, b.Spent, budget)
				}
			}
		})
		if wrong != nil {
			r.Fatal(wrong)
		}
	})
}

func TestLedgerServesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLedger(Budget{Tokens: 10})
		if !l.TryReserve(took(Amount{Tokens: 7})) {
			t.Fatal("an empty ledger has no room")
		}
		var mu sync.Mutex
		var order []int64
		for _, n := range []int64{5, 3, 4, 3} { // each 3 would fit together with the first
			go func() {
				if err := l.Reserve(t.Context(), took(Amount{Tokens: n})); err != nil {
					t.Error(err)
				}
				mu.Lock()
				order = append(order, n)
				mu.Unlock()
				l.Settle(took(Amount{Tokens: n}), took(Amount{}))
			}()
			synctest.Wait()
		}
		if l.TryReserve(took(Amount{Tokens: 1})) {
			t.Error("a claim overtook waiting ones")
		}
		l.Settle(took(Amount{Tokens: 7}), took(Amount{Tokens: 5}))
		synctest.Wait()
		if fmt.Sprint(order) != "[5 3 4 3]" {
			t.Errorf("served in the order %v", order)
		}
	})
}

func TestLedgerCanceledWaitLeavesNoHole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLedger(Budget{Requests: 2})
		one := Amount{Requests: 1}
		for range 2 {
			if !l.TryReserve(took(one)) {
				t.Fatal("2 of 2 do not fit")
			}
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("gone")
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { first <- l.Reserve(ctx, took(Amount{Requests: 2})) }()
		synctest.Wait()
		go func() { second <- l.Reserve(t.Context(), took(one)) }()
		synctest.Wait()
		l.Settle(took(one), took(Amount{})) // the second fits but is behind the first
		synctest.Wait()
		cancel(gone)
		if err := <-first; !errors.Is(err, gone) {
			t.Errorf("the canceled wait ended with %v", err)
		}
		if err := <-second; err != nil {
			t.Error(err)
		}
		if b, waiting := l.look(); b.Claimed.Requests != 2 || waiting != 0 {
			t.Errorf("%d claimed, %d waiting; want 2, 0", b.Claimed.Requests, waiting)
		}
	})
}

// TestLedgerIsChanged checks that a waiting claim proceeds when the bounds are raised, and ends when the ledger is
// closed.
func TestLedgerIsChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLedger(Budget{Requests: 1})
		one := Amount{Requests: 1}
		if !l.TryReserve(took(one)) {
			t.Fatal("the first claim does not fit")
		}
		raised, closed := make(chan error, 1), make(chan error, 1)
		go func() { raised <- l.Reserve(t.Context(), took(one)) }()
		synctest.Wait()
		l.SetBudget(Budget{Requests: 2})
		if err := <-raised; err != nil {
			t.Errorf("a larger budget did not release the claim: %v", err)
		}
		go func() { closed <- l.Reserve(t.Context(), took(one)) }()
		synctest.Wait()
		l.Close(&bounds[3], "the time is over")
		if err := <-closed; err == nil || err.Error() != "the time is over" || !errors.Is(err, ErrCut) {
			t.Errorf("closed ledger: got %v", err)
		}
		l.Close(&bounds[0], "again")
		l.SetBudget(Budget{})
		if err := l.claim(t.Context(), one); err == nil || err.Error() != "the time is over" {
			t.Errorf("it opened again: %v", err)
		}
	})
}

// TestLedgerReportsFirstRefusal checks that only the first refused claim is reported, with its reason.
func TestLedgerReportsFirstRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		l := NewLedger(Budget{Dollars: 5})
		l.OnRefused = func(why string) { told = append(told, why) }
		big := Amount{Cost: 4_980_000_000, Tokens: 100, Requests: 1}
		if !l.TryReserve(took(big)) {
			t.Fatal("the claim does not fit")
		}
		l.Settle(took(big), took(big))
		next := Amount{Cost: 30_000_000, Requests: 1}
		for range 2 {
			if err := l.claim(t.Context(), next); err == nil {
				t.Error("more than the budget was granted")
			}
		}
		synctest.Wait()
		const want = "[the budget of $5.00 is used up: $4.98 spent, the next call may cost up to $0.0300]"
		if got := fmt.Sprint(told); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
		if err := l.claim(t.Context(), Amount{Requests: 1}); err != nil {
			t.Errorf("a request that costs nothing was refused: %v", err)
		}
	})
}

// TestLedgerCountsTheTruth checks that spending above a claim is counted, and that no further claim fits.
func TestLedgerCountsTheTruth(t *testing.T) {
	l := NewLedger(Budget{Tokens: 100})
	if !l.TryReserve(took(Amount{Tokens: 90})) {
		t.Fatal("the claim does not fit")
	}
	l.Settle(took(Amount{Tokens: 90}), took(Amount{Tokens: 130}))
	if b := l.State(); b.Spent.Usage.Input != 130 || b.Claimed.Usage.Input != 0 {
		t.Errorf("%+v", b)
	}
	if err := l.claim(t.Context(), Amount{Tokens: 1}); err == nil {
		t.Error("more was granted")
	}
}

func BenchmarkClaim(b *testing.B) {
	l := NewLedger(Budget{Tokens: 1 << 60})
	most, taken := took(Amount{Cost: 9, Tokens: 100, Requests: 1}), took(Amount{Cost: 3, Tokens: 40, Requests: 1})
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			if l.TryReserve(most) {
				l.Settle(most, taken)
			}
		}
	})
}

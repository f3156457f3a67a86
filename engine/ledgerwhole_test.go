package engine_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
)

// TestLedgersOfOneBudget lets runs with budgets of their own spend from one budget. Together they never exceed it, a refused claim
// leaves nothing claimed, and each ledger knows its own spending.
func TestLedgersOfOneBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := enginetest.Outlay(engine.Amount{Requests: 1})
		whole := engine.NewLedger(engine.Budget{Requests: 100})
		runs := make([]*engine.Ledger, 3)
		for i := range runs {
			runs[i] = engine.NewLedger(engine.Budget{Requests: []int64{20, 1000, 1000}[i]})
			runs[i].Whole = whole
		}
		var all sync.WaitGroup
		for i, l := range runs {
			for range 100 {
				all.Go(func() {
					settle, err := l.Claim(t.Context(), one)
					if err != nil {
						if engine.CutAloneWhy(err) == "" {
							t.Error(err)
						}
						return
					}
					if s := whole.State(); s.Spent.Requests+s.Claimed.Requests > 100 {
						t.Errorf("run %d: %+v of 100", i, s)
					}
					time.Sleep(time.Millisecond)
					settle(one)
				})
			}
		}
		all.Wait()
		sum := int64(0)
		for _, l := range runs {
			if s := l.State(); s.Claimed.Requests != 0 {
				t.Errorf("left claimed: %+v", s)
			}
			sum += l.Spent().Requests
		}
		if s := whole.State(); s.Spent.Requests != 100 || s.Claimed.Requests != 0 || sum != 100 || runs[0].Spent().Requests > 20 {
			t.Errorf("the whole is %+v, the runs spent %d, the first %d", s, sum, runs[0].Spent().Requests)
		}
		if _, ok := runs[1].TryClaim(one); ok {
			t.Error("more than the whole")
		}
	})
}

// TestLedgerOfAFullRunLeavesTheWhole checks that a run that waits for its own budget releases what it claimed of the whole when it
// gives up.
func TestLedgerOfAFullRunLeavesTheWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := enginetest.Outlay(engine.Amount{Requests: 1})
		whole := engine.NewLedger(engine.Budget{Requests: 10})
		run := engine.NewLedger(engine.Budget{Requests: 1})
		run.Whole = whole
		settle, err := run.Claim(t.Context(), one)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := run.TryClaim(one); ok {
			t.Error("a second claim on a budget of one")
		}
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error)
		go func() {
			_, err := run.Claim(ctx, one)
			failed <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v", err)
		}
		settle(engine.Outlay{})
		if s := whole.State(); s.Claimed.Requests != 0 || s.Spent.Requests != 0 {
			t.Errorf("the whole is %+v", s)
		}
	})
}

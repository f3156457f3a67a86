package service

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
)

// TestRetryBudgetHolds checks that there are never more retries than a fifth of the requests plus ten a second, and that every
// retry is made.
func TestRetryBudgetHolds(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		bursts := rapid.SliceOfN(rapid.IntRange(0, 200), 1, 20).Draw(r, "retries a second")
		requests := rapid.IntRange(0, 100).Draw(r, "requests a second")
		synctest.Test(t, func(t *testing.T) {
			b, begin := newRetryBudget(), time.Now()
			var mu sync.Mutex
			var spent []time.Duration
			var group sync.WaitGroup
			all := 0
			for _, n := range bursts {
				for range requests {
					b.earn(time.Now())
				}
				for range n {
					call := bare(t)
					group.Go(func() {
						if err := b.spend(t.Context(), call); err != nil {
							t.Error(err)
						}
						mu.Lock()
						spent = append(spent, time.Since(begin))
						mu.Unlock()
					})
				}
				all += n
				time.Sleep(time.Second)
			}
			group.Wait()
			slices.Sort(spent)
			for i, at := range spent {
				earned := retryShare * float64(requests*min(int(at/time.Second)+1, len(bursts)))
				if most := retriesAlways + earned + retriesAlways*at.Seconds(); float64(i+1) > most+1e-6 {
					t.Fatalf("%d retries after %s, %.1f are in the budget", i+1, at, most)
				}
			}
			if len(spent) != all {
				t.Errorf("%d of %d retries came", len(spent), all)
			}
			if n := len(spent); n > 0 && spent[n-1] > time.Duration(len(bursts)+all/retriesAlways+1)*time.Second {
				t.Errorf("the last of %d came after %s", n, spent[n-1])
			}
			synctest.Wait()
			b.mu.Lock()
			defer b.mu.Unlock()
			if b.waiting != 0 {
				t.Errorf("%d still wait", b.waiting)
			}
		})
	})
}

// TestRetriesWaitInOrder checks that retries wait in order with paused clocks, and that one that ends leaves its token.
func TestRetriesWaitInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newRetryBudget()
		for range retriesAlways {
			if err := b.spend(t.Context(), bare(t)); err != nil {
				t.Fatal(err)
			}
		}
		begin := time.Now()
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("gone")
		var mu sync.Mutex
		var order []int
		var group sync.WaitGroup
		for i := range 5 {
			call, ctx := bare(t), ctx
			if i != 1 {
				ctx = t.Context()
			}
			group.Go(func() {
				err := b.spend(ctx, call)
				if i == 1 != errors.Is(err, gone) {
					t.Errorf("%d: %v", i, err)
				}
				if i == 1 {
					return
				}
				mu.Lock()
				defer mu.Unlock()
				order = append(order, i)
				if at := time.Since(begin); at != time.Duration(len(order))*retryBudgetLap || call.Record.Waits[engine.ThrottledByRetry] != at {
					t.Errorf("%d came after %s, held %s", i, at, call.Record.Waits[engine.ThrottledByRetry])
				}
			})
			synctest.Wait()
		}
		cancel(gone)
		group.Wait()
		if !slices.Equal(order, []int{0, 2, 3, 4}) {
			t.Errorf("in the order %v", order)
		}
	})
}

// TestSickServiceIsNotHammered checks that a service that fails one of three requests gets at most as many of them as the budget allows.
func TestSickServiceIsNotHammered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBackend(0, 0, nil)
		h := client(t, b, Limits{})
		var mu sync.Mutex
		sent := 0
		h.transport.base = roundTrip(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			sent++
			sick := sent%3 == 0
			mu.Unlock()
			if sick {
				return answerOf(r, 503, ""), nil
			}
			return b.RoundTrip(r)
		})
		rows, last := crowd(t, 3000, 200, func(_ *engine.Session, call *Call) error {
			call.Retry.Wait, call.Retry.Max = 100*time.Millisecond, 100*time.Millisecond
			_, err := h.Do(call, Request{Method: "POST", Target: must(t, "/x")})
			return err
		})
		var waited time.Duration
		for i := range rows {
			waited += held(&rows[i])[engine.ThrottledByRetry]
		}
		took := last.Elapsed
		t.Logf("3000 calls, %d requests in %s, %s waited for retries, %d failed; %v", sent, took, waited, last.Outcomes[engine.Failed], h.State(time.Now()).Breaker)
		if most := 3000 + 3000*retryShare + retriesAlways*(1+took.Seconds()); float64(sent) > most {
			t.Errorf("%d requests; the budget is %.0f", sent, most)
		}
	})
}

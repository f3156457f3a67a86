package service

import (
	"context"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/concurrency"
)

// The retry budget of a service: retries are at most a fifth of the requests, and so many a second that a few requests
// can always be tried again. The figures are those of Finagle (RetryBudget); gRPC (proposal A6) and the SDKs of AWS have
// a bucket of the same kind.
const (
	retryShare     = 0.2 // tokens that a request gives
	retriesAlways  = 10  // tokens a second, while there are fewer than that
	mostRetries    = 100 // tokens at once: quiet times give no right to a storm
	retryBudgetLap = time.Second / retriesAlways
)

// retryBudget is a token bucket that keeps the retries of a service's requests from making a sick service worse. Where
// it is empty a retry waits, in the order in which they came: it does not fail. It is safe for concurrent use.
type retryBudget struct {
	tokens *concurrency.Limit // its limit is all tokens so far; a place that is taken is a token that is gone

	mu      sync.Mutex
	issued  float64
	at      time.Time // until when time has given
	waiting int
	ticks   *time.Timer // while somebody waits
}

func newRetryBudget() *retryBudget {
	return &retryBudget{tokens: concurrency.NewLimit(retriesAlways), issued: retriesAlways, at: time.Now()}
}

// earn counts a request that is no retry.
func (r *retryBudget) earn(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(now, retryShare)
}

// add gives what the time since has given, and more. mu is held.
func (r *retryBudget) add(now time.Time, more float64) {
	_, taken, _ := r.tokens.State()
	left := r.issued - float64(taken)
	left += max(min(retriesAlways*now.Sub(r.at).Seconds(), retriesAlways-left), 0)
	r.at = now
	r.issued = float64(taken) + min(left+more, mostRetries)
	r.tokens.SetLimit(int(r.issued))
}

// spend takes the token of a retry, held while there is none.
func (r *retryBudget) spend(ctx context.Context, call *Call) error {
	r.mu.Lock()
	r.add(time.Now(), 0)
	r.mu.Unlock()
	if r.tokens.TryAcquire() {
		return nil
	}
	return call.held(engine.RetryGate, func() error {
		r.wait(1)
		defer r.wait(-1)
		return r.tokens.Acquire(ctx)
	})
}

// wait counts those who wait, for whom time goes on.
func (r *retryBudget) wait(more int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting += more; r.waiting > 0 && r.ticks == nil {
		r.ticks = time.AfterFunc(retryBudgetLap, r.tick)
	}
}

// tick gives what time gives while somebody waits.
func (r *retryBudget) tick() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(time.Now(), 0)
	if r.waiting == 0 {
		r.ticks = nil
		return
	}
	r.ticks.Reset(retryBudgetLap)
}

package service

import (
	"context"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/concurrency"
)

// The retry budget of a service: retries are at most a fifth of the requests, plus a few per second, so that a few requests can
// always be retried. The numbers are those of Finagle (RetryBudget); gRPC (proposal A6) and the AWS SDKs have a bucket of the same
// kind.
const (
	retryShare     = 0.2 // tokens that each request adds
	retriesAlways  = 10  // tokens added per second while there are fewer than this
	mostRetries    = 100 // most tokens: quiet times do not allow a retry storm
	retryBudgetLap = time.Second / retriesAlways
)

// retryBudget is a token bucket that keeps retries from overloading a failing service. If it is empty, retries wait in the order of
// their arrival; they do not fail. It is safe for concurrent use.
type retryBudget struct {
	tokens *concurrency.Limit // its limit is the number of tokens issued so far; a slot held is a token used

	mu      sync.Mutex
	issued  float64
	at      time.Time // until when tokens were added for time
	waiting int
	ticks   *time.Timer // runs while retries wait
}

func newRetryBudget() *retryBudget {
	return &retryBudget{tokens: concurrency.NewLimit(retriesAlways), issued: retriesAlways, at: time.Now()}
}

// earn counts a request that is not a retry.
func (r *retryBudget) earn(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(now, retryShare)
}

// add adds more tokens, and those for the time since the last call. mu is held.
func (r *retryBudget) add(now time.Time, more float64) {
	_, taken, _ := r.tokens.State()
	left := r.issued - float64(taken)
	left += max(min(retriesAlways*now.Sub(r.at).Seconds(), retriesAlways-left), 0)
	r.at = now
	r.issued = float64(taken) + min(left+more, mostRetries)
	r.tokens.SetLimit(int(r.issued))
}

// spend takes the token of a retry, and waits if there is none.
func (r *retryBudget) spend(ctx context.Context, call *Call) error {
	r.mu.Lock()
	r.add(time.Now(), 0)
	r.mu.Unlock()
	if r.tokens.TryAcquire() {
		return nil
	}
	return call.held(engine.ThrottledByRetry, func() error {
		r.wait(1)
		defer r.wait(-1)
		return r.tokens.Acquire(ctx)
	})
}

// wait counts waiting retries, for which tokens are added over time.
func (r *retryBudget) wait(more int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting += more; r.waiting > 0 && r.ticks == nil {
		r.ticks = time.AfterFunc(retryBudgetLap, r.tick)
	}
}

// tick adds the tokens for the time that has passed while retries wait.
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

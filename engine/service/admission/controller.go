// Package admission decides when the requests of a service may start: within its concurrency limits, at its rates, and not while the
// service refuses them.
package admission

import (
	"context"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/concurrency"
	"github.com/throng-sim/throng/engine/internal/pace"
)

// Admitter admits the requests of one service. It is safe for concurrent use.
type Admitter interface {
	// Enter waits until a request may start, and counts it as in flight. Its error is the cause of a context that ended.
	Enter(ctx context.Context, r *Request, h Holder) error
	// GiveBack returns the turn of an admitted request that will not start. Leave must follow.
	GiveBack(r *Request)
	// Observe records what the service said to an admitted request. Leave must follow, or the next request would start despite a
	// refusal.
	Observe(r *Request, s Said)
	// Leave ends an admitted request.
	Leave(r *Request)
	// Spent records how many tokens a request used that has ended.
	Spent(r *Request, tokens int)
	// Paced reports whether an admitted request has a rate.
	Paced(r *Request) bool
	// Fill adds the state of the limits to the state of their service.
	Fill(s *engine.ServiceState, now time.Time)
}

var _ Admitter = (*Controller)(nil)

// Holder pauses the clocks of a request.
type Holder interface {
	// Hold calls wait with the clocks paused. The request is shown as throttled by the cause at. Its time counts for the cause that
	// wait returns.
	Hold(at engine.ThrottleCause, wait func() (engine.ThrottleCause, error)) error
}

// Request is a request that waits for its admission or has it. It belongs to one goroutine.
type Request struct {
	// Endpoint is the unit that the service may limit separately, such as "GET /api/products/{}".
	Endpoint string
	Left     time.Time // when it was admitted
	Ticket   uint64    // rank among those that wait for its bucket; 0 if it has not waited

	Admission uint64 // number of an admission that another process gave; 0 if there is none
	Rated     bool   // the other process has set a rate

	whole  uint64  // the same as Ticket for the rate limiter of the service
	bucket *bucket // whose turn it waits for or has; nil is the service's
	former *bucket // previous bucket, until a response named another one
	placed bool    // it holds one of the service's slots
}

// Limits configure a [Controller].
type Limits struct {
	Connections int         // concurrent requests
	Whole       pace.Limits // rate of all requests
	Each        pace.Limits // rate of each endpoint without a bucket of Buckets
	Undivided   bool        // endpoints have no rates and refusals of their own
	Buckets     []Bucket
}

// Bucket is a rate that some endpoints of a service share.
type Bucket struct {
	Name  string
	Match []string // see [Matches]
	Rates pace.Limits
}

// Controller holds the limits of one service.
type Controller struct {
	bound   *concurrency.Limit
	shared  *concurrency.Limit // limit shared with other services; nil if there is none
	whole   *pace.Limiter      // of all requests
	buckets *buckets
}

// New returns a controller. shared is a limit in addition, which other services share; nil if there is none.
func New(l Limits, shared *concurrency.Limit) *Controller {
	return &Controller{bound: concurrency.NewLimit(l.Connections), shared: shared, whole: pace.New(l.Whole), buckets: newBuckets(l)}
}

// Connections returns the limit of concurrent requests.
func (c *Controller) Connections() int {
	n, _, _ := c.bound.State()
	return n
}

// SetConnections changes the limit of concurrent requests.
func (c *Controller) SetConnections(n int) { c.bound.SetLimit(n) }

// Rates returns the rate of each endpoint.
func (c *Controller) Rates() pace.Limits { return c.buckets.limits() }

// SetRates changes the rate of each endpoint, and that of the whole service if whole is set.
func (c *Controller) SetRates(now time.Time, l pace.Limits, whole bool) {
	c.buckets.setLimits(now, l)
	if whole {
		c.whole.SetLimits(now, l)
	}
}

// Resume forgets refusals and exhausted quotas.
func (c *Controller) Resume(now time.Time) {
	c.whole.Resume(now)
	c.buckets.each(func(b *bucket) { b.rateLimiter.Resume(now) })
}

// Calm reports whether nothing limits the service: it has no rate, no refusal applies, and most concurrent requests fit.
func (c *Controller) Calm(now time.Time, most int) bool {
	if c.Connections() < most || !c.whole.Calm(now) || c.buckets.limits().Start > 0 {
		return false
	}
	if c.shared != nil {
		if n, _, _ := c.shared.State(); n < most {
			return false
		}
	}
	calm := true
	c.buckets.each(func(b *bucket) { calm = calm && b.rateLimiter.Calm(now) })
	return calm
}

// Paced implements [Admitter].
func (c *Controller) Paced(r *Request) bool { return c.limiter(r).Limits().Start > 0 }

// limiter returns the rate limiter of a request: that of its bucket, or of the whole service.
func (c *Controller) limiter(r *Request) *pace.Limiter {
	if r.bucket != nil {
		return r.bucket.rateLimiter
	}
	return c.whole
}

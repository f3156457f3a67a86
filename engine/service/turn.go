package service

import (
	"context"
	"net/http"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/pace"
	"github.com/throng-sim/throng/engine/internal/stopping"
	"github.com/throng-sim/throng/engine/service/admission"
)

// Per is the scope of a service's rates and refusals.
type Per uint8

// By default the rates of an http service hold for all of its requests, and a 429 slows only the endpoint that sent it. The rates
// of a service of models hold for each endpoint.
const (
	PerDefault  Per = iota
	PerService      // everything holds for the whole service
	PerEndpoint     // everything holds for each endpoint
)

// PerNames are the names of PerService and PerEndpoint.
var PerNames = []string{"service", "endpoint"}

// BucketLimits are rates that some endpoints of a service share.
type BucketLimits struct {
	Name  string
	Match []string // see [admission.Matches]
	Limits
}

// leastRate is the lowest rate that a rate limiter sets by itself, per second.
const leastRate = 1

// pace returns the limits of a rate limiter.
func (l *Limits) pace() pace.Limits {
	return pace.Limits{Mode: l.Pace, Start: l.Rate, Floor: min(leastRate, l.Rate), Ceiling: max(l.MaxRate, l.Rate), Burst: l.Burst}
}

// admission returns the limits of requests.
func (l *Limits) admission() admission.Limits {
	a := admission.Limits{Connections: l.Connections, Each: l.pace(), Undivided: l.Per == PerService && len(l.Buckets) == 0}
	if l.Per != PerEndpoint {
		a.Whole = a.Each
	}
	for i := range l.Buckets {
		b := &l.Buckets[i]
		a.Buckets = append(a.Buckets, admission.Bucket{Name: b.Name, Match: b.Match, Rates: b.pace()})
	}
	return a
}

var _ admission.Holder = queue{}

// Hold implements [admission.Holder].
func (c queue) Hold(at engine.ThrottleCause, wait func() (engine.ThrottleCause, error)) error {
	return c.held(at, wait)
}

// available returns a function that waits until a service answers again. If the run is ending, the session is cut instead: it could
// delay the end for as long as the service is unavailable.
func (c queue) available(ctx context.Context, service string) func(wait func(ctx context.Context) error) error {
	return func(wait func(ctx context.Context) error) error {
		ctx, end := stopping.Until(ctx, engine.CutAlone(service+" does not answer, and the run is ending"))
		defer end()
		return c.Call.held(engine.ThrottledByBreaker, func() error { return wait(ctx) })
	}
}

// observe tells the limits what the service said: success or failure, what is left, and its bucket. A 429 makes all calls of the
// bucket, or of the service, wait as long as the service says. A quota that is used up for long counts as exhausted: calls of a
// session then wait until it is available again, or for the end of the run; calls without a session fail.
func (t *transport) observe(call *Call, a *Answer, failure *engine.StepError, wait *refusals) (err error) {
	if a == nil {
		if failure != nil {
			t.limits.Observe(&call.request, admission.Said{Trouble: true})
		}
		return nil
	}
	said := admission.Said{Quota: a.quota, Bucket: a.bucket, Global: a.global}
	switch {
	case a.Status == http.StatusTooManyRequests:
	case a.Status >= 500:
		said.Trouble = true
	default:
		said.Accepted = true
	}
	if refuses(a, call) {
		t.rejected.Add(1)
		now := time.Now()
		why, until := a.exhausted(now)
		said.Refused = true
		switch {
		case why == "":
			said.Pause = wait.next(a, t.limits.Paced(&call.request))
		case call.Session == nil:
			call.Record.Attempts++
			err = engine.Fail(engine.ClientError, "%s%s", why, call.display().excerpt(a))
		default:
			said.Exhausted = why + call.display().excerpt(a)
			if !until.IsZero() {
				said.For = max(until.Sub(now), 1)
			}
		}
	}
	t.limits.Observe(&call.request, said)
	return err
}

// spent tells the rate limiter how many tokens a model call used.
func (h *HTTP) spent(call *Call) {
	if u := call.Record.Usage; u != nil {
		h.transport.limits.Spent(&call.request, int(u.Input+u.Output))
	}
}

// Control returns the limits of the service's requests.
func (h *HTTP) Control() *admission.Controller { return h.transport.control }

// Borrow makes the client use the limits of another process. Call it before any request.
func (h *HTTP) Borrow(from admission.Admitter) { h.transport.limits = from }

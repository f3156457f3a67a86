package service

import (
	"errors"
	"net/http"
	"time"

	"github.com/throng-sim/throng/engine/internal/breaker"

	"github.com/throng-sim/throng/engine"
)

// errSpared says that an attempt failed because the service is away, and counts as none.
var errSpared = errors.New("the service is away")

// verdict sorts what became of an attempt.
func (c *Call) verdict(a *Answer, failure *engine.StepError, err error) breaker.Verdict {
	switch {
	case a == nil && failure == nil:
		if broken, ok := errors.AsType[*engine.StepError](err); ok && broken.Class == engine.BadAnswer {
			return breaker.Answered
		}
		return breaker.SaysNothing
	case a == nil && failure.Class == engine.Timeout:
		return c.firstly(breaker.Failing)
	case a == nil:
		return breaker.Unavailable
	case refuses(a, c):
		return breaker.WantsLess
	case failure == nil:
		return breaker.Answered
	}
	switch a.Status {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return breaker.Unavailable
	}
	if failure.Class == engine.ServerError {
		return c.firstly(breaker.Failing)
	}
	return breaker.Answered
}

// firstly is a verdict, or repeated where the call has failed before in a way that says no more.
func (c *Call) firstly(v breaker.Verdict) breaker.Verdict {
	if v != breaker.Failing {
		return v
	}
	if c.failed {
		return breaker.Repeated
	}
	c.failed = true
	return v
}

// refuses reports whether an answer is a 429 that is to be waited out.
func refuses(a *Answer, c *Call) bool {
	return a != nil && a.Status == http.StatusTooManyRequests && !c.expects(a.Status)
}

// judged tells the breaker what became of an attempt and reports whether that counts as none, though it failed. What must
// not be sent twice is not spared, nor is what is to be tried once only.
func (c *Call) judged(b *breaker.Breaker, pass breaker.Pass, v breaker.Verdict, failure *engine.StepError) bool {
	why := ""
	if failure != nil {
		why = failure.Error()
	}
	return b.Done(pass, v, why) && c.Retry.Attempts > 1 && (!c.Once || neverSent(failure))
}

// spare counts the time of an attempt that is no attempt: the engine looked whether the service is there.
func (c *Call) spare(took time.Duration) { c.Record.Hold(engine.BreakerGate, took) }

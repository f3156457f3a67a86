package service

import (
	"errors"
	"net/http"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/anthropic"
	"github.com/throng-sim/throng/engine/service/breaker"
	"github.com/throng-sim/throng/engine/service/direct"
)

// errSpared means that an attempt failed because the service is unavailable, and does not count.
var errSpared = errors.New("the service is away")

// verdict returns what an attempt says about the service.
func (c outcome) verdict(a *Answer, failure *engine.StepError, err error) breaker.Verdict {
	switch {
	case a == nil && failure == nil:
		if broken, ok := errors.AsType[*engine.StepError](err); ok && broken.Class == engine.BadAnswer {
			return breaker.Answered
		}
		return breaker.SaysNothing
	case a == nil && failure.Class == engine.Timeout:
		return c.outcome().orRepeated(breaker.Failing)
	case a == nil:
		return breaker.Unavailable
	case refuses(a, c.Call):
		return breaker.WantsLess
	case failure == nil:
		return breaker.Answered
	}
	switch a.Status {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, anthropic.StatusOverloaded:
		return breaker.Unavailable
	}
	if failure.Class == engine.ServerError {
		return c.outcome().orRepeated(breaker.Failing)
	}
	return breaker.Answered
}

// orRepeated returns a verdict, or Repeated for the second failure of the call.
func (c outcome) orRepeated(v breaker.Verdict) breaker.Verdict {
	if v != breaker.Failing {
		return v
	}
	if c.failed {
		return breaker.Repeated
	}
	c.failed = true
	return v
}

// refuses reports whether an answer is a 429 to wait out.
func refuses(a *Answer, c *Call) bool {
	return a != nil && a.Status == http.StatusTooManyRequests && !c.expects(a.Status)
}

// report reports an attempt to the breaker, and returns whether the failed attempt does not count. Calls that must be sent at most
// once, or tried only once, are not spared.
func (c outcome) report(b *breaker.Breaker, pass breaker.Pass, v breaker.Verdict, failure *engine.StepError) bool {
	why := ""
	if failure != nil {
		why = failure.Error()
	}
	return b.Done(pass, v, why) && c.Retry.Attempts > 1 && (!c.Once || direct.Unsent(failure))
}

// countSpared counts the time of an attempt that does not count: the engine checked whether the service is available.
func (c outcome) countSpared(took time.Duration) { c.Record.Hold(engine.ThrottledByBreaker, took) }

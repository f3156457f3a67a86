package service

import (
	"errors"
	"net/http"
	"time"

	"github.com/throng-sim/throng/engine"
)

// errSpared says that an attempt failed because the service is away, and counts as none.
var errSpared = errors.New("the service is away")

// verdict is what an attempt says about its service. The zero value says nothing: it was cancelled.
type verdict uint8

const (
	saysNothing verdict = iota
	answered            // whatever the answer is
	wantsLess           // it is there: a 429
	// A call that fails a second time with an error of the service's own (500), or by its time, may be the reason itself:
	// that says nothing about other calls, else the last few that a service never answers would open its breaker. A probe
	// decides whatever it is.
	repeated
	failing
	away // nobody answers, or somebody in its place
)

// bad reports whether an attempt failed for the service's sake.
func (v verdict) bad() bool { return v >= repeated }

// outcome is what the breaker counts of an attempt.
type outcome uint8

const (
	none outcome = iota
	good
	bad
)

// outcome returns what a verdict means to the breaker. A probe decides in more cases than other attempts.
func (v verdict) outcome(probe bool) outcome {
	switch {
	case v >= failing, v == repeated && probe:
		return bad
	case v == answered, v == wantsLess && probe:
		return good
	}
	return none
}

// verdict sorts what became of an attempt.
func (c *Call) verdict(a *Answer, failure *engine.StepError, err error) verdict {
	switch {
	case a == nil && failure == nil:
		if broken, ok := errors.AsType[*engine.StepError](err); ok && broken.Class == engine.BadAnswer {
			return answered
		}
		return saysNothing
	case a == nil && failure.Class == engine.Timeout:
		return c.firstly(failing)
	case a == nil:
		return away
	case refuses(a, c):
		return wantsLess
	case failure == nil:
		return answered
	}
	switch a.Status {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return away
	}
	if failure.Class == engine.ServerError {
		return c.firstly(failing)
	}
	return answered
}

// firstly is a verdict, or repeated where the call has failed before in a way that says no more.
func (c *Call) firstly(v verdict) verdict {
	if v != failing {
		return v
	}
	if c.failed {
		return repeated
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
func (c *Call) judged(b *breaker, pass passage, v verdict, failure *engine.StepError) bool {
	why := ""
	if failure != nil {
		why = failure.Error()
	}
	return b.done(pass, v, why) && c.Retry.Attempts > 1 && (!c.Once || neverSent(failure))
}

// spare counts the time of an attempt that is no attempt: the engine looked whether the service is there.
func (c *Call) spare(took time.Duration) { c.Record.Hold(engine.BreakerGate, took) }

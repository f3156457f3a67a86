package breaker

// Verdict is what an attempt says about its service. The zero value says nothing: the attempt was canceled.
type Verdict uint8

// Verdicts of attempts.
const (
	SaysNothing Verdict = iota
	Answered            // the service responded, whatever the response is
	WantsLess           // the service is available, and throttles: a 429
	// Repeated is the second failure of a call by an error of the service (500) or by its timeout. The call itself may be the reason,
	// so that this says nothing about other calls: otherwise the last few calls that a service never answers would open its breaker.
	// A probe decides either way.
	Repeated
	Failing
	Unavailable // no response, or one of a proxy in front of the service
)

// failed reports whether an attempt failed because of the service.
func (v Verdict) failed() bool { return v >= Repeated }

// outcome is what the breaker counts.
type outcome uint8

const (
	none outcome = iota
	good
	bad
)

// outcome returns what a verdict means to the breaker. A probe decides in more cases than other attempts.
func (v Verdict) outcome(probe bool) outcome {
	switch {
	case v >= Failing, v == Repeated && probe:
		return bad
	case v == Answered, v == WantsLess && probe:
		return good
	}
	return none
}

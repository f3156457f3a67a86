package mock

import (
	"errors"
	"fmt"
	"time"

	"github.com/throng-sim/throng/engine/internal/draw"
)

// Fault is what went wrong with a request on purpose.
type Fault string

// The faults. FaultCut comes before the change was made in one half of its cases and after it in the other.
const (
	FaultNone        Fault = ""
	FaultRateLimited Fault = "429"
	FaultServerError Fault = "500"
	FaultHang        Fault = "hang"
	FaultCut         Fault = "cut"
	FaultBadBody     Fault = "bad body"
	FaultOutage      Fault = "outage"
)

// Faults are the shares of requests (0 to 1, together at most 1) that go wrong, an outage by wall time, and how much the
// server bears. The zero value is a shop that always works.
type Faults struct {
	// RateLimited answers 429 with Retry-After: 1, ServerError 500; neither changes anything.
	RateLimited, ServerError float64
	// Hang holds the request until its client goes away or the shop closes; nothing is changed.
	Hang float64
	// Cut closes the connection without an answer: half of the time, as drawn, after the change was made.
	Cut float64
	// BadBody makes the change and answers 200 with a body that is no JSON.
	BadBody float64
	// OutageFrom and OutageFor are an outage counted from the shop's start: every call gets 503, /healthz too.
	OutageFrom, OutageFor time.Duration
	// TokenRequests is after how many requests the token of a login expires, and 401 is the answer; 0 is never. Tokens
	// given before it was set, or before the shop started, have expired.
	TokenRequests int
	// Quota is how many requests per second all callers together may make, with a second's worth at once; 0 is any number.
	// More are answered 429 with Retry-After. All answers have x-ratelimit headers. No header lifts it.
	Quota float64
	// Capacity is how many requests in flight are answered without waiting for each other; with more, latency grows as
	// they do, which no profile without latency shows. 0 is any number.
	Capacity int
}

const mostQuota = 1_000_000

// Validate says what is wrong with f, all of it.
func (f Faults) Validate() error {
	var errs []error
	sum := 0.0
	for _, share := range f.shares() {
		if !(share.size >= 0 && share.size <= 1) { // NaN too
			errs = append(errs, fmt.Errorf("share of the fault %q is %v: want 0 to 1", share.fault, share.size))
		}
		sum += share.size
	}
	if sum > 1+1e-9 {
		errs = append(errs, fmt.Errorf("shares of faults add up to %v: want at most 1", sum))
	}
	if f.OutageFrom < 0 || f.OutageFor < 0 {
		errs = append(errs, errors.New("an outage cannot start or last less than 0"))
	}
	if f.TokenRequests < 0 {
		errs = append(errs, errors.New("a token cannot expire after less than 0 requests"))
	}
	if !(f.Quota >= 0 && f.Quota <= mostQuota) { // NaN too
		errs = append(errs, fmt.Errorf("a quota of %v requests per second: want 0, which is none, to %d", f.Quota, mostQuota))
	}
	if f.Capacity < 0 {
		errs = append(errs, errors.New("a capacity cannot be less than 0 requests, which is any number"))
	}
	return errors.Join(errs...)
}

type share struct {
	fault Fault
	size  float64
}

// shares lists the drawn faults in the order in which a draw meets them; another order would change kept results.
func (f Faults) shares() [5]share {
	return [5]share{
		{FaultRateLimited, f.RateLimited},
		{FaultServerError, f.ServerError},
		{FaultHang, f.Hang},
		{FaultCut, f.Cut},
		{FaultBadBody, f.BadBody},
	}
}

// pick is the fault of the request with this key, and for a cut whether it comes after the change.
func (f Faults) pick(request draw.Key) (fault Fault, after bool) {
	if f.none() {
		return FaultNone, false
	}
	source := request.Text("fault").Source()
	u := source.Float64()
	for _, share := range f.shares() {
		if u < share.size {
			return share.fault, source.Float64() < 0.5
		}
		u -= share.size
	}
	return FaultNone, false
}

// none says that nothing is drawn.
func (f Faults) none() bool {
	for _, share := range f.shares() {
		if share.size != 0 {
			return false
		}
	}
	return true
}

// outage says whether the shop is out, so long after its start.
func (f Faults) outage(since time.Duration) bool {
	return since >= f.OutageFrom && since-f.OutageFrom < f.OutageFor
}

package wire

import (
	"errors"
	"fmt"
	"time"

	"github.com/throng-sim/throng/engine/internal/draw"
)

// Fault is a failure that the mock injects into a request.
type Fault string

// The faults. Half of FaultCut's cases come before the change is made, the other half after it.
const (
	FaultNone        Fault = ""
	FaultRateLimited Fault = "429"
	FaultServerError Fault = "500"
	FaultHang        Fault = "hang"
	FaultCut         Fault = "cut"
	FaultBadBody     Fault = "bad body"
	FaultOutage      Fault = "outage"
)

// Network is a simulated network.
type Network struct {
	Profile Profile // latency of every answer
	Faults  Faults  // fractions of requests that fail
}

// Faults are the fractions of requests that fail (0 to 1, together at most 1), an outage by wall time, and the server's capacity. The
// zero value is a server that never fails.
type Faults struct {
	// RateLimited answers 429 with Retry-After: 1, ServerError 500; neither changes anything.
	RateLimited, ServerError float64
	// Hang holds the request until its client disconnects or the shop closes; nothing changes.
	Hang float64
	// Cut closes the connection without an answer. In half of the cases, as drawn, the change is made first.
	Cut float64
	// BadBody makes the change and answers 200 with a body that is invalid JSON.
	BadBody float64
	// OutageFrom and OutageFor define an outage, counted from the shop's start. During it every call gets 503, /healthz too.
	OutageFrom, OutageFor time.Duration
	// TokenRequests is the number of requests after which the token of a login expires and gets 401; 0 disables it. Tokens issued before
	// it was set, or before the shop started, have expired.
	TokenRequests int
	// Quota is the requests per second that all callers together may make, with a burst of one second's worth; 0 is unlimited. Excess
	// requests get 429 with Retry-After. All answers have x-ratelimit headers. No header of a request lifts it.
	Quota float64
	// Capacity is the number of requests in flight that the server handles without slowing down. With more, latency grows in proportion;
	// a profile without latency stays without. 0 is unlimited.
	Capacity int
	// Replies are the answers of a model that cannot be used as they are. Other servers have none.
	Replies Replies
	// Tools are how such a model misuses tools.
	Tools Tools
}

// MostQuota is the largest quota, in requests per second.
const MostQuota = 1_000_000

// Validate reports everything that is wrong with f.
func (f Faults) Validate() error {
	var errs []error
	sum := 0.0
	for _, share := range f.Shares() {
		if !(share.Size >= 0 && share.Size <= 1) { // NaN too
			errs = append(errs, fmt.Errorf("the fraction of the fault %q is %v; it must be 0 to 1", share.Fault, share.Size))
		}
		sum += share.Size
	}
	if sum > 1+1e-9 {
		errs = append(errs, fmt.Errorf("the fractions of all faults add up to %v; they must add up to at most 1", sum))
	}
	if f.OutageFrom < 0 || f.OutageFor < 0 {
		errs = append(errs, errors.New("the start or length of the outage is negative; use 0 or more"))
	}
	if f.TokenRequests < 0 {
		errs = append(errs, errors.New("the number of requests until a token expires is negative; use 0 or more"))
	}
	if !(f.Quota >= 0 && f.Quota <= MostQuota) { // NaN too
		errs = append(errs, fmt.Errorf("the quota is %v requests per second; it must be 0 (unlimited) to %d", f.Quota, MostQuota))
	}
	if f.Capacity < 0 {
		errs = append(errs, errors.New("the capacity is negative; use 0 (unlimited) or more"))
	}
	return errors.Join(append(errs, f.Replies.Validate(), f.Tools.Validate())...)
}

// Share is the fraction of requests with a fault.
type Share struct {
	Fault Fault
	Size  float64
}

// Shares lists the drawn faults in draw order. Another order would change existing results.
func (f Faults) Shares() [5]Share {
	return [5]Share{
		{FaultRateLimited, f.RateLimited},
		{FaultServerError, f.ServerError},
		{FaultHang, f.Hang},
		{FaultCut, f.Cut},
		{FaultBadBody, f.BadBody},
	}
}

// Pick draws the fault of the request with this key, and for a cut whether it comes after the change.
func (f Faults) Pick(request draw.Key) (fault Fault, after bool) {
	if f.none() {
		return FaultNone, false
	}
	source := request.Text("fault").Source()
	u := source.Float64()
	for _, share := range f.Shares() {
		if u < share.Size {
			return share.Fault, source.Float64() < 0.5
		}
		u -= share.Size
	}
	return FaultNone, false
}

// none reports that no faults are drawn.
func (f Faults) none() bool {
	for _, share := range f.Shares() {
		if share.Size != 0 {
			return false
		}
	}
	return true
}

// Outage reports whether the shop is out of service at a time since its start.
func (f Faults) Outage(since time.Duration) bool {
	return since >= f.OutageFrom && since-f.OutageFrom < f.OutageFor
}

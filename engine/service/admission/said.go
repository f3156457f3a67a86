package admission

import (
	"time"

	"github.com/throng-sim/throng/engine/internal/pace"
)

// Said is what a service said to a request. It is plain data; the zero value says nothing.
type Said struct {
	Accepted bool       `cbor:"1,keyasint,omitempty"` // the service accepted the request
	Trouble  bool       `cbor:"2,keyasint,omitempty"` // the service failed the request
	Quota    pace.Quota `cbor:"3,keyasint,omitzero"`  // what is left
	Bucket   string     `cbor:"4,keyasint,omitempty"` // that the service counts the request in; "" if it does not say

	// Refused is set for a 429. At most one of Pause and Exhausted is set: for how long no request may start, or why the quota is
	// used up for long. For is when it is restored; 0 if that is not known. Global is set if the refusal is for the whole service.
	Refused   bool          `cbor:"5,keyasint,omitempty"`
	Pause     time.Duration `cbor:"6,keyasint,omitempty"`
	Exhausted string        `cbor:"7,keyasint,omitempty"`
	For       time.Duration `cbor:"8,keyasint,omitempty"`
	Global    bool          `cbor:"9,keyasint,omitempty"`
}

// Stops reports whether the service refuses further requests.
func (s *Said) Stops() bool { return s.Pause > 0 || s.Exhausted != "" }

// Sent returns a request that was sent without an admission, for Observe.
func (c *Controller) Sent(endpoint string, left time.Time) *Request {
	return &Request{Endpoint: endpoint, Left: left, bucket: c.buckets.of(endpoint)}
}

// Observe implements [Admitter]. A refusal makes all requests of the bucket, or of the service, wait.
func (c *Controller) Observe(r *Request, s Said) {
	now := time.Now()
	switch {
	case s.Trouble:
		c.whole.Trouble(now)
		if r.bucket != nil {
			r.bucket.rateLimiter.Trouble(now)
		}
	case s.Accepted:
		c.limiter(r).Accept(now, r.Left)
		if r.bucket != nil {
			c.whole.Accept(now, r.Left)
		}
	}
	if b := c.buckets.rename(r.Endpoint, s.Bucket); b != nil && b != r.bucket {
		r.former, r.bucket = r.bucket, b
	}
	if s.Quota != (pace.Quota{}) {
		c.limiter(r).Observe(now, s.Quota)
	}
	if s.Refused {
		c.refuse(now, r, &s)
	}
}

func (c *Controller) refuse(now time.Time, r *Request, s *Said) {
	at := c.limiter(r)
	if s.Global {
		at = c.whole
	}
	if r.bucket != nil {
		r.bucket.refused.Add(1)
	}
	switch {
	case s.Exhausted != "":
		var until time.Time
		if s.For > 0 {
			until = now.Add(s.For)
		}
		at.Exhaust(now, s.Exhausted, until)
	case s.Pause > 0:
		at.Refuse(now, r.Left, s.Pause)
		if r.former != nil { // requests already wait there
			r.former.rateLimiter.Refuse(now, r.Left, s.Pause)
			r.former = nil
		}
	}
}

// Spent implements [Admitter]. The average applies to further requests of the bucket.
func (c *Controller) Spent(r *Request, tokens int) { c.limiter(r).Spent(tokens) }

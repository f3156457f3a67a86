package engine

import (
	"time"

	"github.com/throng-sim/throng/engine/batches"
)

// Service is a client of a service, as a run controls and displays it. Its methods are safe for concurrent use and do not block.
type Service interface {
	State(now time.Time) ServiceState
	// Tunables returns the values that Tune can change now.
	Tunables() []Tunable
	// Tune changes a value by name and returns the old one. Invalid values return a *FieldError.
	Tune(name, value string) (old string, err error)
	// Renew resends the requests in flight with their keys, without counting attempts. It is called after the machine
	// slept. It is also called when a person resumes a run with an exhausted quota, and then clears the exhausted state.
	Renew()
	// Moves returns the changes that the service made by itself since the last call: to its rate limiter, its breaker and
	// learned values. Changes under the name of a tunable are applied again on resume. Others, such as "model rate", are
	// not.
	Moves() []ChangeRow
}

// ServiceState is the state of a service.
type ServiceState struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	// InFlight counts calls in flight. Bound is its limit.
	InFlight int `json:"in_flight"`
	Bound    int `json:"max_in_flight,omitempty"`
	LimiterState
	Failures   int64        `json:"failures"` // attempts that failed because of the service
	Replies    Replies      `json:"-"`        // to the attempts of this process
	Retries    int64        `json:"-"`        // retries
	Breaker    BreakerState `json:"breaker"`
	BreakerWhy string       `json:"breaker_why,omitempty"` // "" while it is closed
	NextProbe  time.Time    `json:"next_probe,omitzero"`   // of an open breaker
	// Until is when an exhausted quota is available again; the run pauses until then, or for a person if Until is zero.
	Until time.Time `json:"-"`
	Said  time.Time `json:"-"` // when the service reported it last
	// Buckets are the parts of the service with their own limits, if there are several and there is something to report.
	Buckets []BucketState  `json:"buckets,omitempty"`
	Batches *batches.State `json:"batches,omitempty"` // nil unless calls are in batches
}

// LimiterState is the state of a rate limiter.
type LimiterState struct {
	Waiting int     `json:"waiting,omitempty"`             // calls that wait for a slot or their turn
	Rate    float64 `json:"requests_per_second,omitempty"` // allowed starts per second; 0 means unlimited
	MaxRate float64 `json:"max_requests_per_second,omitempty"`
	// RateWhy is the reason for the rate; of a database, why it has fewer connections than Bound was set to.
	RateWhy   string    `json:"rate_why,omitempty"`
	Blocked   time.Time `json:"blocked_until,omitzero"` // no request starts before this time
	Refused   int64     `json:"rate_limited"`           // 429s of this process
	Exhausted string    `json:"exhausted,omitempty"`    // why the quota is used up for a long time; "" if it is not
}

// BucketState is the state of an endpoint of a service, or of several endpoints that share a limit.
type BucketState struct {
	Name string `json:"name"` // an endpoint, such as "GET /api/products/{}", or the name in the scenario or of the service
	LimiterState
}

// Reply is the kind of answer to an attempt: a class of HTTP status, or none. Database operations that succeed are 2xx.
type Reply uint8

// The kinds of answers. 429 has its own kind, separate from 4xx.
const (
	NoReply Reply = iota
	Reply2xx
	Reply3xx
	Reply4xx
	ReplyRefused
	Reply5xx
	NumReplies
)

func (r Reply) String() string {
	return [...]string{NoReply: "none", Reply2xx: "2xx", Reply3xx: "3xx", Reply4xx: "4xx", ReplyRefused: "429", Reply5xx: "5xx"}[r]
}

// Replies counts answers; the index is the [Reply].
type Replies [NumReplies]int64

// Tunable is a value that can change while a run is in progress.
type Tunable struct {
	Name  string // for a service: its name, a period and the value's name, such as model.rate
	Title string // label of its field; "" uses the name
	Value string
	Help  string
}

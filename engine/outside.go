package engine

import "time"

// Service is a client of a service as a run steers and shows it. Its methods are safe for concurrent use and do not
// wait.
type Service interface {
	State(now time.Time) ServiceState
	// Tunables are what Tune can change now.
	Tunables() []Tunable
	// Tune changes one by its name, and says what it was. Mistakes are *FieldError.
	Tune(name, value string) (old string, err error)
	// Renew has the requests in flight sent again with their keys, which counts as no attempt: the machine slept, or a
	// person goes on although the quota was gone, which is as if that had never been said.
	Renew()
	// Moves returns what the service changed by itself since it was asked last: its rate limiter, its breaker, and what it
	// learned. A change under the name of a tunable is made again when the run is resumed; one under another name, such as
	// "model rate", is not.
	Moves() []ChangeRow
}

// ServiceState is how a service is doing.
type ServiceState struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	// InFlight counts calls in flight, at most Bound of them.
	InFlight int `json:"in_flight"`
	Bound    int `json:"max_in_flight,omitempty"`
	LimiterState
	Failures   int64        `json:"failures"` // attempts that failed because of the service
	Replies    Replies      `json:"-"`        // to the attempts of this process
	Retries    int64        `json:"-"`        // attempts that were not a request's first
	Breaker    BreakerState `json:"breaker"`
	BreakerWhy string       `json:"breaker_why,omitempty"` // "" while it is closed
	NextProbe  time.Time    `json:"next_probe,omitzero"`   // of an open breaker
	// Until is when an exhausted quota is available again; the run pauses until then, or for a person if Until is zero.
	Until time.Time `json:"-"`
	Said  time.Time `json:"-"` // when the service reported it last
	// Buckets are the parts of the service with their own limits, if there are several and there is something to report.
	Buckets []BucketState `json:"buckets,omitempty"`
}

// LimiterState is how a rate limiter is doing.
type LimiterState struct {
	Waiting int     `json:"waiting,omitempty"`             // calls that wait for a slot or their turn
	Rate    float64 `json:"requests_per_second,omitempty"` // that may start; 0 is unlimited
	MaxRate float64 `json:"max_requests_per_second,omitempty"`
	// RateWhy is the reason for the rate; of a database, why it has fewer connections than Bound was set to.
	RateWhy   string    `json:"rate_why,omitempty"`
	Blocked   time.Time `json:"blocked_until,omitzero"` // nothing starts before
	Refused   int64     `json:"rate_limited"`           // 429s of this process
	Exhausted string    `json:"exhausted,omitempty"`    // why the quota is used up for a long time; "" if it is not
}

// BucketState is how an endpoint of a service, or several that share a limit, are doing.
type BucketState struct {
	Name string `json:"name"` // an endpoint, such as "GET /api/products/{}", or the name in the scenario or of the service
	LimiterState
}

// Reply is what kind of answer an attempt at a request had: a status of HTTP, or none. What a database did counts as 2xx.
type Reply uint8

// The kinds of answers. A 429 is none of 4xx.
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

// Tunable is what can be changed while a run is in progress.
type Tunable struct {
	Name  string // of a service's: its name, a point and what, such as model.rate
	Title string // label of its field; "" is the name
	Value string
	Help  string
}

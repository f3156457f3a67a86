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
	Name, Kind string
	// Calls under way, at most so many, and calls that wait for a place.
	InFlight, Bound, Waiting int
	Rate, MaxRate            float64   // requests per second that may start; 0 is as many as come
	RateWhy                  string    // in words: why the rate is what it is; of a database, why it has fewer connections than Bound was set to
	Blocked                  time.Time // nothing starts before; zero is that it may
	Refused                  int64     // 429s so far, of this process
	Failures                 int64     // attempts so far that failed for the service's sake
	Replies                  Replies   // to the attempts so far, of this process
	Retries                  int64     // of those, the ones that were not a request's first
	Breaker                  BreakerState
	BreakerWhy               string    // in words; "" while it is closed
	NextProbe                time.Time // of an open breaker
	// Exhausted says that the service's quota is gone for long, in words; "" is that it is not. The run pauses until then,
	// for a person where Until is zero.
	Exhausted string
	Until     time.Time
	Said      time.Time // when it said so last
	// Buckets are the parts of the service that are limited by themselves, where there are several and something is to be
	// said of them.
	Buckets []BucketState
}

// BucketState is how an endpoint of a service, or several that share a limit, are doing.
type BucketState struct {
	Name          string    // an endpoint, such as "GET /api/products/{}", or what the scenario or the service calls it
	Rate, MaxRate float64   // requests per second that may start; 0 is as many as come
	RateWhy       string    // in words
	Blocked       time.Time // nothing starts before; zero is that it may
	Waiting       int       // calls that wait for their turn
	Refused       int64     // 429s so far, of this process
	Exhausted     string    // its quota is gone for long, in words
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

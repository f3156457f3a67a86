// Package quota limits the requests and tokens of all callers of a mock together, and reports what is left in headers.
package quota

import (
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// bucket is a token bucket: it refills evenly and can be spent in one burst. A full bucket admits an answer larger than its capacity and
// then owes the difference.
type bucket struct {
	perSecond float64 // refill; 0 is unlimited
	most      float64 // capacity
	level     float64
}

// sliver is a tolerance: smaller than any refill that matters, larger than rounding errors of fractions of a minute.
const sliver = 1e-6

func (b *bucket) fill(d time.Duration) {
	b.level = min(b.most, b.level+d.Seconds()*b.perSecond)
}

// until returns how long it takes until the bucket reaches level.
func (b *bucket) until(level float64) time.Duration {
	if b.perSecond == 0 || level <= b.level+sliver {
		return 0
	}
	return time.Duration(math.Ceil((level - b.level) / b.perSecond * float64(time.Second)))
}

// Quota is the limit on the requests and tokens of all callers together. It is safe for concurrent use.
type Quota struct {
	mu               sync.Mutex // guards the fields below
	at               time.Time
	requests, tokens bucket
	usual            bucket // requests, while no fault sets another quota
}

// New returns a quota of requests and tokens per minute; 0 is unlimited.
func New(requests, tokens int, now time.Time) *Quota {
	full := func(n int) bucket { return bucket{perSecond: float64(n) / 60, most: float64(n), level: float64(n)} }
	return &Quota{at: now, requests: full(requests), tokens: full(tokens), usual: full(requests)}
}

// Take counts a request of a number of tokens. If the quota is used up, Take returns how long to wait and which quota it is. say reports
// what is left. perSecond replaces the quota of requests while a fault sets it; otherwise it is 0.
func (q *Quota) Take(tokens int, perSecond float64, now time.Time, say Headers) (wait time.Duration, kind string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.use(perSecond)
	q.requests.fill(now.Sub(q.at))
	q.tokens.fill(now.Sub(q.at))
	q.at = now
	wait, kind = q.requests.until(1), "requests"
	if more := q.tokens.until(min(float64(tokens), q.tokens.most)); more > wait {
		wait, kind = more, "tokens"
	}
	if wait == 0 {
		q.requests.level--
		q.tokens.level -= float64(tokens)
	}
	q.requests.report(say, "Requests")
	q.tokens.report(say, "Tokens")
	return wait, kind
}

// use sets the quota of requests to a bucket of one second's worth of perSecond, at least one, or back to the usual one. The level stays
// the same, at most the new capacity. The caller holds mu.
func (q *Quota) use(perSecond float64) {
	to := q.usual
	if perSecond > 0 {
		to = bucket{perSecond: perSecond, most: max(perSecond, 1), level: max(perSecond, 1)}
	}
	if to.perSecond == q.requests.perSecond && to.most == q.requests.most {
		return
	}
	if q.requests.perSecond > 0 {
		to.level = min(to.level, q.requests.level)
	}
	q.requests = to
}

// Refuse sets Retry-After, in whole seconds, rounded up.
func Refuse(h http.Header, wait time.Duration) (seconds int) {
	seconds = int((wait + time.Second - 1) / time.Second)
	h.Set("Retry-After", strconv.Itoa(seconds))
	return seconds
}

// Headers sets the headers of a quota, Requests or Tokens: its capacity, the rest, and the time until it is full again.
type Headers func(name string, limit, left int, full time.Duration)

// report reports the state of a bucket that is limited.
func (b *bucket) report(say Headers, name string) {
	if b.perSecond > 0 {
		say(name, int(b.most), max(0, int(b.level+sliver)), b.until(b.most))
	}
}

// Usual sets the headers in the format of most services.
func Usual(h http.Header) Headers {
	return func(name string, limit, left int, full time.Duration) {
		h.Set("X-Ratelimit-Limit-"+name, strconv.Itoa(limit))
		h.Set("X-Ratelimit-Remaining-"+name, strconv.Itoa(left))
		// Rounded up, so that the bucket is full after this time.
		h.Set("X-Ratelimit-Reset-"+name, (full + time.Millisecond - 1).Truncate(time.Millisecond).String())
	}
}

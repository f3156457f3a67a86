package mock

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

// quota is the limit on the requests and tokens of all callers together.
type quota struct {
	mu               sync.Mutex // guards the fields below
	at               time.Time
	requests, tokens bucket
	usual            bucket // requests, while no fault sets another quota
}

// newQuota returns a quota of requests and tokens per minute; 0 is unlimited.
func newQuota(requests, tokens int, now time.Time) *quota {
	full := func(n int) bucket { return bucket{perSecond: float64(n) / 60, most: float64(n), level: float64(n)} }
	return &quota{at: now, requests: full(requests), tokens: full(tokens), usual: full(requests)}
}

// take counts a request of a number of tokens. If the quota is used up, take returns how long to wait and which quota it is. The headers
// report what is left. perSecond replaces the quota of requests while a fault sets it; otherwise it is 0.
func (q *quota) take(tokens int, perSecond float64, now time.Time, h http.Header) (wait time.Duration, kind string) {
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
	q.requests.setHeaders(h, "Requests")
	q.tokens.setHeaders(h, "Tokens")
	return wait, kind
}

// use sets the quota of requests to a bucket of one second's worth of perSecond, at least one, or back to the usual one. The level stays
// the same, at most the new capacity. The caller holds mu.
func (q *quota) use(perSecond float64) {
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

// refuse sets Retry-After, in whole seconds, rounded up.
func refuse(h http.Header, wait time.Duration) (seconds int) {
	seconds = int((wait + time.Second - 1) / time.Second)
	h.Set("Retry-After", strconv.Itoa(seconds))
	return seconds
}

// setHeaders writes the capacity, the rest, and the time until the bucket is full again.
func (b *bucket) setHeaders(h http.Header, name string) {
	if b.perSecond == 0 {
		return
	}
	h.Set("X-Ratelimit-Limit-"+name, strconv.Itoa(int(b.most)))
	h.Set("X-Ratelimit-Remaining-"+name, strconv.Itoa(max(0, int(b.level+sliver))))
	// Rounded up, so that the bucket is full after this time.
	reset := (b.until(b.most) + time.Millisecond - 1).Truncate(time.Millisecond)
	h.Set("X-Ratelimit-Reset-"+name, reset.String())
}

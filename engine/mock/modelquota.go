package mock

import (
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// bucket is a quota that fills up evenly and can be spent at once. An answer larger than the whole quota is let through
// when the bucket is full, and what it took too much is owed.
type bucket struct {
	perSecond float64 // 0 is unlimited
	most      float64 // that it holds
	level     float64
}

// sliver is less than any wait makes up for, and more than fractions of a minute are off by.
const sliver = 1e-6

func (b *bucket) fill(d time.Duration) {
	b.level = min(b.most, b.level+d.Seconds()*b.perSecond)
}

// until is how long it takes until the bucket holds level.
func (b *bucket) until(level float64) time.Duration {
	if b.perSecond == 0 || level <= b.level+sliver {
		return 0
	}
	return time.Duration(math.Ceil((level - b.level) / b.perSecond * float64(time.Second)))
}

// quota is what all callers together may ask for.
type quota struct {
	mu               sync.Mutex // holds what follows
	at               time.Time
	requests, tokens bucket
	usual            bucket // requests, while no fault has another quota
}

// newQuota returns one of requests and tokens in a minute; 0 is unlimited.
func newQuota(requests, tokens int, now time.Time) *quota {
	full := func(n int) bucket { return bucket{perSecond: float64(n) / 60, most: float64(n), level: float64(n)} }
	return &quota{at: now, requests: full(requests), tokens: full(tokens), usual: full(requests)}
}

// take counts a request of so many tokens, or says how long to wait and for what. The headers say what is left.
// perSecond is how many requests a fault lets through instead of the usual number; 0 is that none does.
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
	q.requests.tell(h, "Requests")
	q.tokens.tell(h, "Tokens")
	return wait, kind
}

// use changes the quota of requests to a second's worth of perSecond, at least one, or back. What is left stays as far
// as the new one holds it. mu is held.
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

// refuse is the answer's header for those who are to wait: whole seconds, rounded up.
func refuse(h http.Header, wait time.Duration) (seconds int) {
	seconds = int((wait + time.Second - 1) / time.Second)
	h.Set("Retry-After", strconv.Itoa(seconds))
	return seconds
}

// tell writes limit, what remains, and how long until all of it is there again.
func (b *bucket) tell(h http.Header, name string) {
	if b.perSecond == 0 {
		return
	}
	h.Set("X-Ratelimit-Limit-"+name, strconv.Itoa(int(b.most)))
	h.Set("X-Ratelimit-Remaining-"+name, strconv.Itoa(max(0, int(b.level+sliver))))
	// Rounded up: who waits so long finds the bucket full.
	reset := (b.until(b.most) + time.Millisecond - 1).Truncate(time.Millisecond)
	h.Set("X-Ratelimit-Reset-"+name, reset.String())
}

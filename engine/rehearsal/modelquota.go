package rehearsal

import (
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// bucket is a quota per minute that fills up evenly and can be spent at once. An answer larger than the whole quota
// is let through when the bucket is full, and what it took too much is owed.
type bucket struct {
	perMinute float64 // 0 is unlimited
	level     float64
}

// sliver is less than any wait makes up for, and more than fractions of a minute are off by.
const sliver = 1e-6

func (b *bucket) fill(d time.Duration) {
	b.level = min(b.perMinute, b.level+d.Minutes()*b.perMinute)
}

// until is how long it takes until the bucket holds level.
func (b *bucket) until(level float64) time.Duration {
	if b.perMinute == 0 || level <= b.level+sliver {
		return 0
	}
	return time.Duration(math.Ceil((level - b.level) / b.perMinute * float64(time.Minute)))
}

// quota is what all callers together may ask for in a minute.
type quota struct {
	mu               sync.Mutex // holds what follows
	at               time.Time
	requests, tokens bucket
}

func newQuota(requests, tokens int, now time.Time) *quota {
	full := func(n int) bucket { return bucket{perMinute: float64(n), level: float64(n)} }
	return &quota{at: now, requests: full(requests), tokens: full(tokens)}
}

// take counts a request of so many tokens, or says how long to wait and for what. The headers say what is left.
func (q *quota) take(tokens int, now time.Time, h http.Header) (wait time.Duration, kind string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.requests.fill(now.Sub(q.at))
	q.tokens.fill(now.Sub(q.at))
	q.at = now
	wait, kind = q.requests.until(1), "requests"
	if more := q.tokens.until(min(float64(tokens), q.tokens.perMinute)); more > wait {
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

// tell writes limit, what remains, and how long until all of it is there again.
func (b *bucket) tell(h http.Header, name string) {
	if b.perMinute == 0 {
		return
	}
	h.Set("X-Ratelimit-Limit-"+name, strconv.Itoa(int(b.perMinute)))
	h.Set("X-Ratelimit-Remaining-"+name, strconv.Itoa(max(0, int(b.level+sliver))))
	// Rounded up: who waits so long finds the bucket full.
	reset := (b.until(b.perMinute) + time.Millisecond - 1).Truncate(time.Millisecond)
	h.Set("X-Ratelimit-Reset-"+name, reset.String())
}

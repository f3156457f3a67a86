// Package pace says when the next request to a service may start. It is pure: the caller brings the time, and waits.
package pace

import (
	"container/list"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/throng-sim/throng/engine/internal/stats"
)

// Mode is how a rate limiter goes about its rate.
type Mode uint8

// The modes: one that finds the rate, a token bucket, and one that spaces requests evenly.
const (
	Adaptive Mode = iota
	Bucket
	Fixed
)

// Modes are their names, by mode.
var Modes = []string{Adaptive: "adaptive", Bucket: "bucket", Fixed: "fixed"}

func (m Mode) String() string { return Modes[m] }

// Limits bound a rate, in requests per second. The zero value is unpaced: requests start as they come, unless the
// service refuses them.
type Limits struct {
	Mode           Mode
	Start          float64 // the rate, of an adaptive rate limiter at first; 0 is unpaced
	Floor, Ceiling float64 // of an adaptive rate limiter; they give way to Start
	Burst          int     // of a bucket, how many may start at once; 0 is one second's worth
}

func (l Limits) whole() Limits {
	l.Ceiling = max(l.Ceiling, l.Start)
	l.Floor = min(l.Floor, l.Start)
	if l.Burst <= 0 {
		l.Burst = max(int(l.Start), 1)
	}
	return l
}

// Limiter spreads the requests to a service over time, in the order in which they came, and keeps to what the service
// says: its refusals, and what it has left. An adaptive one finds the rate by itself (see adapt.go). It is safe for
// concurrent use, and holds no lock while somebody waits.
type Limiter struct {
	mu     sync.Mutex
	given  Limits
	limits Limits  // what they come to
	rate   float64 // what it found; Start in the other modes
	why    string  // in words

	queue  list.List // of *Turn, by ticket
	ticket uint64    // the last one given
	bucket *rate.Limiter
	last   time.Time // when the request before was to start
	spare  bool      // its turn was given back
	begun  bool      // some request started, ever

	blocked time.Time // nothing starts before
	refused time.Time // when that was said
	spread  float64   // of an unpaced one: the rate after a refusal,
	calmed  time.Time // until then

	climb climb
	moves []Move
	said  said
	gone  gone
}

// New returns a rate limiter.
func New(l Limits) *Limiter {
	p := &Limiter{given: l, limits: l.whole(), rate: l.Start}
	switch {
	case l.Start == 0:
	case l.Mode == Adaptive:
		p.why = perSecond(l.Start) + ": to begin with"
	default:
		p.why = perSecond(l.Start) + ": as set"
	}
	p.bucket = rate.NewLimiter(rate.Limit(p.rate), p.limits.Burst)
	p.climb.told = p.rate
	return p
}

// Limits are those that it was given last.
func (p *Limiter) Limits() Limits {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.given
}

// SetLimits changes the limits by hand, and those who wait hear of it. A new Start is the rate from now on; else what
// an adaptive rate limiter found stays, within the new bounds.
func (p *Limiter) SetLimits(now time.Time, l Limits) {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.limits
	p.given, p.limits = l, l.whole()
	if l.Start != was.Start || l.Mode != Adaptive {
		p.rate, p.climb.wall = l.Start, 0
	}
	if p.rate > 0 {
		p.rate = min(max(p.rate, p.limits.Floor), p.limits.Ceiling)
	}
	p.climb.began, p.climb.used, p.climb.told = now, 0, p.rate
	p.why = ""
	if p.rate > 0 {
		p.why = fmt.Sprintf("%s: set by hand at %s", perSecond(p.rate), clock(now))
	}
	p.bucket.SetLimitAt(now, rate.Limit(p.rate))
	p.bucket.SetBurstAt(now, p.limits.Burst)
	p.wakeAll()
}

// State is how a rate limiter is doing.
type State struct {
	Limits  Limits    // in force: what those given come to
	Rate    float64   // requests per second that may start now; 0 is as many as come
	Why     string    // in words, why that is the rate; "" of one that is unpaced
	Blocked time.Time // nothing starts before; zero is that it may
	Waiting int       // for their turns
	// Exhausted says in words that the quota is gone for long, and Until when it is there again; zero is that nobody knows.
	Exhausted string
	Until     time.Time
	Said      time.Time // when the service said so last
}

// State is how the rate limiter is doing now.
func (p *Limiter) State(now time.Time) State {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := State{Limits: p.limits, Waiting: p.queue.Len()}
	s.Rate, s.Why = p.effective(now)
	if p.blocked.After(now) {
		s.Blocked = p.blocked
	}
	if p.gone.endless() || p.gone.until.After(now) {
		s.Exhausted, s.Until, s.Said = p.gone.why, p.gone.until, p.gone.since
	}
	return s
}

// Recalled reports whether the service refused something since a turn came, so that its request must not start after
// all.
func (p *Limiter) Recalled(now, came time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.blocked.After(now) && !p.refused.Before(came)
}

// effective is the rate that holds now and why: the rate limiter's own, or what the service has left where that is less.
// mu is held.
func (p *Limiter) effective(now time.Time) (perSec float64, why string) {
	if p.rate == 0 {
		if p.spread > 0 && now.Before(p.calmed) {
			return p.spread, perSecond(p.spread) + ": those who waited for a 429 come back one after another"
		}
		return 0, ""
	}
	if left := p.said.rate(now); left.rate < p.rate {
		return max(left.rate, p.least()), left.String()
	}
	return p.rate, p.why
}

// least is what a rate does not fall below. mu is held.
func (p *Limiter) least() float64 {
	if p.limits.Floor > 0 {
		return p.limits.Floor
	}
	return min(p.rate, 1)
}

func perSecond(r float64) string { return stats.PerSecond(r) }

func clock(at time.Time) string { return at.Format("15:04:05") }

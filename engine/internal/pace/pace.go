// Package pace computes when the next request to a service may start. It is pure: the caller passes the time, and waits.
package pace

import (
	"container/list"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/throng-sim/throng/engine/internal/stats"
)

// Mode is how a rate limiter works.
type Mode uint8

// The modes: one that finds the rate, a token bucket, and one that spaces requests evenly.
const (
	Adaptive Mode = iota
	Bucket
	Fixed
)

// Modes are the names of the modes.
var Modes = []string{Adaptive: "adaptive", Bucket: "bucket", Fixed: "fixed"}

func (m Mode) String() string { return Modes[m] }

// Limits configure a rate, in requests per second. The zero value sets no rate: requests start as they arrive, unless the service
// refuses them.
type Limits struct {
	Mode           Mode
	Start          float64 // the rate; the initial one in adaptive mode; 0 sets none
	Floor, Ceiling float64 // in adaptive mode; Start takes precedence
	Burst          int     // of a token bucket, how many may start together; 0 is one second's worth
}

func (l Limits) whole() Limits {
	l.Ceiling = max(l.Ceiling, l.Start)
	l.Floor = min(l.Floor, l.Start)
	if l.Burst <= 0 {
		l.Burst = max(int(l.Start), 1)
	}
	return l
}

// Limiter spreads the requests to a service over time, in the order of their arrival, and obeys the service: its refusals, and what
// it says is left of its quotas. In adaptive mode it finds the rate by itself (see adapt.go). It is safe for concurrent use, and
// holds no lock while requests wait.
type Limiter struct {
	mu     sync.Mutex
	given  Limits
	limits Limits  // given, with defaults
	rate   float64 // present rate; Start in the other modes
	why    string  // reason of the rate

	queue  list.List // of *Turn, by ticket
	ticket uint64    // the last one issued
	bucket *rate.Limiter
	last   time.Time // when the previous request was due
	spare  bool      // a turn was returned
	begun  bool      // some request has started

	blocked time.Time // no request starts before
	refused time.Time // when blocked was set
	spread  float64   // without a rate: the rate after a refusal,
	calmed  time.Time // until this time

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

// Limits returns the limits that were set last.
func (p *Limiter) Limits() Limits {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.given
}

// SetLimits changes the limits and wakes waiting requests. A new Start is the rate from now on; otherwise an adaptive rate stays,
// within the new bounds.
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

// State is the state of a rate limiter.
type State struct {
	Limits  Limits    // in force: the given ones with defaults
	Rate    float64   // requests per second that may start now; 0 sets no limit
	Why     string    // reason of the rate; "" if there is none
	Blocked time.Time // no request starts before; zero if requests may start
	Waiting int       // requests in the queue
	// Exhausted is the reason why the quota is used up for long, and Until when it is restored; zero if that is not known.
	Exhausted string
	Until     time.Time
	Said      time.Time // when the service reported it last
}

// State returns the present state.
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

// Recalled reports whether the service refused a request after a turn came, so that the turn is void.
func (p *Limiter) Recalled(now, came time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.blocked.After(now) && !p.refused.Before(came)
}

// Calm reports whether requests start as they arrive: no rate is set, no refusal applies, and no request waits.
func (p *Limiter) Calm(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rate == 0 && p.gone.why == "" && !p.blocked.After(now) && !p.calmed.After(now) && p.queue.Len() == 0
}

// effective returns the rate that applies now and its reason: the limiter's own rate, or what is left of the quota if that is less.
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

// least returns the lowest rate. mu is held.
func (p *Limiter) least() float64 {
	if p.limits.Floor > 0 {
		return p.limits.Floor
	}
	return min(p.rate, 1)
}

func perSecond(r float64) string { return stats.PerSecond(r) }

func clock(at time.Time) string { return at.Format("15:04:05") }

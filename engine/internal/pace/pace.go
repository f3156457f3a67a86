// Package pace says when the next request to a service may start. It is pure: the caller brings the time.
package pace

import (
	"sync"
	"time"
)

const (
	window   = time.Second      // without refusal, after which the rate grows
	coolDown = 15 * time.Second // after a refusal in which it does not
	shrink   = 0.8
	growth   = 1.05
)

// Limits bound a rate, in requests per second. Start and Ceiling are above 0.
type Limits struct{ Start, Floor, Ceiling float64 }

// Pacer spreads requests over time at a rate that it finds: it doubles every window until the first refusal, shrinks
// once per episode of refusals, and grows slowly after (additive steps would favour slow services; this is TCP's slow
// start with a multiplicative growth, as AWS's adaptive retry mode has it). It is safe for concurrent use.
type Pacer struct {
	mu      sync.Mutex
	limits  Limits
	rate    float64
	next    time.Time // when the next request may start
	blocked time.Time // nothing starts before
	calm    time.Time // the rate stays as it is until then
	grown   time.Time // when it grew last
	used    int       // requests since
	refused bool      // ever
}

// New returns a pacer. A ceiling below the start is raised to it.
func New(l Limits) *Pacer {
	l.Ceiling = max(l.Ceiling, l.Start)
	l.Floor = min(l.Floor, l.Start)
	return &Pacer{limits: l, rate: l.Start}
}

// Reserve takes the next place in the row and says how long to wait for it. After the wait, Blocked says whether
// there is more to wait for.
func (p *Pacer) Reserve(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.grow(now)
	at := now
	for _, t := range [...]time.Time{p.next, p.blocked} {
		if t.After(at) {
			at = t
		}
	}
	p.next = at.Add(time.Duration(float64(time.Second) / p.rate))
	p.used++
	return at.Sub(now)
}

// Blocked is how long nothing may start for a refusal.
func (p *Pacer) Blocked(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(p.blocked.Sub(now), 0)
}

// Refuse tells of a 429 that asks to wait. Those that arrive in one episode, from requests that had left before,
// shrink the rate once.
func (p *Pacer) Refuse(now time.Time, wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := now.Add(wait); until.After(p.blocked) {
		p.blocked = until
	}
	if now.After(p.calm) || !p.refused {
		p.rate = max(p.rate*shrink, p.limits.Floor)
	}
	p.refused = true
	p.calm = now.Add(max(wait, coolDown))
}

// Rate is how many requests per second may start.
func (p *Pacer) Rate() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rate
}

// grow raises the rate where a window went by without refusal and somebody used it. mu is held.
func (p *Pacer) grow(now time.Time) {
	if p.grown.IsZero() {
		p.grown = now
	}
	if now.Sub(p.grown) < window || now.Before(p.calm) {
		return
	}
	if float64(p.used) >= p.rate/2 { // an unused rate has shown nothing
		factor := growth
		if !p.refused {
			factor = 2
		}
		p.rate = min(p.rate*factor, p.limits.Ceiling)
	}
	p.grown, p.used = now, 0
}

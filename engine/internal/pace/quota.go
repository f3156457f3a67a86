package pace

import (
	"fmt"
	"math"
	"time"
)

// Long is how long a quota takes to come back as a whole that is no matter of pace any more: it is not spread, and when
// it is gone the service is exhausted.
const Long = 10 * time.Minute

// probeEvery is how often a service whose quota is gone with no end in sight is asked whether it is there again.
const probeEvery = time.Minute

// Quota is what a service says of its budgets. The zero value says nothing.
type Quota struct{ Requests, Tokens Allowance }

// Allowance is one of them.
type Allowance struct {
	Known     bool
	Limit     float64       // of the whole; 0 where it is not said
	Remaining float64       // what is left of it
	Reset     time.Duration // until it is whole again, all at once or little by little
}

// Long reports whether the allowance takes long to come back as a whole, however it does.
func (a Allowance) Long() bool {
	if a.Limit > a.Remaining && a.Limit > 0 {
		// Of one that fills up evenly, the reset is only that of what was taken.
		return a.Reset.Seconds()*a.Limit/(a.Limit-a.Remaining) > Long.Seconds()
	}
	return a.Limit > 0 || a.Reset > Long // of one that is whole, nobody knows
}

// said is what a service said last, less what was started since.
type said struct {
	requests, tokens left
	perRequest       float64 // tokens, about
}

// left is what remains of an allowance until it is whole again.
type left struct {
	of     Allowance
	until  time.Time
	tokens bool
	rate   float64 // at which it lasts until then
	for_   time.Duration
}

func (l left) String() string {
	what := "requests"
	if l.tokens {
		what = "tokens"
	}
	return fmt.Sprintf("quota: %.0f %s left for %s", math.Max(l.of.Remaining, 0), what, inWords(l.for_))
}

// Observe tells what a service says that it has left. What remains is spread until it is whole again, instead of
// running into the wall; the equilibrium of a quota that fills up evenly is its rate.
func (p *Limiter) Observe(now time.Time, q Quota) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if q.Requests.Known {
		p.said.requests = left{of: q.Requests, until: now.Add(q.Requests.Reset)}
	}
	if q.Tokens.Known {
		p.said.tokens = left{of: q.Tokens, until: now.Add(q.Tokens.Reset), tokens: true}
	}
	p.wakeFirst()
}

// Spent tells how many tokens a request took, which those that follow are taken for.
func (p *Limiter) Spent(tokens int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := &p.said; s.perRequest == 0 {
		s.perRequest = float64(tokens)
	} else {
		s.perRequest += (float64(tokens) - s.perRequest) / 10
	}
}

// use counts a request that starts.
func (s *said) use() {
	s.requests.of.Remaining--
	s.tokens.of.Remaining -= s.perRequest
}

// rate is at what rate requests last, by the budget that bears least; infinite where nothing is known.
func (s *said) rate(now time.Time) left {
	least := left{rate: math.Inf(1)}
	for _, b := range [...]struct {
		left
		each float64
	}{{s.requests, 1}, {s.tokens, s.perRequest}} {
		l := b.left
		l.for_ = l.until.Sub(now)
		if !l.of.Known || l.for_ <= 0 || b.each == 0 || l.of.Long() {
			continue
		}
		if l.rate = max(l.of.Remaining, 0) / b.each / l.for_.Seconds(); l.rate < least.rate {
			least = l
		}
	}
	return least
}

// sooner is a wait, or until what was said is over, where that comes first.
func (s *said) sooner(now time.Time, wait time.Duration) time.Duration {
	for _, l := range [...]left{s.requests, s.tokens} {
		if d := l.until.Sub(now); l.of.Known && d > 0 && d < wait {
			wait = d
		}
	}
	return wait
}

// gone is a quota that is used up for long.
type gone struct {
	why   string // in words; "" is that it is not
	since time.Time
	until time.Time // zero is that nobody knows
}

func (g *gone) endless() bool { return g.why != "" && g.until.IsZero() }

// Exhaust tells that the service's quota is gone for long, and why, in words. Nothing starts until then. Where until is
// zero, one request a minute is let through, and the first that is accepted ends it.
func (p *Limiter) Exhaust(now time.Time, why string, until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = gone{why, now, until}
	if until.IsZero() {
		until = now.Add(probeEvery)
	}
	p.block(now, until.Sub(now))
}

// Accept tells that the service answered a request that left at a time: what it says of its quota for long is over if
// that was after it said so.
func (p *Limiter) Accept(now, left time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone.why != "" && left.After(p.gone.since) {
		p.resume(now)
	}
}

// Resume forgets that the service refused anything: a person says that it may be asked again.
func (p *Limiter) Resume(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.resume(now)
}

func (p *Limiter) resume(now time.Time) {
	p.gone, p.blocked, p.spread = gone{}, now, 0
	p.wakeAll()
}

// inWords is a duration to the second, from ten seconds on.
func inWords(d time.Duration) string {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

package pace

import (
	"fmt"
	"math"
	"time"

	"github.com/throng-sim/throng/engine/figures"
)

// Long is the time for a quota to be restored from which it is not a matter of pace: it is not spread, and if it is used up, the
// service is exhausted.
const Long = 10 * time.Minute

// probeEvery is the time between requests to a service whose quota is used up for an unknown time.
const probeEvery = time.Minute

// Quota is what a service says is left of its budgets. The zero value says nothing.
type Quota struct{ Requests, Tokens Allowance }

// Allowance is one budget.
type Allowance struct {
	Known     bool
	Limit     float64       // full budget; 0 if not known
	Remaining float64       // what is left
	Reset     time.Duration // until it is full again, in one step or gradually
}

// Long reports whether the full budget takes long to be restored.
func (a Allowance) Long() bool {
	if a.Limit > a.Remaining && a.Limit > 0 {
		// If the budget fills up evenly, Reset is only for what was used.
		return a.Reset.Seconds()*a.Limit/(a.Limit-a.Remaining) > Long.Seconds()
	}
	return a.Limit > 0 || a.Reset > Long // for a full budget this is not known
}

// said is what a service said last, less the requests started since.
type said struct {
	requests, tokens left
	perRequest       float64 // average tokens
}

// left is what remains of an allowance until it is restored.
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
	return fmt.Sprintf("quota: %.0f %s left for %s", math.Max(l.of.Remaining, 0), what, figures.Duration(l.for_))
}

// Observe records what a service says is left. The remainder is spread until the budget is restored. For a quota that fills up
// evenly, the equilibrium is its rate.
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

// Spent records how many tokens a request used. The average applies to further requests.
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

// rate returns the rate at which the scarcer budget lasts; infinite if nothing is known.
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

// sooner returns wait, or the time until the information is outdated if that is less.
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
	why   string // reason; "" if it is not used up
	since time.Time
	until time.Time // zero if not known
}

func (g *gone) endless() bool { return g.why != "" && g.until.IsZero() }

// Exhaust records that the service's quota is used up for long, and why. No request starts before until. If until is zero, one
// request a minute may start, and the first that is accepted ends the state.
func (p *Limiter) Exhaust(now time.Time, why string, until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = gone{why, now, until}
	if until.IsZero() {
		until = now.Add(probeEvery)
	}
	p.block(now, until.Sub(now))
}

// Accept records that the service accepted a request that left at a time. An exhausted quota is restored if the request left after
// the report.
func (p *Limiter) Accept(now, left time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone.why != "" && left.After(p.gone.since) {
		p.resume(now)
	}
}

// Resume forgets all refusals, because a user says that the service may be called again.
func (p *Limiter) Resume(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.resume(now)
}

func (p *Limiter) resume(now time.Time) {
	p.gone, p.blocked, p.spread = gone{}, now, 0
	p.wakeAll()
}

package admission

import (
	"strconv"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/pace"
)

// Fill adds the state of the limits to the state of their service. A request that holds a slot and waits for its turn counts as
// waiting.
func (c *Controller) Fill(s *engine.ServiceState, now time.Time) {
	s.Bound, s.InFlight, s.Waiting = c.bound.State()
	if c.buckets.one { // requests that wait for their turn hold a slot
		s.InFlight = max(s.InFlight-c.whole.State(now).Waiting, 0)
	}
	c.fillPace(s, now)
}

// Rate returns the present rate of the service, per second; 0 without a rate.
func (c *Controller) Rate(now time.Time) float64 {
	var s engine.ServiceState
	c.fillPace(&s, now)
	return s.Rate
}

// fillPace adds the state of the rate limiters to the state of a service: of the only endpoint in use, or of all endpoints as a
// list and their sum.
func (c *Controller) fillPace(s *engine.ServiceState, now time.Time) {
	whole := c.whole.State(now)
	s.Rate, s.MaxRate, s.RateWhy, s.Blocked = whole.Rate, whole.Limits.Ceiling, whole.Why, whole.Blocked
	s.Exhausted, s.Until, s.Said = whole.Exhausted, whole.Until, whole.Said
	s.Waiting += whole.Waiting
	used := c.buckets.inUse()
	if len(used) == 0 && !c.buckets.one && !c.buckets.within {
		l := c.buckets.limits()
		s.Rate, s.MaxRate = l.Start, max(l.Ceiling, l.Start)
	}
	sum, most := 0.0, 0.0
	paced := whole.Rate == 0
	for _, b := range used {
		p, state := b.rateLimiter.State(now), b.state(now)
		s.Waiting += p.Waiting
		sum, most, paced = sum+p.Rate, most+p.Limits.Ceiling, paced && p.Rate > 0
		if s.Exhausted == "" && p.Exhausted != "" {
			s.Exhausted, s.Until, s.Said = p.Exhausted, p.Until, p.Said
			if len(used) > 1 {
				s.Exhausted = b.name + ": " + p.Exhausted
			}
		}
		if len(used) > 1 || b.named {
			if worthShowing(&state) {
				s.Buckets = append(s.Buckets, state)
			}
			continue
		}
		if whole.Rate == 0 || p.Rate > 0 && p.Rate < whole.Rate {
			s.Rate, s.MaxRate, s.RateWhy = p.Rate, p.Limits.Ceiling, p.Why
		}
		if p.Blocked.After(s.Blocked) {
			s.Blocked = p.Blocked
		}
		return
	}
	if paced && len(used) > 0 {
		s.Rate, s.MaxRate, s.RateWhy = sum, most, ""
	}
}

// Moves returns the changes of all rate limiters since the last call. They are reported for the service.
func (c *Controller) Moves(service string) (all []engine.ChangeRow) {
	if c.buckets.one {
		for _, m := range c.whole.Moves() {
			all = append(all, rateMove(service, m))
		}
		return all
	}
	_ = c.whole.Moves() // the limiter of the whole only bounds those of the endpoints
	several := len(c.buckets.inUse()) > 1
	c.buckets.each(func(b *bucket) {
		what := service
		if several || b.named {
			what += " " + b.name
		}
		for _, m := range b.rateLimiter.Moves() {
			all = append(all, rateMove(what, m))
		}
	})
	return all
}

func rateMove(of string, m pace.Move) engine.ChangeRow {
	return engine.ChangeRow{At: m.At, What: of + " rate", Old: FormatRate(m.Old), New: FormatRate(m.New), Who: "rate limiter", Why: m.Why}
}

// FormatRate formats a rate per second.
func FormatRate(rate float64) string { return strconv.FormatFloat(rate, 'g', 4, 64) }

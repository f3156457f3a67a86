package pace

import (
	"fmt"
	"time"
)

// How an adaptive rate moves. It doubles every clean second until the first refusal (slow start), shrinks once per episode of
// refusals, stays for a while, and then grows by a twentieth per clean window. Near the rate that was refused last a window is
// long, so that most of the time between two episodes is spent close to the quota, as in CUBIC (RFC 9438, section 4.2). A rate well
// above that one shows that the quota has grown, and increases fast again.
const (
	window     = time.Second
	nearWindow = 20 * time.Second // near the wall
	coolDown   = 15 * time.Second // time after a refusal without growth
	shrink     = 0.8
	growth     = 1.05
	near       = 0.95 // of the wall: the lower end of nearby rates
	beyond     = 1.08 // of the wall: the upper end

	// Unnamed is the wait after a refusal without a time.
	Unnamed = time.Minute

	tellAfter = 1.2 // growth that is reported, unless it reaches the ceiling
	maxMoves  = 100 // kept until Moves is called
)

// climb is the state of an adaptive rate.
type climb struct {
	wall    float64   // the rate that was refused last; 0 if there is none
	shrunk  time.Time // when the last episode began
	refused bool      // ever
	calm    time.Time // no growth before
	began   time.Time // start of the window
	used    int       // requests in it
	bound   bool      // something other than the rate limited them
	told    float64   // the rate that was reported last
}

// Move is a change of the rate that the rate limiter made by itself, in requests per second.
type Move struct {
	At       time.Time
	Old, New float64
	Why      string // in words
}

// Moves returns the changes since the last call, at most the newest maxMoves. Growth is reported in larger steps than it happens.
func (p *Limiter) Moves() []Move {
	p.mu.Lock()
	defer p.mu.Unlock()
	moves := p.moves
	p.moves = nil
	return moves
}

// Refuse reports a 429 that asks to wait, for a request that left at a time. No request starts before the wait is over. The
// refusals of one episode, whose requests had left before it began, shrink the rate once.
func (p *Limiter) Refuse(now, left time.Time, wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.block(now, wait)
	c := &p.climb
	c.began, c.used, c.bound = now, 0, false
	c.calm = later(c.calm, now.Add(max(wait, coolDown)))
	if p.limits.Mode != Adaptive || p.rate == 0 || c.refused && !left.After(c.shrunk) {
		c.refused = true
		return
	}
	c.refused, c.shrunk, c.wall = true, now, p.rate
	p.move(now, max(p.rate*shrink, p.limits.Floor), "after a 429 at "+clock(now)+" shrunk")
}

// block keeps requests from starting for a while. mu is held.
func (p *Limiter) block(now time.Time, wait time.Duration) {
	until := now.Add(wait)
	if !until.After(p.blocked) {
		return
	}
	p.blocked, p.refused = until, now
	if p.rate == 0 { // waiting requests are spread over a quarter of the wait
		p.spread, p.calmed = -1, until.Add(max(wait/4, time.Millisecond))
	}
	p.wakeAll()
}

// Trouble reports a request that the service failed. Its second is not a clean one, and does not raise the rate.
func (p *Limiter) Trouble(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := &p.climb
	if c.began = c.began.Add(window); c.began.After(now) || now.Sub(c.began) < window {
		c.began, c.used, c.bound = now, 0, false
	}
}

// grow raises the rate after a window without refusal or trouble, if the rate limited the requests. mu is held.
func (p *Limiter) grow(now time.Time) {
	c := &p.climb
	if p.limits.Mode != Adaptive || p.rate == 0 || p.rate >= p.limits.Ceiling {
		return
	}
	if c.began.IsZero() {
		c.began = now
	}
	if p.said.rate(now).rate < p.rate {
		c.bound = true
	}
	length := window
	if p.near() {
		length = nearWindow
	}
	took := now.Sub(c.began)
	if took < length || now.Before(c.calm) {
		return
	}
	// A rate that was not used up proves nothing.
	if !c.bound && float64(c.used) >= p.rate*took.Seconds()/2 {
		p.step(now)
	}
	c.began, c.used, c.bound = now, 0, false
}

// near reports whether the rate is close to the one that was refused last. mu is held.
func (p *Limiter) near() bool {
	wall := p.climb.wall
	return wall > 0 && p.rate >= near*wall && p.rate < beyond*wall
}

// step raises the rate by one step. mu is held.
func (p *Limiter) step(now time.Time) {
	c := &p.climb
	to, why := p.rate*growth, "grown, no 429 came"
	switch {
	case !c.refused:
		to, why = p.rate*2, "doubled, no 429 came yet"
	case p.rate < near*c.wall:
		to = min(to, near*c.wall)
	}
	if to >= p.limits.Ceiling {
		to, why = p.limits.Ceiling, "at the ceiling"
	}
	p.move(now, to, why)
}

// move changes the rate and records what to report. mu is held.
func (p *Limiter) move(now time.Time, to float64, why string) {
	c := &p.climb
	if to < p.rate {
		p.tell(now, p.rate, "grown, no 429 came")
		p.why = fmt.Sprintf("%s: %s from %s", perSecond(to), why, perSecond(p.rate))
	} else {
		p.why = perSecond(to) + ": " + why
	}
	grew := to > p.rate
	p.rate = to
	if !grew || to >= tellAfter*c.told || to == p.limits.Ceiling {
		p.tell(now, to, p.why)
	}
	p.wakeFirst()
}

// record keeps a change for Moves. mu is held.
func (p *Limiter) tell(now time.Time, to float64, why string) {
	c := &p.climb
	if to == c.told {
		return
	}
	if len(p.moves) == maxMoves {
		p.moves = append(p.moves[:0], p.moves[1:]...)
	}
	p.moves = append(p.moves, Move{now, c.told, to, why})
	c.told = to
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

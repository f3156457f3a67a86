package pace

import (
	"container/list"
	"time"

	"golang.org/x/time/rate"
)

// lateness is how late a request may start without delaying those behind it. More is not made up for, or a machine that slept would
// send all of them together.
const lateness = 100 * time.Millisecond

// aWhile is the wait of a request that is woken earlier.
const aWhile = time.Hour

// Turn is a place in the queue of requests that want to start. It belongs to one goroutine.
type Turn struct {
	// Ticket is its rank. A refused request joins again with its old ticket, in front of those that came later.
	Ticket uint64

	limiter *Limiter
	at      *list.Element // nil if it no longer waits
	due     time.Time     // earliest start: when it joined, or the end of its last wait
	wake    chan struct{}
}

// Wait is how long to wait before asking again. The zero value means that the turn has come.
type Wait struct {
	For     time.Duration
	Changed <-chan struct{} // or until a value arrives
	Refused bool            // the wait is because of a refusal
}

// Try takes a turn if it has come and no request waits.
func (p *Limiter) Try(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.queue.Len() > 0 || p.untilNext(now) > 0 {
		return false
	}
	p.start(now, now)
	return true
}

// Join joins the queue, behind all lower tickets; 0 gets a new ticket. Ask or Leave must follow.
func (p *Limiter) Join(now time.Time, ticket uint64) *Turn {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ticket == 0 {
		p.ticket++
		ticket = p.ticket
	}
	t := &Turn{Ticket: ticket, limiter: p, due: now, wake: make(chan struct{}, 1)}
	before := p.queue.Back()
	for before != nil && before.Value.(*Turn).Ticket > ticket {
		before = before.Prev()
	}
	if before == nil {
		t.at = p.queue.PushFront(t)
	} else {
		t.at = p.queue.InsertAfter(t, before)
	}
	return t
}

// Ask returns how long to wait. If the turn has come, the request may start.
func (t *Turn) Ask(now time.Time) Wait {
	p := t.limiter
	p.mu.Lock()
	defer p.mu.Unlock()
	refused := p.blocked.Sub(now)
	if p.queue.Front() != t.at {
		if refused > 0 { // the reason to wait changes then
			return Wait{refused, t.wake, true}
		}
		return Wait{aWhile, t.wake, p.rate == 0}
	}
	if wait := p.untilNext(now); wait > 0 {
		t.due = now.Add(wait)
		return Wait{wait, t.wake, refused > 0 || p.rate == 0}
	}
	p.start(now, t.due)
	t.leave()
	return Wait{}
}

// Leave gives up the place in the queue.
func (t *Turn) Leave() {
	t.limiter.mu.Lock()
	defer t.limiter.mu.Unlock()
	t.leave()
}

// leave removes the turn and wakes the first in the queue. mu is held.
func (t *Turn) leave() {
	if t.at == nil {
		return
	}
	t.limiter.queue.Remove(t.at)
	t.at = nil
	t.limiter.wakeFirst()
}

// GiveBack returns the turn of a request that did not start. The next one starts in its place.
func (p *Limiter) GiveBack() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spare = true
	p.wakeFirst()
}

// untilNext returns how long it takes until the first in the queue may start; it is never negative. mu is held.
func (p *Limiter) untilNext(now time.Time) time.Duration {
	if wait := p.blocked.Sub(now); wait > 0 {
		return wait
	}
	if p.gone.endless() {
		return 0 // one request finds out
	}
	perSec := p.rateNow(now)
	switch {
	case perSec == 0 || p.spare:
		return 0
	case p.limits.Mode == Bucket:
		if p.bucket.Limit() != rate.Limit(perSec) {
			p.bucket.SetLimitAt(now, rate.Limit(perSec))
		}
		r := p.bucket.ReserveN(now, 1)
		wait := r.DelayFrom(now)
		r.CancelAt(now)
		return p.said.sooner(now, wait)
	case !p.begun:
		return 0
	}
	return max(p.said.sooner(now, p.last.Add(interval(perSec)).Sub(now)), 0)
}

// rateNow returns the effective rate. Without a rate, it spreads the requests that waited for a refusal. mu is held.
func (p *Limiter) rateNow(now time.Time) float64 {
	if p.rate == 0 && p.spread < 0 {
		p.spread = float64(p.queue.Len()) / p.calmed.Sub(p.blocked).Seconds()
	}
	p.grow(now)
	perSec, _ := p.effective(now)
	return perSec
}

// start counts a request that starts now and was due at due. Its lateness does not delay those behind it. mu is held.
func (p *Limiter) start(now, due time.Time) {
	if p.gone.endless() {
		p.blocked = now.Add(probeEvery)
	}
	p.climb.used++
	p.said.use()
	perSec, _ := p.effective(now)
	switch {
	case p.spare:
		p.spare = false
	case perSec == 0:
	case p.limits.Mode == Bucket:
		p.bucket.AllowN(now, 1)
	default:
		at := now
		if p.begun {
			at = p.last.Add(interval(perSec))
		}
		for _, t := range [...]time.Time{p.blocked, due, now.Add(-lateness)} {
			if t.After(at) && !t.After(now) {
				at = t
			}
		}
		if at.After(now) {
			at = now
		}
		p.last = at
	}
	p.begun = true
}

func interval(perSec float64) time.Duration { return time.Duration(float64(time.Second) / perSec) }

// wakeFirst wakes the first in the queue to ask again. mu is held.
func (p *Limiter) wakeFirst() {
	if first := p.queue.Front(); first != nil {
		first.Value.(*Turn).tell()
	}
}

// wakeAll wakes the whole queue. mu is held.
func (p *Limiter) wakeAll() {
	for e := p.queue.Front(); e != nil; e = e.Next() {
		e.Value.(*Turn).tell()
	}
}

func (t *Turn) tell() {
	select {
	case t.wake <- struct{}{}:
	default: // it was woken already
	}
}

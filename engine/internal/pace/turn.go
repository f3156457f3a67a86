package pace

import (
	"container/list"
	"time"

	"golang.org/x/time/rate"
)

// lateness is how much later than its time a request may start without those behind it being put off: so much
// is made up for, more is not, or a machine that slept would ask for all of it at once.
const lateness = 100 * time.Millisecond

// aWhile is how long somebody waits who will be told earlier.
const aWhile = time.Hour

// Turn is a place in the row of those who want to start a request. It belongs to one goroutine.
type Turn struct {
	// Ticket is its rank. A request that was refused joins with the ticket that it had, in front of those who came later.
	Ticket uint64

	limiter *Limiter
	at      *list.Element // nil is that it waits no more
	due     time.Time     // it does not come before: when it joined, or until when it was told to wait
	wake    chan struct{}
}

// Wait says how long to wait before asking again; the zero value that the turn has come.
type Wait struct {
	For     time.Duration
	Changed <-chan struct{} // or until this has something
	Refused bool            // it is for the sake of a refusal
}

// Try takes a turn if it has come and nobody waits.
func (p *Limiter) Try(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.queue.Len() > 0 || p.untilNext(now) > 0 {
		return false
	}
	p.start(now, now)
	return true
}

// Join stands in the row, behind all with a lower ticket; 0 is a new one. Ask or Leave must follow.
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

// Ask says whether the turn has come, which it is then: the request may start.
func (t *Turn) Ask(now time.Time) Wait {
	p := t.limiter
	p.mu.Lock()
	defer p.mu.Unlock()
	refused := p.blocked.Sub(now)
	if p.queue.Front() != t.at {
		if refused > 0 { // to wait for something else from then on
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

// Leave gives up waiting. Those behind move up.
func (t *Turn) Leave() {
	t.limiter.mu.Lock()
	defer t.limiter.mu.Unlock()
	t.leave()
}

// leave takes the turn out of the row and tells the one who is now the first. mu is held.
func (t *Turn) leave() {
	if t.at == nil {
		return
	}
	t.limiter.queue.Remove(t.at)
	t.at = nil
	t.limiter.wakeFirst()
}

// GiveBack says that a request whose turn had come did not start. The next one starts in its place.
func (p *Limiter) GiveBack() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spare = true
	p.wakeFirst()
}

// untilNext is how long it takes until the first in the row may start; never less than 0. mu is held.
func (p *Limiter) untilNext(now time.Time) time.Duration {
	if wait := p.blocked.Sub(now); wait > 0 {
		return wait
	}
	if p.gone.endless() {
		return 0 // one is let through to see
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

// rateNow is the effective rate. Of an unpaced rate limiter it sees to it that those who waited for a refusal do not
// all come at once, but within the time in which they are to be spread. mu is held.
func (p *Limiter) rateNow(now time.Time) float64 {
	if p.rate == 0 && p.spread < 0 {
		p.spread = float64(p.queue.Len()) / p.calmed.Sub(p.blocked).Seconds()
	}
	p.grow(now)
	perSec, _ := p.effective(now)
	return perSec
}

// start counts a request that starts now, and was to start at due: those behind it are not put off because it is late.
// mu is held.
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

// wakeFirst tells the first in the row to ask again. mu is held.
func (p *Limiter) wakeFirst() {
	if first := p.queue.Front(); first != nil {
		first.Value.(*Turn).tell()
	}
}

// wakeAll tells all of them. mu is held.
func (p *Limiter) wakeAll() {
	for e := p.queue.Front(); e != nil; e = e.Next() {
		e.Value.(*Turn).tell()
	}
}

func (t *Turn) tell() {
	select {
	case t.wake <- struct{}{}:
	default: // it has been told
	}
}

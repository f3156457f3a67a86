package service

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/gate"
)

// When the breaker of a service opens, and for how long.
const (
	// It opens when so great a share of at least so many requests of the last while failed, or so many in a row, however
	// long these took. Requests under way count as if they were to be answered: of many that leave together those that
	// fail come back first.
	breakShare  = 0.5
	breakLeast  = 20
	breakWindow = 10 * time.Second
	breakInRow  = 10
	// It stays open for firstOpen, and twice as long after each try that failed, up to mostOpen.
	firstOpen = 5 * time.Second
	mostOpen  = time.Minute
	// For so long calls wait for a service that is away. After that they fail at once while it stays away, and it is the
	// run's breaker that holds sessions back: else a few calls that a service never answers could hold up a cycle for ever.
	breakPatience = 2 * time.Hour
)

// breaker is the circuit breaker of a service (M. Nygard, Release It!). While it is open, calls wait in the order in
// which they arrived. After a while the first of them becomes a probe, whose outcome decides for all.
//
//	closed ── too many fail ──▶ open ── time is over ──▶ half-open: one probe is under way
//	   ▲                         ▲ ◀──── it failed ───────── │
//	   └──────────────────────── it was answered ────────────┘
//
// While it is not closed, an attempt that fails for the service's sake uses up none of its call's attempts: an outage
// fails nobody but a few whose attempts were over before ten in a row had failed.
type breaker struct {
	service string
	first   time.Duration // that it stays open: firstOpen
	door    *gate.Gate    // where calls wait
	failed  atomic.Int64

	mu     sync.Mutex
	off    bool
	recent window
	state  engine.BreakerState
	epoch  int  // how often the state changed: what left before says nothing about now
	inRow  int  // failures
	under  int  // attempts under way
	ready  bool // it is open and the next call is a probe
	gone   bool // nobody waits any more

	since, next time.Time // it is open, and there is a probe
	wait        time.Duration
	timer       *time.Timer
	probes      int // that failed
	reason      string
	last        string // failure
	moves       []engine.ChangeRow
}

// passage is how a call came through the breaker.
type passage struct {
	epoch int
	probe bool
	left  bool // its attempt is under way
}

func newBreaker(service string, off bool) *breaker {
	return &breaker{service: service, first: firstOpen, off: off, door: gate.New(math.MaxInt), recent: window{began: time.Now()}}
}

// trips reports whether too many recent attempts failed, and notes why. mu is held.
func (b *breaker) trips(now time.Time) bool {
	answered, failed := b.recent.totals(now)
	most := func(failed, of int) bool { return float64(failed) >= breakShare*float64(of+b.under) }
	switch all := answered + failed; {
	case b.inRow >= breakInRow && most(b.inRow, b.inRow):
		b.reason = fmt.Sprintf("%d requests in a row failed", b.inRow)
	case all >= breakLeast && most(failed, all):
		b.reason = fmt.Sprintf("%d of %d requests failed in %s", failed, all, engine.FormatDuration(breakWindow))
	default:
		return false
	}
	return true
}

// pass waits until the breaker lets the call through, held. Its error is that of a service that is away for too long, or
// the cause of the context.
func (b *breaker) pass(ctx context.Context, call *Call) (passage, error) {
	for waited := false; ; waited = true {
		p, ok, err := b.admit(time.Now())
		if waited {
			b.door.Leave() // not before: it lets one through
		}
		if ok || err != nil {
			return p, err
		}
		if err := call.held(engine.BreakerGate, func() error { return b.door.Enter(ctx) }); err != nil {
			return passage{}, err
		}
	}
}

func (b *breaker) admit(now time.Time) (p passage, ok bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.state == engine.BreakerClosed:
		return passage{epoch: b.epoch}, true, nil
	case b.ready:
		b.ready, b.state = false, engine.BreakerHalfOpen
		b.epoch++
		b.shut()
		return passage{epoch: b.epoch, probe: true}, true, nil
	case b.gone:
		return p, false, engine.Fail(engine.Network, "%s has been away for %s, last: %s", b.service, b.length(now), b.last)
	}
	return p, false, nil
}

// shut lets nobody through the door who would have to wait on. mu is held.
func (b *breaker) shut() {
	if !b.gone {
		b.door.SetLimit(0)
	}
}

// leave reports whether a passage is still good, and its attempt leaves: the breaker may have opened while the call
// waited for a place.
func (b *breaker) leave(p *passage) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.left = p.epoch == b.epoch; p.left {
		b.under++
	}
	return p.left
}

// done takes what became of an attempt, with the failure in words; every passage ends with it. spared says that the
// attempt is to use up none: the service is away and calls wait for it.
func (b *breaker) done(p passage, v verdict, failure string) (spared bool) {
	if v.bad() {
		b.failed.Add(1)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.left {
		b.under--
	}
	if p.epoch == b.epoch && !b.off {
		b.judge(p, v, failure)
	}
	return v.bad() && b.state != engine.BreakerClosed && !b.gone
}

// judge draws the consequences. mu is held.
func (b *breaker) judge(p passage, v verdict, failure string) {
	switch {
	case v >= failing || v.bad() && p.probe:
		b.inRow++
		b.last = shortened(failure, 120)
	case v == answered:
		b.inRow = 0
	}
	now := time.Now()
	switch decides := v.outcome(p.probe); {
	case p.probe && decides == good:
		b.close(now)
	case p.probe && decides == bad:
		b.open(now)
	case p.probe: // it says nothing: the next call is another probe
		b.state = engine.BreakerOpen
		b.due()
	case decides != none:
		b.recent.add(now, decides)
		if decides == bad && b.trips(now) {
			b.open(now)
		}
	}
}

// open begins a wait, the first or a longer one. mu is held.
func (b *breaker) open(now time.Time) {
	if b.state == engine.BreakerClosed {
		b.since, b.wait, b.probes = now, b.first, 0
		b.moved(now, "closed", "open", b.reason+", last: "+b.last)
	} else {
		b.wait = min(2*b.wait, mostOpen)
		b.probes++
	}
	b.state, b.next = engine.BreakerOpen, now.Add(b.wait)
	b.epoch++
	b.shut()
	if !b.gone && b.next.Sub(b.since) > breakPatience {
		b.gone = true
		b.door.SetLimit(math.MaxInt)
	}
	epoch := b.epoch
	b.timer = time.AfterFunc(b.wait, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.epoch == epoch {
			b.due()
		}
	})
}

// due lets the next call through. mu is held.
func (b *breaker) due() {
	b.ready = true
	if !b.gone {
		b.door.SetLimit(1)
	}
}

// close lets everybody through. mu is held.
func (b *breaker) close(now time.Time) {
	b.moved(now, "open", "closed", fmt.Sprintf("it answers again, after %s%s", b.length(now), b.tries()))
	b.reset()
}

// reset begins anew. mu is held.
func (b *breaker) reset() {
	b.recent = window{began: time.Now()}
	b.state, b.inRow, b.ready, b.gone = engine.BreakerClosed, 0, false, false
	b.epoch++
	b.stop()
	b.door.SetLimit(math.MaxInt)
}

// restart forgets what went wrong so far; off has it hold nobody back from now on.
func (b *breaker) restart(off bool, why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state != engine.BreakerClosed {
		b.moved(time.Now(), "open", "closed", why)
	}
	b.off = off
	b.reset()
}

// wake forgets what went wrong before the machine slept.
func (b *breaker) wake() { b.restart(b.isOff(), "the machine slept, and it starts afresh") }

func (b *breaker) isOff() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.off
}

// end stops what would go on by itself.
func (b *breaker) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stop()
}

// stop ends the wait for a probe. mu is held.
func (b *breaker) stop() {
	if b.timer != nil {
		b.timer.Stop()
	}
}

func (b *breaker) moved(at time.Time, old, next, why string) {
	b.moves = append(b.moves, engine.ChangeRow{At: at, What: b.service + " breaker", Old: old, New: next, Who: "breaker", Why: why})
}

// taken returns what changed since it was called last. A probe that failed is no change.
func (b *breaker) taken() []engine.ChangeRow {
	b.mu.Lock()
	defer b.mu.Unlock()
	moves := b.moves
	b.moves = nil
	return moves
}

// fill tells a service's state what the breaker knows.
func (b *breaker) fill(s *engine.ServiceState, now time.Time) {
	s.Failures = b.failed.Load()
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.Breaker = b.state; b.state == engine.BreakerClosed {
		return
	}
	_, _, waiting := b.door.State()
	s.Waiting += waiting
	next := "a try is under way"
	switch {
	case b.state == engine.BreakerHalfOpen:
	case b.ready:
		next = "the next request is a try"
	default:
		s.NextProbe = b.next
		next = "next try in " + engine.FormatDuration(b.next.Sub(now).Round(time.Second))
	}
	if b.gone {
		next = "requests fail at once; " + next
	}
	s.BreakerWhy = fmt.Sprintf("open since %s: %s%s, last: %s; %s", b.since.Local().Format("15:04"), b.reason, b.tries(), b.last, next)
}

// length is how long it has been open. mu is held.
func (b *breaker) length(now time.Time) string {
	return engine.FormatDuration(now.Sub(b.since).Round(time.Second))
}

// tries says how often it was tried in vain. mu is held.
func (b *breaker) tries() string {
	switch b.probes {
	case 0:
		return ""
	case 1:
		return " and a try"
	}
	return fmt.Sprintf(" and %d tries", b.probes)
}

// Package breaker is the circuit breaker of a service (M. Nygard, Release It!).
package breaker

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/concurrency"
	"github.com/throng-sim/throng/engine/service/redact"
)

// When a breaker opens, and for how long.
const (
	// It opens when breakShare of the requests of the last breakWindow failed, of at least breakLeast, or breakInRow in a row, however
	// long these took. Requests under way count as if they succeeded: of many that leave together, the failed ones return first.
	breakShare  = 0.5
	breakLeast  = 20
	breakWindow = 10 * time.Second
	breakInRow  = 10
	// It stays open for FirstOpen, and twice as long after each failed probe, up to MostOpen.
	FirstOpen = 5 * time.Second
	MostOpen  = time.Minute
	// Calls wait for an unavailable service for up to Patience. After that they fail immediately while it stays unavailable, and
	// the run's breaker delays sessions. Otherwise a few calls that a service never answers could hold up a cycle forever.
	Patience = 2 * time.Hour
)

// Breaker is the circuit breaker of one service. While it is open, calls wait in the order of their arrival. After a while the first
// of them becomes a probe, whose outcome decides for all. It is safe for concurrent use.
//
//	closed ── too many fail ──▶ open ── time is over ──▶ half-open: one probe is under way
//	   ▲                         ▲ ◀──── it failed ───────── │
//	   └──────────────────────── it was answered ────────────┘
//
// While it is not closed, an attempt that fails because of the service uses up none of its call's attempts. An outage fails only the
// few calls whose attempts were used up before ten in a row had failed.
type Breaker struct {
	service string
	First   time.Duration      // it stays open at First: FirstOpen; change it before the first call
	queue   *concurrency.Limit // where calls wait
	failed  atomic.Int64

	mu     sync.Mutex
	off    bool
	recent window
	state  engine.BreakerState
	epoch  int  // number of state changes; what left in an earlier epoch says nothing about now
	inRow  int  // failures
	under  int  // attempts under way
	ready  bool // it is open, and the next call is a probe
	gone   bool // the service was unavailable for too long: calls no longer wait

	since, next time.Time // when it opened, and when the next probe is due
	wait        time.Duration
	timer       *time.Timer
	probes      int // failed probes
	reason      string
	last        string // failure
	moves       []engine.ChangeRow
}

// Pass is a call's permission to make an attempt.
type Pass struct {
	Probe bool // the attempt decides whether the service is available
	epoch int
	left  bool // the attempt is under way
}

// New returns the breaker of a service. One that is off never delays calls.
func New(service string, off bool) *Breaker {
	return &Breaker{service: service, First: FirstOpen, off: off, queue: concurrency.NewLimit(math.MaxInt), recent: window{began: time.Now()}}
}

// trips reports whether too many recent attempts failed, and notes why. mu is held.
func (b *Breaker) trips(now time.Time) bool {
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

// Pass waits until the breaker lets a call through. If the call must wait, Pass calls hold with a function that waits, and returns
// what hold returns. Other errors say that the service has been unavailable for too long.
func (b *Breaker) Pass(hold func(wait func(ctx context.Context) error) error) (Pass, error) {
	for waited := false; ; waited = true {
		p, ok, err := b.admit(time.Now())
		if waited {
			b.queue.Release() // not before admit: it lets the next call through
		}
		if ok || err != nil {
			return p, err
		}
		if err := hold(b.queue.Acquire); err != nil {
			return Pass{}, err
		}
	}
}

func (b *Breaker) admit(now time.Time) (p Pass, ok bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.state == engine.BreakerClosed:
		return Pass{epoch: b.epoch}, true, nil
	case b.ready:
		b.ready, b.state = false, engine.BreakerHalfOpen
		b.epoch++
		b.shut()
		return Pass{epoch: b.epoch, Probe: true}, true, nil
	case b.gone:
		return p, false, engine.Fail(engine.Network, "%s has been unavailable for %s, last: %s", b.service, b.length(now), b.last)
	}
	return p, false, nil
}

// shut keeps calls in the queue. mu is held.
func (b *Breaker) shut() {
	if !b.gone {
		b.queue.SetLimit(0)
	}
}

// Leave reports whether a pass is still valid and its attempt may leave. The breaker may have opened while the call waited for a slot.
func (b *Breaker) Leave(p *Pass) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.left = p.epoch == b.epoch; p.left {
		b.under++
	}
	return p.left
}

// Done ends a pass with the verdict of its attempt and the text of its failure. spared means that the attempt counts as none: the
// service is unavailable, and calls wait for it.
func (b *Breaker) Done(p Pass, v Verdict, failure string) (spared bool) {
	if v.failed() {
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
	return v.failed() && b.state != engine.BreakerClosed && !b.gone
}

// judge updates the state after an attempt. mu is held.
func (b *Breaker) judge(p Pass, v Verdict, failure string) {
	switch {
	case v >= Failing || v.failed() && p.Probe:
		b.inRow++
		b.last = redact.Shorten(failure, 120)
	case v == Answered:
		b.inRow = 0
	}
	now := time.Now()
	switch decides := v.outcome(p.Probe); {
	case p.Probe && decides == good:
		b.close(now)
	case p.Probe && decides == bad:
		b.open(now)
	case p.Probe: // it says nothing, so that the next call is another probe
		b.state = engine.BreakerOpen
		b.due()
	case decides != none:
		b.recent.add(now, decides)
		if decides == bad && b.trips(now) {
			b.open(now)
		}
	}
}

// open starts the first wait, or a longer one. mu is held.
func (b *Breaker) open(now time.Time) {
	if b.state == engine.BreakerClosed {
		b.since, b.wait, b.probes = now, b.First, 0
		b.moved(now, "closed", "open", b.reason+", last: "+b.last)
	} else {
		b.wait = min(2*b.wait, MostOpen)
		b.probes++
	}
	b.state, b.next = engine.BreakerOpen, now.Add(b.wait)
	b.epoch++
	b.shut()
	if !b.gone && b.next.Sub(b.since) > Patience {
		b.gone = true
		b.queue.SetLimit(math.MaxInt)
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
func (b *Breaker) due() {
	b.ready = true
	if !b.gone {
		b.queue.SetLimit(1)
	}
}

// close lets all calls through. mu is held.
func (b *Breaker) close(now time.Time) {
	b.moved(now, "open", "closed", fmt.Sprintf("it answers again, after %s%s", b.length(now), b.tries()))
	b.reset()
}

// reset returns to the initial state. mu is held.
func (b *Breaker) reset() {
	b.recent = window{began: time.Now()}
	b.state, b.inRow, b.ready, b.gone = engine.BreakerClosed, 0, false, false
	b.epoch++
	b.stop()
	b.queue.SetLimit(math.MaxInt)
}

// Restart closes the breaker and forgets all failures. One that is off no longer delays calls.
func (b *Breaker) Restart(off bool, why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state != engine.BreakerClosed {
		b.moved(time.Now(), "open", "closed", why)
	}
	b.off = off
	b.reset()
}

// Wake forgets the failures from before the machine slept.
func (b *Breaker) Wake() { b.Restart(b.Off(), "the machine slept") }

// ProbeNow lets the next call through while the breaker is open, without waiting until the next probe is due.
func (b *Breaker) ProbeNow() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state == engine.BreakerOpen && !b.ready {
		b.stop()
		b.due()
	}
}

// Off reports whether the breaker is switched off.
func (b *Breaker) Off() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.off
}

// Close stops the breaker's timer.
func (b *Breaker) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stop()
}

// stop ends the wait for a probe. mu is held.
func (b *Breaker) stop() {
	if b.timer != nil {
		b.timer.Stop()
	}
}

func (b *Breaker) moved(at time.Time, old, next, why string) {
	b.moves = append(b.moves, engine.ChangeRow{At: at, What: b.service + " breaker", Old: old, New: next, Who: "breaker", Why: why})
}

// Moves returns the changes since the last call. A failed probe is not a change.
func (b *Breaker) Moves() []engine.ChangeRow {
	b.mu.Lock()
	defer b.mu.Unlock()
	moves := b.moves
	b.moves = nil
	return moves
}

// Fill adds the state of the breaker to the state of its service.
func (b *Breaker) Fill(s *engine.ServiceState, now time.Time) {
	s.Failures = b.failed.Load()
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.Breaker = b.state; b.state == engine.BreakerClosed {
		return
	}
	_, _, waiting := b.queue.State()
	s.Waiting += waiting
	next := "a probe is under way"
	switch {
	case b.state == engine.BreakerHalfOpen:
	case b.ready:
		next = "the next request is a probe"
	default:
		s.NextProbe = b.next
		next = "next probe in " + engine.FormatDuration(b.next.Sub(now).Round(time.Second))
	}
	if b.gone {
		next = "requests fail immediately; " + next
	}
	s.BreakerWhy = fmt.Sprintf("unavailable since %s: %s%s, last: %s; %s", b.since.Local().Format("15:04"), b.reason, b.tries(), b.last, next)
}

// length returns how long the breaker has been open. mu is held.
func (b *Breaker) length(now time.Time) string {
	return engine.FormatDuration(now.Sub(b.since).Round(time.Second))
}

// tries returns the number of failed probes, as a part of a sentence. mu is held.
func (b *Breaker) tries() string {
	switch b.probes {
	case 0:
		return ""
	case 1:
		return " and a probe"
	}
	return fmt.Sprintf(" and %d probes", b.probes)
}

package engine

import (
	"time"
)

// busyMeter adds up the time in which every place was taken while sessions waited for one. Workers keep their place
// while there are sessions left, so that is the time until the last one of a cycle starts.
type busyMeter struct {
	sum  time.Duration
	from time.Time // what is counted so far goes up to here
}

// mark counts the time since the last mark, in which neither the limit in force nor the open cycle has changed.
func (l *loop) mark(now time.Time) {
	if c := l.cycle; c != nil && l.inForce > 0 {
		until := now
		if at := c.lastStart(); !at.IsZero() && at.Before(until) {
			until = at
		}
		l.busy.sum += max(until.Sub(l.busy.from), 0)
	}
	l.busy.from = now
}

// steer asks the pilot what is to be done now, and does it.
func (l *loop) steer() {
	if l.cfg.Pilot == nil || l.finishing || l.phase == Draining || l.phase == Ended {
		return
	}
	l.obey(l.cfg.Pilot.Steer(l.reading(time.Now())))
}

// reading is what is known now, and the beginning of the next one.
func (l *loop) reading(now time.Time) Reading {
	l.mark(now)
	m, t, at := &l.metrics, &l.totals, &l.atBarrier.Totals
	span := max(now.Sub(l.read.at)-l.read.stood, 0)
	r := Reading{
		At: now, Span: span, Slept: l.read.slept, Phase: l.phase, Cycle: l.number,
		Limit: l.limit, InFlight: l.inFlight(),
		Ended: l.read.ended, Failed: l.read.failed,
		CycleEnded: t.Ended() - at.Ended(), CycleFailed: t.Bad() - at.Bad(),
		Service: m.Service, Host: m.Host, Connections: Connections{m.Connections, m.ServerConnections, m.ServerMax},
		Services: l.services, LastEnd: l.lastEnd, Oldest: l.oldest,
	}
	if span > 0 {
		r.Busy = min(l.busy.sum.Seconds()/span.Seconds(), 1)
	}
	if l.cycle != nil {
		r.CycleTotal = int64(l.cycle.active)
	}
	l.read, l.busy.sum = lastReading{at: now}, 0
	return r
}

// lastReading is what has happened since a pilot was asked last.
type lastReading struct {
	at            time.Time
	slept         time.Duration
	stood         time.Duration // the part of slept that now.Sub counts
	ended, failed int64
}

// obey carries out orders.
func (l *loop) obey(o Orders) {
	was := l.orders
	l.orders = o
	if o.Why != "" {
		l.steered, l.steerWhy = time.Now(), o.Why
	}
	if o.Limit > 0 && l.limit > 0 && l.governed() {
		l.moveLimit(min(o.Limit, MaxLimit), o.By, o.Why)
	}
	if o.Stall != nil && was.Stall == nil {
		l.change(StallChange, "", "", "stall warning", o.Stall.Why)
	}
	switch isOpen, wasOpen := o.Breaker != BreakerClosed, was.Breaker != BreakerClosed; {
	case isOpen && !wasOpen:
		l.change(PhaseChange, l.phase.String(), Paused.String(), breakerName, o.BreakerWhy)
		l.settle()
		l.checkpoint(breakerName, nil)
	case wasOpen && !isOpen:
		l.probe = false
		l.settle()
		l.change(PhaseChange, Paused.String(), l.phase.String(), breakerName, "all is well again")
	case isOpen && o.Probe && l.probing == 0:
		l.probe = true
	}
	l.publish()
}

// breakerName is who pauses a run of which too much fails.
const breakerName = "breaker"

// mayProbe reports whether a session is to start although the breaker is open, and nothing else stands against it.
func (l *loop) mayProbe() bool {
	if !l.probe || l.phase != Paused || l.pausedByUs || l.trouble != nil || l.limit == 0 {
		return false
	}
	now := time.Now()
	for i := range l.quotas {
		if l.quotas[i].holds(now) {
			return false
		}
	}
	return true
}

// probeOnce starts one session, however many are in flight still.
func (l *loop) probeOnce() {
	if !l.mayProbe() || l.cycle == nil || l.closing || l.cycle.left() == 0 || l.cfg.Settings.Sequential && l.workers > 0 {
		return
	}
	now := time.Now()
	l.probe, l.lastEnd = false, now
	l.standing += l.stoodIdle(now)
	l.probing++
	l.workers++
	l.r.places.Force()
	w := &worker{run: l.r, cycle: l.cycle, batch: l.r.freshBatch(), once: true}
	go w.work()
}

package engine

import "time"

// busyMeter adds up the time in which every place was taken while sessions waited for one. Workers keep their place
// while there are sessions left, so that is the time until the last one of a cycle starts. Once all have ended it is the
// barrier that lets nothing start, and between cycles the schedule.
type busyMeter struct {
	sum  time.Duration
	from time.Time // what is counted so far goes up to here
}

// mark counts the time since the last mark, in which neither the limit in force nor the open cycle has changed, nor
// whether that closes.
func (l *loop) mark(now time.Time) {
	switch c := l.cycle; {
	case l.inForce == 0:
	case c == nil:
		l.totals.Peaks.Overhead.Idle += now.Sub(l.busy.from)
	case l.closing:
		l.totals.Peaks.Overhead.Barrier += now.Sub(l.busy.from)
	default:
		until := now
		if at := c.lastStart(); !at.IsZero() && at.Before(until) {
			until = at
		}
		busy := max(until.Sub(l.busy.from), 0)
		l.busy.sum += busy
		l.totals.Peaks.Overhead.Full += busy
	}
	l.busy.from = now
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
		Service: m.Service, Host: m.Host, Connections: l.connections,
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

// lastReading is what has happened since a governor was asked last.
type lastReading struct {
	at            time.Time
	slept         time.Duration
	stood         time.Duration // the part of slept that now.Sub counts
	ended, failed int64
}

package run

import (
	"time"

	"github.com/throng-sim/throng/engine"
)

// readings prepares the reading that the governor receives.
type readings struct {
	core *core
	// busy is how long, since the last reading, every slot was in use while more sessions were waiting. It is counted up to
	// busyFrom. Workers keep their slots while sessions are left, so the time runs until the last session of a cycle
	// starts. After that the barrier holds sessions back, and between cycles the schedule does.
	busy     time.Duration
	busyFrom time.Time
	since    sinceReading
}

// sinceReading holds what has happened since the last reading.
type sinceReading struct {
	at            time.Time
	slept         time.Duration
	steady        time.Duration // the part of slept that the steady clock counts
	ended, failed int64
}

// mark counts the time since the previous mark. Call it before the limit in force or the open cycle changes, and before the
// cycle starts to close.
func (r *readings) mark() {
	c, at := r.core, r.core.in.At
	o := &c.tally.totals.Peaks.Overhead
	switch {
	case c.limit.inForce == 0:
	case c.cycles.open == nil:
		o.Idle += at.Sub(r.busyFrom)
	case c.cycles.closing:
		o.Barrier += at.Sub(r.busyFrom)
	default:
		busy := max(c.cycles.waitedUntil().Sub(r.busyFrom), 0)
		r.busy += busy
		o.Full += busy
		if c.cycles.arriving.schedule != nil { // then the schedule holds further sessions back
			o.Idle += at.Sub(r.busyFrom) - busy
		}
	}
	r.busyFrom = at
}

// next returns a reading and starts the next one.
func (r *readings) next() engine.Reading {
	r.mark()
	c, at := r.core, r.core.in.At
	m, t, before := &c.samples.metrics, &c.tally.totals, &c.tally.atBarrier.Totals
	span := max(at.Sub(r.since.at)-r.since.steady, 0)
	n := engine.Reading{
		At: at, Span: span, Slept: r.since.slept, Phase: c.life.phase, Cycle: c.cycles.number,
		Limit: c.limit.set, InFlight: c.inFlight(),
		Ended: r.since.ended, Failed: r.since.failed,
		CycleEnded: t.Ended() - before.Ended(), CycleFailed: t.Bad() - before.Bad(),
		Service: m.Service, Host: m.Host, Connections: c.samples.connections,
		Services: c.quotas.services, LastEnd: c.cycles.lastEnd, Oldest: c.samples.oldest,
	}
	if span > 0 {
		n.Busy = min(r.busy.Seconds()/span.Seconds(), 1)
	}
	if c.cycles.open != nil {
		n.CycleTotal = int64(c.cycles.open.active)
	}
	r.since, r.busy = sinceReading{at: at}, 0
	return n
}

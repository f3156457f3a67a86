package engine

import (
	"time"

	"github.com/throng-sim/throng/engine/internal/clock"
)

// begin starts the next cycle if its time has come, or ends the run. It reports whether it did either.
func (l *loop) begin() bool {
	if !l.started || l.pausedByUs || l.trouble != nil {
		return false
	}
	now := time.Now()
	if isEmpty := l.roster.isEmpty(l.number); isEmpty || l.isOver(now) {
		l.ending, l.stopping = EndFinished, allDone
		if isEmpty {
			l.stopping = nobody
		}
		l.setPhase(Draining)
		return true
	}
	if !l.stood.IsZero() {
		if !l.mayProbe() {
			return false
		}
		l.schedule, l.stood = l.schedule.Add(now.Sub(l.stood)), now
	}
	if wait := l.intended().Sub(now); wait > 0 {
		l.due.Reset(wait)
		return false
	}
	l.lag = 0
	if l.cfg.Settings.TimeScale > 0 {
		l.lag = now.Sub(l.intended())
		l.totals.Peaks.Lag = max(l.totals.Peaks.Lag, l.lag)
	}
	c := &cycle{number: l.number, now: l.cfg.Clock.At(l.number), ready: now, ctx: l.ctx, batch: int64(l.cfg.Settings.Batch)}
	c.timeout.Store(&TimeoutError{"session", l.cfg.Settings.SessionTimeout})
	l.roster.fill(c, l.firstDone)
	l.firstDone = nil
	if l.cfg.Settings.Sequential {
		sortByTurn(c.todo, l.cfg.Settings.Seed, c.number)
		c.lane = newLane(l.r.settings.Load(), l.r.memory, l.deltas, c.number)
	}
	if limit := l.cfg.Settings.CycleTimeout; limit > 0 {
		c.clock = clock.New(l.ctx, limit, &TimeoutError{"cycle", limit})
		if !l.stood.IsZero() {
			c.clock.Hold()
		}
	}
	l.mark(now)
	l.r.attendance.open(c, l.roster.retired(c.number))
	l.cycle, l.cycleBegan, l.standing, l.lastEnd = c, now, 0, now
	if l.phase == Preparing {
		l.setPhase(Running)
	}
	return true
}

// isOver reports whether no further cycle is to begin.
func (l *loop) isOver(now time.Time) bool {
	s := &l.cfg.Settings
	if s.Cycles > 0 {
		return l.number >= s.Cycles
	}
	next := now
	if at := l.intended(); at.After(now) {
		next = at
	}
	return next.Sub(l.began)+l.elapsed >= time.Duration(s.Hours*float64(time.Hour))
}

// intended is when the open cycle is meant to begin.
func (l *loop) intended() time.Time {
	if l.cfg.Settings.TimeScale <= 0 {
		return time.Time{}
	}
	each := time.Duration(float64(l.cfg.Clock.Cycle) / l.cfg.Settings.TimeScale)
	return l.schedule.Add(time.Duration(l.number-l.firstRun) * each)
}

// closeCycle makes the barrier: everything of the cycle is durable before the next one begins.
func (l *loop) closeCycle() {
	if l.closing {
		return
	}
	l.mark(time.Now())
	l.closing = true
	c := l.cycle
	if c.clock != nil {
		c.clock.Stop()
	}
	took := l.worked(l.idle)
	work := l.cycleWork()
	l.lastCycle = ClosedCycle{took, int64(c.active), l.failedInCycle(), work}
	l.totals.Peaks.Cycle = max(l.totals.Peaks.Cycle, took)
	l.totals.Peaks.Worked += took
	l.totals.Peaks.Open = 0
	row := BarrierRow{c.number, time.Now(), c.active, took, l.lag, l.totals.Ended(), work}
	l.commit(l.ctx, row, func(err error) {
		switch {
		case err != nil:
			l.barrierLost(err)
		case l.cfg.Barrier != nil:
			l.aside(func() { l.cfg.Barrier(c.number) }, l.openNext)
		default:
			l.openNext()
		}
	})
}

// worked is how long the open cycle was worked on until a moment, pauses left out.
func (l *loop) worked(until time.Time) time.Duration {
	return max(until.Sub(l.cycleBegan)-l.standing, 0)
}

// openNext commits the memory of the cycle that closed and opens the next.
func (l *loop) openNext() {
	if l.abandoned {
		return
	}
	l.turning = true // until all of it has: after a panic in between no checkpoint may be made of it
	l.sessions.begun += int64(l.cycle.started())
	for _, agent := range l.cfg.Settings.CommitCycle(l.r.memory, l.deltas, l.number) {
		l.dirty[agent] = true
	}
	clear(l.deltas)
	clear(l.bad)
	l.r.prefixes, l.r.takes = nil, nil
	l.mark(time.Now())
	l.cycle, l.closing = nil, false
	l.number++
	l.tally()
	l.deliver()
	l.atBarrier = State{Limit: l.limit, Totals: l.totals.Clone()}
	l.turning = false
}

// barrierLost keeps the cycle open: the run ends in it, and its sessions stay.
func (l *loop) barrierLost(err error) {
	l.mark(time.Now())
	l.closing = false
	if !l.isCut {
		l.ending, l.stopping = EndFailed, "the journal: "+err.Error()
		l.cutShort("")
	}
}

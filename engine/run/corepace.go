package run

import (
	"fmt"
	"time"

	"github.com/throng-sim/throng/engine"
)

// leastGap is how long the clocks must have gone on alone to tell of it: no pause of the runtime or of a busy machine is
// that long.
const leastGap = 5 * time.Second

// leastStep is by how much the wall clock must have moved alone: one that is being set right goes 0.05 % fast or slow.
const leastStep = 5 * time.Millisecond

// pace keeps how long the run has taken, and finds time in which nothing went on.
type pace struct {
	core *core

	began   time.Time     // of this process's work, moved by the time that it stood still
	elapsed time.Duration // of earlier processes
	writing time.Duration // it took to have the population written, before the run began
	epoch   time.Time     // what the steady clock is read against
	seen    clocks        // as of the last look
	slept   time.Duration // of this process
	lastNap string        // in words
}

// worked is for how long processes have worked on the run.
func (p *pace) worked() time.Duration { return p.elapsed + p.core.now.At.Sub(p.began) }

// clocks are what two clocks show: the wall's, and one that only grows, but stands still on some systems while the machine
// sleeps (Linux, macOS). Only the differences between two of them mean something.
type clocks struct{ wall, steady time.Duration }

// clocksAt reads both clocks from a time; the steady one counts from epoch.
func clocksAt(at, epoch time.Time) clocks {
	return clocks{time.Duration(at.UnixNano()), at.Sub(epoch)}
}

// gap is time in which nothing went on.
type gap struct {
	slept time.Duration // by the wall clock; 0 is that there was none
	stood time.Duration // the part of it that the steady clock counted
	why   string        // in words: which of the two it was
}

// gapBetween looks whether the machine slept, or the process stood still, between two looks that were meant to be tick
// apart. The wall clock going ahead of the steady one is a sleep, or somebody set it forward, which cannot be told apart
// and does no harm; both going ahead of the tick is a process that was stopped, or a sleep where the steady clock goes on.
func gapBetween(was, at clocks, tick time.Duration) gap {
	var g gap
	wall, steady := at.wall-was.wall, at.steady-was.steady
	if stood := steady - tick; stood > leastGap {
		g.stood, g.slept, g.why = stood, stood, "the process stood still"
	}
	if ahead := wall - steady; ahead > leastGap {
		g.slept += ahead
		g.why = "the machine slept"
	}
	return g
}

// stepBetween is by how much the wall clock was set between two looks; 0 is that it was not.
func stepBetween(was, at clocks) time.Duration {
	wall, steady := at.wall-was.wall, at.steady-was.steady
	if step := wall - steady; step.Abs() > leastStep+steady/1000 {
		return step
	}
	return 0
}

// look finds out whether there was a gap, before anything is done for a timer that ran out in it.
func (p *pace) look() {
	seen := clocksAt(p.core.now.At, p.epoch)
	g, step := gapBetween(p.seen, seen, publishEvery), stepBetween(p.seen, seen)
	p.seen = seen
	switch {
	case g.slept > 0:
		p.wake(g)
	case step != 0: // no time that was measured is wrong, but the stamps of rows are no measure any more
		p.core.record(engine.ChangeRow{What: engine.ClockChange, New: step.Round(time.Millisecond).String(), Who: "clock", Why: "the clock of this machine was set"})
	}
}

// wake goes on after a gap as if it had not been. It counts nowhere: not in the time that the run or a cycle took, not in
// rates, not in the gap between checkpoints; the schedule lies that much later, as after a pause; nobody waits for
// sessions that could not end. Timers of sessions that ran out meanwhile are wound up again by their clocks.
func (p *pace) wake(g gap) {
	c, at := p.core, p.core.now.At
	c.reading.busyFrom = c.reading.busyFrom.Add(min(g.stood, at.Sub(c.reading.busyFrom)))
	p.began = p.began.Add(g.stood)
	c.samples.window.at = c.samples.window.at.Add(g.stood)
	c.samples.recent.shift(g.stood)
	c.saves.stood += g.stood
	if c.limit.stood.IsZero() {
		c.cycles.schedule = c.cycles.schedule.Add(g.stood)
		c.cycles.standing += g.stood
	} else if c.cycles.workers > 0 {
		c.cycles.standing += g.stood
	}
	c.reading.last.slept += g.slept
	c.reading.last.stood += g.stood
	c.cycles.lastEnd, c.limit.orders.Stall = at, nil
	p.slept += g.slept
	p.lastNap = fmt.Sprintf("%s for %s", g.why, engine.FormatDuration(g.slept))
	c.record(engine.ChangeRow{What: engine.SleepChange, New: g.slept.Round(time.Millisecond).String(), Who: "clock", Why: g.why})
	c.emit(renewService{})
}

// lagWhy explains, where cycles follow a schedule, why they begin later than once planned.
func (p *pace) lagWhy() string {
	if p.slept == 0 || p.core.cfg.Settings.TimeScale <= 0 {
		return ""
	}
	return fmt.Sprintf("cycles begin %s later than planned: %s", engine.FormatDuration(p.slept), p.lastNap)
}

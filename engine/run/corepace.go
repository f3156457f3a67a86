package run

import (
	"fmt"
	"time"

	"github.com/throng-sim/throng/engine"
)

// leastGap is the shortest gap that is reported. Pauses of the runtime and delays on a busy machine are shorter.
const leastGap = 5 * time.Second

// leastStep is the smallest reported step of the wall clock. A clock that is being adjusted runs 0.05% fast or slow.
const leastStep = 5 * time.Millisecond

// pace measures how long the run has taken and detects gaps in which nothing ran.
type pace struct {
	core *core

	began   time.Time     // start of this process's work, moved later by the gaps
	elapsed time.Duration // time of earlier processes
	writing time.Duration // time to generate the population before the run began
	epoch   time.Time     // zero of the steady clock
	seen    clocks        // at the last look
	slept   time.Duration // total gaps of this process
	lastNap string        // text for the newest gap
}

// worked returns the total running time, earlier processes included.
func (p *pace) worked() time.Duration { return p.elapsed + p.core.now.At.Sub(p.began) }

// clocks are readings of two clocks: the wall clock, and a steady clock that never goes back. On some systems (Linux,
// macOS) the steady clock stops while the machine sleeps. Only differences between two readings are meaningful.
type clocks struct{ wall, steady time.Duration }

// clocksAt returns both clocks at a time. The steady clock counts from epoch.
func clocksAt(at, epoch time.Time) clocks {
	return clocks{time.Duration(at.UnixNano()), at.Sub(epoch)}
}

// gap is a period in which nothing ran.
type gap struct {
	slept time.Duration // its length by the wall clock; 0 means no gap
	stood time.Duration // the part that the steady clock counted
	why   string        // text that says which of the two happened
}

// gapBetween detects whether the machine slept, or the process was suspended, between two looks planned one tick apart. If
// the wall clock is ahead of the steady clock, the machine slept or someone set the wall clock forward. The two look alike,
// and treating the second as sleep is harmless. If both clocks are ahead of the tick, the process was suspended, or the
// machine slept while the steady clock kept running.
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

// stepBetween returns by how much the wall clock was set between two looks; 0 if it was not.
func stepBetween(was, at clocks) time.Duration {
	wall, steady := at.wall-was.wall, at.steady-was.steady
	if step := wall - steady; step.Abs() > leastStep+steady/1000 {
		return step
	}
	return 0
}

// look detects a gap. It must run before the handler of a timer that may have run out in the gap.
func (p *pace) look() {
	seen := clocksAt(p.core.now.At, p.epoch)
	g, step := gapBetween(p.seen, seen, publishEvery), stepBetween(p.seen, seen)
	p.seen = seen
	switch {
	case g.slept > 0:
		p.wake(g)
	case step != 0: // measured durations stay correct, but differences between row timestamps do not
		p.core.record(engine.ChangeRow{What: engine.ClockChange, New: step.Round(time.Millisecond).String(), Who: "clock", Why: "the clock of this machine was set"})
	}
}

// wake removes a gap from all measurements: the time of the run and the cycle, the rates, and the gap between checkpoints.
// The schedule moves by the length of the gap, as after a pause. Sessions that could not end in the gap are not reported as
// stalled. Session timeouts that ran out in the gap are extended by their clocks.
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

// lagWhy explains why scheduled cycles begin later than planned. It returns "" if there is no gap or no schedule.
func (p *pace) lagWhy() string {
	if p.slept == 0 || p.core.cfg.Settings.TimeScale <= 0 {
		return ""
	}
	return fmt.Sprintf("cycles begin %s later than planned: %s", engine.FormatDuration(p.slept), p.lastNap)
}

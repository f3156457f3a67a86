package run

import (
	"fmt"
	"time"

	"github.com/throng-sim/throng/engine"
)

// minGap is the shortest gap that is reported. Pauses of the runtime and delays on a busy machine are shorter.
const minGap = 5 * time.Second

// minStep is the smallest reported step of the wall clock. A clock that is being adjusted runs 0.05% fast or slow.
const minStep = 5 * time.Millisecond

// stopwatch measures how long the run has taken and detects gaps in which nothing ran.
type stopwatch struct {
	core *core

	began          time.Time     // start of this process's work, moved later by the gaps
	elapsed        time.Duration // time of earlier processes
	populationTook time.Duration // time to generate the population before the run began
	epoch          time.Time     // zero of the steady clock
	lastSeen       clocks        // at the last look
	gaps           time.Duration // total gaps of this process
	lastGap        string        // text for the newest gap
}

// worked returns the total running time, earlier processes included.
func (w *stopwatch) worked() time.Duration { return w.elapsed + w.core.in.At.Sub(w.began) }

// clocks are readings of two clocks: the wall clock, and a steady clock that never goes back. On some systems (Linux,
// macOS) the steady clock stops while the machine sleeps. Only differences between two readings are meaningful.
type clocks struct{ wall, steady time.Duration }

// clocksAt returns both clocks at a time. The steady clock counts from epoch.
func clocksAt(at, epoch time.Time) clocks {
	return clocks{time.Duration(at.UnixNano()), at.Sub(epoch)}
}

// gap is a period in which nothing ran.
type gap struct {
	length time.Duration // its length by the wall clock; 0 means no gap
	steady time.Duration // the part that the steady clock counted
	why    string        // text that says which of the two happened
}

// gapBetween detects whether the machine slept, or the process was suspended, between two looks planned one tick apart. If
// the wall clock is ahead of the steady clock, the machine slept or someone set the wall clock forward. The two look alike,
// and treating the second as sleep is harmless. If both clocks are ahead of the tick, the process was suspended, or the
// machine slept while the steady clock kept running.
func gapBetween(was, at clocks, tick time.Duration) gap {
	var g gap
	wall, steady := at.wall-was.wall, at.steady-was.steady
	if suspended := steady - tick; suspended > minGap {
		g.steady, g.length, g.why = suspended, suspended, "the process was suspended"
	}
	if ahead := wall - steady; ahead > minGap {
		g.length += ahead
		g.why = "the machine slept"
	}
	return g
}

// stepBetween returns by how much the wall clock was set between two looks; 0 if it was not.
func stepBetween(was, at clocks) time.Duration {
	wall, steady := at.wall-was.wall, at.steady-was.steady
	if step := wall - steady; step.Abs() > minStep+steady/1000 {
		return step
	}
	return 0
}

// detectGap detects a gap. It must run before the handler of a timer that may have run out in the gap.
func (w *stopwatch) detectGap() {
	seen := clocksAt(w.core.in.At, w.epoch)
	g, step := gapBetween(w.lastSeen, seen, publishEvery), stepBetween(w.lastSeen, seen)
	w.lastSeen = seen
	switch {
	case g.length > 0:
		w.removeGap(g)
	case step != 0: // measured durations stay correct, but differences between row timestamps do not
		w.core.changes.record(engine.ChangeRow{What: engine.ClockChange, New: step.Round(time.Millisecond).String(), Who: "clock", Why: "the clock of this machine was set"})
	}
}

// removeGap removes a gap from all measurements: the time of the run and the cycle, the rates, and the gap between
// checkpoints. The schedule moves by the length of the gap, as after a pause. Sessions that could not end in the gap are
// not reported as stalled. Session timeouts that ran out in the gap are extended by their clocks.
func (w *stopwatch) removeGap(g gap) {
	c, at := w.core, w.core.in.At
	c.reading.busyFrom = c.reading.busyFrom.Add(min(g.steady, at.Sub(c.reading.busyFrom)))
	w.began = w.began.Add(g.steady)
	c.samples.window.at, c.samples.second.at = c.samples.window.at.Add(g.steady), c.samples.second.at.Add(g.steady)
	c.samples.recent.Shift(g.steady)
	c.checkpoints.suspended += g.steady
	c.cycles.arriving.since = c.cycles.arriving.since.Add(min(g.steady, max(at.Sub(c.cycles.arriving.since), 0)))
	if c.limit.haltedAt.IsZero() {
		c.cycles.scheduleStart = c.cycles.scheduleStart.Add(g.steady)
		c.cycles.pausedTime += g.steady
	} else if c.cycles.workers > 0 {
		c.cycles.pausedTime += g.steady
	}
	c.reading.since.slept += g.length
	c.reading.since.steady += g.steady
	c.cycles.lastEnd, c.limit.orders.Stall = at, nil
	w.gaps += g.length
	w.lastGap = fmt.Sprintf("%s for %s", g.why, engine.FormatDuration(g.length))
	c.changes.record(engine.ChangeRow{What: engine.SleepChange, New: g.length.Round(time.Millisecond).String(), Who: "clock", Why: g.why})
	c.emit(renewService{})
}

// lagReason explains why cycles or sessions begin later than planned. It returns "" if they do not.
func (w *stopwatch) lagReason() string {
	if why := w.core.cycles.arriving.why(); why != "" {
		return why
	}
	if w.gaps == 0 || w.core.cfg.Settings.TimeScale <= 0 {
		return ""
	}
	return fmt.Sprintf("cycles begin %s later than planned: %s", engine.FormatDuration(w.gaps), w.lastGap)
}

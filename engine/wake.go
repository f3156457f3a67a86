package engine

import (
	"fmt"
	"time"
)

// leastGap is how long the clocks must have gone on alone to tell of it: no pause of the runtime or of a busy machine is
// that long.
const leastGap = 5 * time.Second

// clocks are what two clocks show: the wall's, and one that only grows, but stands still on some systems while the machine
// sleeps (Linux, macOS). Only the differences between two of them mean something.
type clocks struct{ wall, steady time.Duration }

var processStart = time.Now()

func clocksAt(now time.Time) clocks {
	return clocks{time.Duration(now.UnixNano()), now.Sub(processStart)}
}

// even reports whether as much time passed on both clocks between two looks.
func even(was, now clocks) bool {
	apart := (now.wall - was.wall) - (now.steady - was.steady)
	return apart.Abs() <= 2*time.Microsecond
}

// moment is now by both clocks at once. Reading the time is reading one clock after the other; where the process had to wait
// between the two, what lies between two such times is not as long as their stamps say.
func moment() time.Time {
	was := time.Now()
	for range 20 {
		now := time.Now()
		if even(clocksAt(was), clocksAt(now)) {
			return now
		}
		was = now
	}
	return was
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
func gapBetween(was, now clocks, tick time.Duration) gap {
	var g gap
	wall, steady := now.wall-was.wall, now.steady-was.steady
	if stood := steady - tick; stood > leastGap {
		g.stood, g.slept, g.why = stood, stood, "the process stood still"
	}
	if ahead := wall - steady; ahead > leastGap {
		g.slept += ahead
		g.why = "the machine slept"
	}
	return g
}

// sleeps are all gaps of a process.
type sleeps struct {
	sum  time.Duration
	last string // in words
}

// tick is what the loop does ten times a second.
func (l *loop) tick() {
	l.lookAtClocks()
	l.askServices(time.Now())
	l.settle()
	l.publish()
}

// lookAtClocks finds out whether there was a gap, before anything is done for a timer that ran out in it.
func (l *loop) lookAtClocks() {
	now := moment()
	seen := clocksAt(now)
	g, step := gapBetween(l.clock, seen, publishEvery), stepBetween(l.clock, seen)
	l.clock = seen
	switch {
	case g.slept > 0:
		l.wake(now, g)
	case step != 0: // no time that was measured is wrong, but the stamps of rows are no measure any more
		l.record(ChangeRow{What: ClockChange, New: step.Round(time.Millisecond).String(), Who: "clock", Why: "the clock of this machine was set"})
	}
}

// leastStep is by how much the wall clock must have moved alone: one that is being set right goes 0.05 % fast or slow.
const leastStep = 5 * time.Millisecond

// stepBetween is by how much the wall clock was set between two looks; 0 is that it was not.
func stepBetween(was, now clocks) time.Duration {
	wall, steady := now.wall-was.wall, now.steady-was.steady
	if step := wall - steady; step.Abs() > leastStep+steady/1000 {
		return step
	}
	return 0
}

// wake goes on after a gap as if it had not been. It counts nowhere: not in the time that the run or a cycle took, not in
// rates, not in the gap between checkpoints; the schedule lies that much later, as after a pause; nobody waits for
// sessions that could not end. Timers of sessions that ran out meanwhile are wound up again by their clocks.
func (l *loop) wake(now time.Time, g gap) {
	l.busy.from = l.busy.from.Add(min(g.stood, now.Sub(l.busy.from)))
	l.began = l.began.Add(g.stood)
	l.window.at = l.window.at.Add(g.stood)
	l.recent.shift(g.stood)
	l.savedStood += g.stood
	if l.stood.IsZero() {
		l.schedule = l.schedule.Add(g.stood)
		l.standing += g.stood
	} else if l.workers > 0 {
		l.standing += g.stood
	}
	l.read.slept += g.slept
	l.read.stood += g.stood
	l.lastEnd, l.orders.Stall = now, nil
	l.sleeps.sum += g.slept
	l.sleeps.last = fmt.Sprintf("%s for %s", g.why, FormatDuration(g.slept))
	l.record(ChangeRow{What: SleepChange, New: g.slept.Round(time.Millisecond).String(), Who: "clock", Why: g.why})
	for _, s := range l.cfg.Services {
		s.Renew()
	}
}

// lagWhy explains, where cycles follow a schedule, why they begin later than once planned.
func (l *loop) lagWhy() string {
	if l.sleeps.sum == 0 || l.cfg.Settings.TimeScale <= 0 {
		return ""
	}
	return fmt.Sprintf("cycles begin %s later than planned: %s", FormatDuration(l.sleeps.sum), l.sleeps.last)
}

// shift moves what was counted as if it had happened later.
func (r *rate) shift(d time.Duration) {
	for i := range r.at {
		if !r.at[i].IsZero() {
			r.at[i] = r.at[i].Add(d)
		}
	}
}

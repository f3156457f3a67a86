package run

import (
	"cmp"
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run/pace"
)

// snapshot returns what the run shows at a moment.
func (c *core) snapshot(at input) *engine.Snapshot {
	c.in = at
	c.tally.updateShared()
	t := &c.tally.totals
	settings, l, lim := &c.cfg.Settings, &c.life, &c.limit
	overdue, oldest := c.cycles.arriving.lag()
	s := &engine.Snapshot{
		Run:        c.cfg.ID,
		At:         at.At,
		Phase:      l.phase,
		Reason:     l.reason(),
		Ending:     l.ending,
		CycleState: engine.CycleState{Cycle: c.cycles.number, Cycles: settings.Cycles, SimTime: c.cfg.Clock.At(c.cycles.number), LastCycle: c.cycles.last},
		LimitState: engine.LimitState{
			Limit: lim.set, InFlight: c.inFlight(), Floor: settings.Floor, Ceiling: settings.Ceiling, Governor: engine.Manual,
			Steer: lim.moveReason, SteerBy: cmp.Or(lim.movedBy, lim.orders.By), Binds: lim.orders.By, Steered: lim.movedAt,
			Breaker: lim.orders.Breaker, BreakerWhy: lim.orders.BreakerWhy, NextProbe: lim.orders.NextProbe, Stall: lim.orders.Stall,
		},
		Services:      c.quotas.services,
		Oldest:        c.samples.oldest,
		SessionCounts: engine.SessionCounts{Ended: t.Ended(), Total: c.tally.planned, Kept: c.cfg.Kept, Survey: c.cfg.Survey, Begun: c.tally.started, Cut: c.tally.cut},
		Pace: engine.Pace{
			PerSecond: c.samples.recent.PerSecond(at.At, c.cycles.each()), Elapsed: c.stopwatch.worked(), Remaining: -1, Lag: c.cycles.lag + oldest, LagWhy: c.stopwatch.lagReason(),
			Overdue: overdue, Arrivals: c.cfg.Clock.Arrivals.String(),
		},
		CheckpointState: engine.CheckpointState{Checkpoints: c.checkpoints.count},
		Changes:         c.changes.newest,
		Criteria:        c.cfg.Success,
	}
	if c.governed() {
		s.Governor = settings.Governor
	}
	if c.checkpoints.taken {
		s.LastCheckpoint, s.CheckpointTook = c.checkpoints.at, c.checkpoints.took
	}
	if l.writingEnd { // the totals are final
		s.Elapsed = t.Peaks.Elapsed
	}
	if l.phase != engine.Ended {
		s.Ending = engine.NotEnded
	} else {
		s.Oldest, s.Stall = nil, nil
	}
	c.showFigures(s)
	c.showCycle(s)
	c.showErrors(s)
	s.Remaining = c.remaining(s)
	s.Budget = c.tally.budget(s.Remaining)
	return s
}

// showFigures adds counters and sampled values.
func (c *core) showFigures(s *engine.Snapshot) {
	t := &c.tally.totals
	s.Outcomes, s.RequestCounts = map[engine.Outcome]int64{}, c.tally.sent()
	for o, n := range t.Outcomes {
		if n > 0 {
			s.Outcomes[engine.Outcome(o)] = n
		}
	}
	s.Events, s.Flow, s.Inexact, s.Late = t.Events, t.Flow, t.Inexact, t.Peaks.Late
	s.Latency, s.Queue, s.Throttled = engine.QuantilesOf(t.Latency()), engine.QuantilesOf(&t.Queue), engine.QuantilesOf(&t.Throttled)
	s.Active = engine.QuantilesOf(&c.samples.active)
	s.QueueSum, s.ThrottledSum = t.Queue.Sum(), t.Throttled.Sum()
	s.Speedup = c.speedup()
	m := &c.samples
	s.Durations, s.Steps, s.Metrics, s.Overhead, s.Emitted = m.durations, m.steps, m.metrics, m.metrics.Overhead, m.emitted.listed
	s.Early, s.UnsentSince, s.WritesPerSec = m.early, m.unsentSince, m.writesPerSec()
}

// showCycle adds the open cycle.
func (c *core) showCycle(s *engine.Snapshot) {
	cy := &c.cycles
	if cy.open == nil {
		return
	}
	s.Begun += int64(c.in.started())
	s.CycleTotal = int64(cy.open.active)
	s.CycleFailed, s.CycleWork = c.tally.failedInCycle(), c.tally.cycleWork()
	s.CycleTook = cy.last.Took
	if !cy.closing {
		s.CycleTook = max(cy.worked(c.in.At)-cy.idlePause(), 0)
	}
	s.CycleEnded = s.Ended - c.tally.atBarrier.Totals.Ended()
}

// showErrors adds the error classes that occurred, the most frequent first.
func (c *core) showErrors(s *engine.Snapshot) {
	t := &c.tally
	for class := range t.latest {
		if t.totals.Errors[class] > 0 {
			c.nameAgent(&t.latest[class])
			note := t.latest[class]
			note.Class, note.Count = engine.Class(class), t.totals.Errors[class]
			s.Errors = append(s.Errors, note)
		}
	}
	slices.SortStableFunc(s.Errors, func(a, b engine.ErrorNote) int { return cmp.Compare(b.Count, a.Count) })
}

// speedup returns the speedup of the run so far, including the open cycle.
func (c *core) speedup() float64 {
	worked := c.tally.totals.Peaks.Worked
	if c.cycles.open != nil && !c.cycles.closing {
		worked += c.cycles.worked(c.in.At) - c.cycles.idlePause()
	}
	return engine.Speedup(c.tally.totals.Service.Sum()-c.tally.totals.Peaks.Interrupted, worked)
}

// remaining estimates the time to the end of the run from its schedule, its hours, or its smoothed throughput.
// It returns -1 if that is unknown.
func (c *core) remaining(s *engine.Snapshot) time.Duration {
	settings := &c.cfg.Settings
	switch {
	case c.life.phase == engine.Ended:
		return 0
	case settings.Cycles == 0:
		return max(time.Duration(settings.Hours*float64(time.Hour))-s.Elapsed, 0)
	}
	left := c.samples.pace.Left(s)
	if c.cfg.Clock.Arrivals != nil {
		left = pace.Scheduled(s, c.cycles.arriving.left(), left)
	}
	if each := c.cycles.each(); each > 0 {
		last := c.cycles.scheduleStart.Add(time.Duration(settings.Cycles-1-c.cycles.first) * each)
		left = max(left, last.Sub(c.in.At))
	}
	return left
}

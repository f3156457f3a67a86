package run

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/throng-sim/throng/engine"
)

// limiter limits the sessions in flight and carries out the governor's orders.
type limiter struct {
	core *core

	set     int // as set by people and governors
	inForce int // 0 while no session may start
	before  int // the last limit above 0 before set; 0 if there was none

	orders     engine.Orders // the newest from the governor
	movedAt    time.Time
	moveReason string // its last reason for a move
	movedBy    string // the part of the governor that caused it
	probe      bool   // a session may start although the breaker is open
	probing    int    // probes in flight

	haltedAt time.Time // since when no session may start, because of a pause or a limit of 0; zero otherwise
}

// enforce applies the phase and the limit to the workers, the cycle's clock and the schedule.
func (l *limiter) enforce() {
	c, limit := l.core, 0
	if c.life.phase == engine.Running {
		limit = l.set
	}
	if c.cfg.Settings.Sequential {
		limit = min(limit, 1)
	}
	c.reading.mark()
	c.cycles.arriving.advance()
	l.inForce = limit
	c.emit(setLimit{limit})
	cy, at := &c.cycles, c.in.At
	switch halts := c.life.phase == engine.Paused || c.life.phase == engine.Running && limit == 0; {
	case halts && l.haltedAt.IsZero():
		l.haltedAt = at
		c.emit(holdCycle{})
	case limit > 0 && !l.haltedAt.IsZero():
		cy.scheduleStart = cy.scheduleStart.Add(at.Sub(l.haltedAt))
		cy.pausedTime += cy.idlePause()
		l.haltedAt, cy.lastEnd, cy.arriving.armed = time.Time{}, at, false
		c.emit(releaseCycle{})
	}
}

// fillSlots starts as many workers as the limit and the remaining sessions allow.
func (l *limiter) fillSlots() {
	c := l.core
	l.probeOnce()
	if c.cycles.open == nil || c.life.phase != engine.Running {
		return
	}
	c.cycles.arriving.release()
	c.cycles.nextWave()
	if n := min(c.cycles.mayStart(), l.inForce-c.in.InFlight); n > 0 {
		c.cycles.workers += n
		c.emit(startWorkers{n, false})
	}
}

// move changes the limit under a governor.
func (l *limiter) move(n int, who, why string) {
	if n != l.set {
		l.core.changes.add(engine.LimitChange, strconv.Itoa(l.set), strconv.Itoa(n), who, why)
		l.use(n)
	}
}

// use puts a limit in force.
func (l *limiter) use(n int) {
	c := l.core
	if n == l.set {
		return
	}
	if l.set > 0 {
		l.before = l.set
	}
	l.set = n
	c.cfg.Settings.Limit = n
	c.emit(useSettings{c.cfg.Settings})
	l.enforce()
	c.emit(publish{})
}

// askGovernor asks the governor for orders.
func (l *limiter) askGovernor() {
	c := l.core
	if c.hasGovernor && !c.life.writingEnd && !c.life.isEnding() {
		c.emit(askGovernor{c.reading.next()})
	}
}

// apply carries out the governor's orders.
func (l *limiter) apply(o engine.Orders) {
	c, was := l.core, l.orders
	if c.life.isEnding() {
		return
	}
	l.orders = o
	if o.Why != "" && l.set > 0 { // only a person sets a limit of 0
		l.movedAt, l.moveReason, l.movedBy = c.in.At, o.Why, o.By
	}
	if o.Limit > 0 && l.set > 0 && c.governed() {
		l.move(min(o.Limit, engine.MaxLimit), o.By, o.Why)
	}
	if o.Stall != nil && was.Stall == nil {
		c.changes.add(engine.StallChange, "", "", "stall warning", o.Stall.Why)
	}
	switch isOpen, wasOpen := o.Breaker != engine.BreakerClosed, was.Breaker != engine.BreakerClosed; {
	case isOpen && !wasOpen:
		c.changes.add(engine.PhaseChange, c.life.phase.String(), engine.Paused.String(), engine.BreakerName, o.BreakerWhy)
		c.life.updatePause()
		c.checkpoints.take(engine.BreakerName, 0)
	case wasOpen && !isOpen:
		l.probe = false
		c.life.updatePause()
		c.changes.add(engine.PhaseChange, engine.Paused.String(), c.life.phase.String(), engine.BreakerName, l.closeReason())
	case isOpen && o.Probe && l.probing == 0:
		l.probe = true
	}
	c.emit(publish{})
}

// closeReason returns why the breaker closed by itself.
func (l *limiter) closeReason() string {
	if l.core.cfg.Settings.Breaker == engine.BreakerOff {
		return "it was switched off"
	}
	return "all is well again"
}

// closeBreaker closes the breaker because a person has resumed the run.
func (l *limiter) closeBreaker() {
	l.core.emit(resetGovernor{})
	l.orders.Breaker, l.orders.BreakerWhy, l.orders.NextProbe = engine.BreakerClosed, "", time.Time{}
	l.probe = false
}

// mayProbe reports whether a probe may start: the breaker asks for one, and the breaker is the only reason for the pause.
func (l *limiter) mayProbe() bool {
	life := &l.core.life
	return l.probe && life.phase == engine.Paused && !life.pausedByUser && life.trouble == nil && l.set > 0 && !l.core.quotas.pausesRun()
}

// probeOnce starts one probe if one may start, even if sessions are still in flight.
func (l *limiter) probeOnce() {
	c := l.core
	cy := &c.cycles
	if !l.mayProbe() || cy.open == nil || cy.closing || c.cfg.Settings.Sequential && cy.workers > 0 {
		return
	}
	cy.nextWave()
	if cy.arriving.releaseNext(); cy.mayStart() == 0 {
		return
	}
	l.probe, cy.lastEnd = false, c.in.At
	cy.pausedTime += cy.idlePause()
	l.probing++
	cy.workers++
	c.emit(startWorkers{1, true})
}

// change changes several settings. The node has checked the order and has already made the changes outside the core.
func (l *limiter) change(o *setOrder) {
	c, was := l.core, l.core.cfg.Settings
	var changes []engine.Change
	for i := range engine.SettingTable {
		t := &engine.SettingTable[i]
		row := engine.ChangeRow{What: t.Name, Old: t.Show(&was), New: t.Show(&o.next), Who: o.who, Why: o.why}
		if !t.Live || t.Name == engine.LimitSetting || row.Old == row.New {
			continue
		}
		if t.Timing {
			row.Inexact = c.timeoutInexact(t.Name)
		}
		c.changes.record(row)
		changes = append(changes, engine.Change{Name: row.What, Old: row.Old, New: row.New})
	}
	for _, row := range o.tuned {
		row.Who, row.Why = o.who, o.why
		c.changes.record(row)
		changes = append(changes, engine.Change{Name: row.What, Old: row.Old, New: row.New})
	}
	c.cfg.Settings = o.next
	c.cfg.Settings.Limit = l.set
	c.emit(useSettings{c.cfg.Settings})
	if slices.ContainsFunc(changes, func(one engine.Change) bool { return one.Name == engine.CheckpointIntervalSetting }) {
		c.emit(setTimer{checkpointTimer, 0})
	}
	switch old, next := c.limitText(&was, l.set), c.limitText(&o.next, o.limit); {
	case o.namesLimit || was.Manual != o.next.Manual: // one change, even if the mode changes too
		if old != next {
			c.changes.add(engine.LimitSetting, old, next, o.who, o.why)
			changes = append(changes, engine.Change{Name: engine.LimitSetting, Old: old, New: next})
		}
		l.use(o.limit)
	case o.limit != l.set:
		changes = append(changes, engine.Change{Name: engine.LimitChange, Old: strconv.Itoa(l.set), New: strconv.Itoa(o.limit)})
		l.move(o.limit, o.who, fmt.Sprintf("the lowest limit is %d, the highest %d", o.next.Floor, o.next.Ceiling))
	}
	c.emit(changedSettings{changes})
	c.emit(publish{})
}

// resolve returns the settings and the limit that would result from an order.
func (l *limiter) resolve(own []engine.Assignment) (next engine.Settings, limit int, err error) {
	c := l.core
	next, limit = c.cfg.Settings, l.set
	var mistakes []error
	has := map[string]bool{}
	for _, a := range own {
		t := engine.FindSetting(a.Name)
		if err := t.SetLive(&next, a.Value); err != nil {
			mistakes = append(mistakes, &engine.FieldError{Field: a.Name, Problem: err.Error(), Hint: t.Help})
		}
		has[a.Name] = true
	}
	switch {
	case has[engine.LimitSetting] && next.Manual:
		if limit = next.Limit; limit < 0 || limit > engine.MaxLimit {
			mistakes = append(mistakes, &engine.FieldError{Field: engine.LimitSetting, Problem: fmt.Sprintf("%d is out of range", limit), Hint: fmt.Sprintf("0 to %d", engine.MaxLimit)})
		}
	case has[engine.LimitSetting] && !c.hasGovernor:
		mistakes = append(mistakes, &engine.FieldError{Field: engine.LimitSetting, Problem: "this run has no governor", Hint: "enter a number"})
	case has[engine.GovernorSetting]:
		next.Manual = false
	}
	if len(mistakes) > 0 {
		return next, limit, errors.Join(mistakes...)
	}
	if c.hasGovernor && next.Governed() {
		if limit == 0 && !c.governed() {
			limit = max(l.before, next.Floor)
		}
		if limit > 0 && (has[engine.GovernorSetting] || has[engine.FloorSetting] || has[engine.CeilingSetting]) {
			limit = min(max(limit, next.Floor), next.Ceiling)
		}
	}
	next.Limit = max(limit, 1) // only a run in progress may have a limit of 0
	err = next.Validate()
	return next, limit, err
}

// limitText formats the limit as a run in progress shows it: automatic under a governor, otherwise the number.
func (c *core) limitText(s *engine.Settings, limit int) string {
	if c.hasGovernor && s.Governed() {
		return engine.Automatic
	}
	return strconv.Itoa(limit)
}

// timeoutInexact returns from when on a changed timeout makes the run inexact, or nil if it comes too late to have an
// effect.
func (c *core) timeoutInexact(name string) *engine.Inexact {
	since := engine.Inexact{Cycle: c.cycles.number, Why: "a timeout was changed by hand: " + name}
	if name == engine.CycleTimeoutSetting {
		if since.Cycle = c.cycles.nextBarrier(); !c.cycles.mayReach(since.Cycle) {
			return nil
		}
	}
	return &since
}

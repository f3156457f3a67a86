package run

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/throng-sim/throng/engine"
)

// limiting bounds the sessions in flight, and carries out what a governor wants.
type limiting struct {
	core *core

	set     int // as people and governors set it
	inForce int // 0 while nothing may start

	orders  engine.Orders // the governor's newest
	moved   time.Time
	why     string // what it said last, when it moved
	by      string // with whose word
	probe   bool   // a session is to start although the breaker is open
	probing int    // such sessions in flight

	stood time.Time // since when nothing may start, for a pause or a limit of 0; zero while it may
}

// enforce puts in force what the phase and the limit mean: for workers, for the cycle's clock and for the schedule.
func (l *limiting) enforce() {
	c, limit := l.core, 0
	if c.life.phase == engine.Running {
		limit = l.set
	}
	if c.cfg.Settings.Sequential {
		limit = min(limit, 1)
	}
	c.reading.mark()
	l.inForce = limit
	c.emit(setLimit{limit})
	cy, at := &c.cycles, c.now.At
	switch stands := c.life.phase == engine.Paused || c.life.phase == engine.Running && limit == 0; {
	case stands && l.stood.IsZero():
		l.stood = at
		c.emit(holdCycle{})
	case limit > 0 && !l.stood.IsZero():
		cy.schedule = cy.schedule.Add(at.Sub(l.stood))
		cy.standing += cy.stoodIdle()
		l.stood, cy.lastEnd = time.Time{}, at
		c.emit(releaseCycle{})
	}
}

// staff starts workers as far as the limit and the work left allow.
func (l *limiting) staff() {
	c := l.core
	l.probeOnce()
	if c.cycles.open == nil || c.life.phase != engine.Running {
		return
	}
	c.cycles.nextWave()
	if n := min(c.cycles.mayBegin(), l.inForce-c.now.InFlight); n > 0 {
		c.cycles.workers += n
		c.emit(startWorkers{n, false})
	}
}

// move puts another limit in force.
func (l *limiting) move(n int, who, why string) {
	c := l.core
	if n == l.set {
		return
	}
	c.change(engine.LimitSetting, strconv.Itoa(l.set), strconv.Itoa(n), who, why)
	l.set = n
	c.cfg.Settings.Limit = n
	c.emit(useSettings{c.cfg.Settings})
	l.enforce()
	c.emit(publish{})
}

// ask has the governor look at the run.
func (l *limiting) ask() {
	c := l.core
	if c.hasGovernor && !c.life.finishing && !c.life.over() {
		c.emit(askGovernor{c.reading.next()})
	}
}

// obey carries out what the governor wants.
func (l *limiting) obey(o engine.Orders) {
	c, was := l.core, l.orders
	if c.life.over() {
		return
	}
	l.orders = o
	if o.Why != "" && l.set > 0 { // a limit of 0 is a person's
		l.moved, l.why, l.by = c.now.At, o.Why, o.By
	}
	if o.Limit > 0 && l.set > 0 && c.governed() {
		l.move(min(o.Limit, engine.MaxLimit), o.By, o.Why)
	}
	if o.Stall != nil && was.Stall == nil {
		c.change(engine.StallChange, "", "", "stall warning", o.Stall.Why)
	}
	switch isOpen, wasOpen := o.Breaker != engine.BreakerClosed, was.Breaker != engine.BreakerClosed; {
	case isOpen && !wasOpen:
		c.change(engine.PhaseChange, c.life.phase.String(), engine.Paused.String(), engine.BreakerName, o.BreakerWhy)
		c.life.settle()
		c.saves.take(engine.BreakerName, 0)
	case wasOpen && !isOpen:
		l.probe = false
		c.life.settle()
		c.change(engine.PhaseChange, engine.Paused.String(), c.life.phase.String(), engine.BreakerName, l.closedWhy())
	case isOpen && o.Probe && l.probing == 0:
		l.probe = true
	}
	c.emit(publish{})
}

// closedWhy says why the breaker closed by itself.
func (l *limiting) closedWhy() string {
	if l.core.cfg.Settings.Breaker == engine.BreakerOff {
		return "it was switched off"
	}
	return "all is well again"
}

// forgive closes the breaker, since a person resumes the run.
func (l *limiting) forgive() {
	l.core.emit(resetSteer{})
	l.orders.Breaker, l.orders.BreakerWhy, l.orders.NextProbe = engine.BreakerClosed, "", time.Time{}
	l.probe = false
}

// mayProbe reports whether a session is to start although the breaker is open, and nothing else stands against it.
func (l *limiting) mayProbe() bool {
	life := &l.core.life
	return l.probe && life.phase == engine.Paused && !life.pausedByUs && life.trouble == nil && l.set > 0 && !l.core.quotas.hold()
}

// probeOnce starts one session, however many are in flight still.
func (l *limiting) probeOnce() {
	c := l.core
	cy := &c.cycles
	if !l.mayProbe() || cy.open == nil || cy.closing || c.cfg.Settings.Sequential && cy.workers > 0 {
		return
	}
	if cy.nextWave(); cy.mayBegin() == 0 {
		return
	}
	l.probe, cy.lastEnd = false, c.now.At
	cy.standing += cy.stoodIdle()
	l.probing++
	cy.workers++
	c.emit(startWorkers{1, true})
}

// change carries out an order of several settings, of which the node has checked all and made those that are not the
// core's.
func (l *limiting) change(o *setOrder) {
	c, was := l.core, l.core.cfg.Settings
	var changes []engine.Change
	for i := range engine.SettingTable {
		t := &engine.SettingTable[i]
		row := engine.ChangeRow{What: t.Name, Old: t.Show(&was), New: t.Show(&o.next), Who: o.who, Why: o.why}
		if t.Name == engine.LimitSetting || row.Old == row.New {
			continue
		}
		if t.Timing {
			row.Inexact = c.retimed(t.Name)
		}
		c.record(row)
		changes = append(changes, engine.Change{Name: row.What, Old: row.Old, New: row.New})
	}
	for _, row := range o.tuned {
		row.Who, row.Why = o.who, o.why
		c.record(row)
		changes = append(changes, engine.Change{Name: row.What, Old: row.Old, New: row.New})
	}
	c.cfg.Settings = o.next
	c.cfg.Settings.Limit = l.set
	c.emit(useSettings{c.cfg.Settings})
	if slices.ContainsFunc(changes, func(one engine.Change) bool { return one.Name == engine.CheckpointIntervalSetting }) {
		c.emit(setTimer{checkpointTimer, 0})
	}
	if o.limit != l.set {
		changes = append(changes, engine.Change{Name: engine.LimitSetting, Old: strconv.Itoa(l.set), New: strconv.Itoa(o.limit)})
		why := o.why
		if !o.own {
			why = fmt.Sprintf("the floor is %d, the ceiling %d", o.next.Floor, o.next.Ceiling)
		}
		l.move(o.limit, o.who, why)
	}
	c.emit(changedSettings{changes})
	c.emit(publish{})
}

// ordered returns the settings and the limit that an order leads to.
func (l *limiting) ordered(own []engine.Assignment) (next engine.Settings, limit int, err error) {
	c := l.core
	next, limit = c.cfg.Settings, l.set
	var mistakes []error
	has := map[string]bool{}
	for _, a := range own {
		t := engine.FindSetting(a.Name)
		if err := t.Set(&next, a.Value); err != nil {
			mistakes = append(mistakes, &engine.FieldError{Field: a.Name, Problem: err.Error(), Hint: t.Help})
		}
		has[a.Name] = true
	}
	if n := next.Limit; has[engine.LimitSetting] {
		if n < 0 || n > engine.MaxLimit {
			mistakes = append(mistakes, &engine.FieldError{Field: engine.LimitSetting, Problem: fmt.Sprintf("%d is out of range", n), Hint: fmt.Sprintf("0 to %d", engine.MaxLimit)})
		}
		limit = l.limitFor(n, &next, has)
	}
	if len(mistakes) > 0 {
		return next, limit, errors.Join(mistakes...)
	}
	governed := c.hasGovernor && next.Governed()
	if governed && limit > 0 && (has[engine.GovernorSetting] || has[engine.FloorSetting] || has[engine.CeilingSetting]) {
		limit = min(max(limit, next.Floor), next.Ceiling)
	}
	next.Limit = max(limit, 1) // 0 is for a run in progress only
	err = next.Validate()
	return next, limit, err
}

// limitFor returns the limit after an order of n, and sets the bounds of a governor to it where the order does not name them.
func (l *limiting) limitFor(n int, next *engine.Settings, has map[string]bool) int {
	c := l.core
	if n == 0 || !c.hasGovernor || !next.Governed() || has[engine.CeilingSetting] {
		return n
	}
	was := c.cfg.Settings.Ceiling
	next.Ceiling = n
	if !has[engine.FloorSetting] {
		next.Floor = min(next.Floor, n)
	}
	if l.set == was || l.set > n || l.set == 0 || !c.governed() {
		return n
	}
	return l.set
}

// retimed says since when another timeout may make a difference; nil where it comes too late for that.
func (c *core) retimed(name string) *engine.Inexact {
	since := engine.Inexact{Cycle: c.cycles.number, Why: "a timeout was changed by hand: " + name}
	if name == engine.CycleTimeoutSetting {
		if since.Cycle = c.cycles.nextBarrier(); !c.cycles.comes(since.Cycle) {
			return nil
		}
	}
	return &since
}

package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// governed reports whether something else than people moves the limit.
func (l *loop) governed() bool {
	s := &l.cfg.Settings
	return l.cfg.Pilot != nil && s.Governor != "" && s.Governor != Manual
}

// setLimit is a person's word: by hand the limit itself, else the ceiling of whoever moves it.
func (l *loop) setLimit(n int, who, why string) error {
	if n == 0 || !l.governed() {
		l.moveLimit(n, who, why)
		return nil
	}
	was := l.cfg.Settings.Ceiling
	follows := l.limit == was || l.limit > n || l.limit == 0
	if n != was {
		next := l.cfg.Settings
		next.Ceiling, next.Floor = n, min(next.Floor, n)
		if err := l.cfg.Pilot.Use(next.Steering()); err != nil {
			return err
		}
		if floor := l.cfg.Settings.Floor; next.Floor != floor {
			l.change("floor", strconv.Itoa(floor), strconv.Itoa(next.Floor), who, why)
		}
		l.change(CeilingChange, strconv.Itoa(was), strconv.Itoa(n), who, why)
		l.use(next)
	}
	if follows {
		l.moveLimit(n, who, why)
	}
	l.publish()
	return nil
}

// moveLimit puts another limit in force.
func (l *loop) moveLimit(n int, who, why string) {
	if n == l.limit {
		return
	}
	l.change(LimitChange, strconv.Itoa(l.limit), strconv.Itoa(n), who, why)
	l.limit = n
	next := l.cfg.Settings
	next.Limit = n
	l.use(next)
	l.enforce()
	l.publish()
}

// use puts other settings in force, for the loop and for sessions.
func (l *loop) use(s Settings) {
	l.cfg.Settings = s
	l.r.settings.Store(&s)
}

// set changes a setting or what a service can change.
func (l *loop) set(name, value, who, why string) error {
	i := slices.IndexFunc(tunables, func(t tunable) bool { return t.name == name })
	if i < 0 {
		return l.tune(name, value, who, why)
	}
	t, next := &tunables[i], l.cfg.Settings
	if err := next.Tune(name, value); err != nil {
		return err
	}
	old, now := t.show(&l.cfg.Settings), t.show(&next)
	if old == now {
		return nil
	}
	if l.cfg.Pilot != nil && next.Steering() != l.cfg.Settings.Steering() {
		if err := l.cfg.Pilot.Use(next.Steering()); err != nil {
			return err
		}
	}
	if next.Budget != l.cfg.Settings.Budget {
		if err := l.r.setBudget(next.Budget); err != nil {
			return err
		}
	}
	c := ChangeRow{What: name, Old: old, New: now, Who: who, Why: why}
	if t.timing {
		c.Inexact = l.retimed(name)
	}
	l.record(c)
	l.use(next)
	l.takeEffect(name, who)
	l.publish()
	return nil
}

// tune changes what a service can change.
func (l *loop) tune(name, value, who, why string) error {
	s := l.serviceOf(name)
	if s == nil {
		return &FieldError{name, "there is nothing of that name to change", strings.Join(l.names(), ", ")}
	}
	old, err := s.Tune(name, value)
	if err != nil {
		return err
	}
	c := ChangeRow{What: name, Old: old, New: value, Who: who, Why: why}
	if strings.HasSuffix(name, timeoutTail) && old != value {
		c.Inexact = l.retimed(name)
	}
	l.record(c)
	l.publish()
	return nil
}

// serviceOf finds the service that can change something; nil is none.
func (l *loop) serviceOf(name string) Service {
	for _, s := range l.cfg.Services {
		if slices.ContainsFunc(s.Tunables(), func(t Tunable) bool { return t.Name == name }) {
			return s
		}
	}
	return nil
}

func (l *loop) names() []string {
	names := TunableNames()
	for _, s := range l.cfg.Services {
		for _, t := range s.Tunables() {
			names = append(names, t.Name)
		}
	}
	return names
}

// retimed says since when another timeout may make a difference; nil where it comes too late for that.
func (l *loop) retimed(name string) *Inexact {
	since := Inexact{Cycle: l.number, Why: "a timeout was changed by hand: " + name}
	if name == cycleTimeout {
		if since.Cycle = l.nextBarrier(); !l.comes(since.Cycle) {
			return nil
		}
	}
	return &since
}

// takeEffect does what a changed setting means for what is under way.
func (l *loop) takeEffect(name, who string) {
	s := &l.cfg.Settings
	switch name {
	case "governor", "floor", CeilingChange:
		if n := min(max(l.limit, s.Floor), s.Ceiling); l.governed() && l.limit > 0 && n != l.limit {
			l.moveLimit(n, who, fmt.Sprintf("the floor is %d, the ceiling %d", s.Floor, s.Ceiling))
		}
	case "session-timeout":
		if l.cycle != nil {
			l.cycle.timeout.Store(&TimeoutError{"session", s.SessionTimeout})
		}
	case "checkpoint-interval":
		l.autosave.Reset(0)
	}
}

// Steering is what the limit goes by.
func (s *Settings) Steering() Steering {
	return Steering{s.Governor, s.Floor, s.Ceiling, s.CPUHigh, s.CPULow, s.MemoryHigh, s.MemoryLow, s.Breaker, s.StallAfter}
}

func (l *loop) pause(who, why string) error {
	if l.phase == Draining || l.pausedByUs {
		return nil
	}
	l.change(PhaseChange, l.phase.String(), Paused.String(), who, why)
	l.pausedByUs, l.paused = true, why
	l.settle()
	l.publish()
	l.checkpoint("pause", nil)
	return nil
}

// resume ends all pauses that a person can end: not that for a journal in trouble.
func (l *loop) resume(who string) error {
	if l.phase == Draining || !l.pausedByUs && !l.selfPaused() {
		return nil
	}
	l.pausedByUs, l.paused = false, ""
	l.forgive()
	l.settle() // another pause may hold, for its own reason
	l.change(PhaseChange, Paused.String(), l.phase.String(), who, "")
	l.publish()
	return nil
}

func (l *loop) stop(who, why string) error {
	if l.phase == Draining {
		if !l.finishing {
			l.change(PhaseChange, Draining.String(), "cut", who, why)
		}
		l.cutShort(why)
		return nil
	}
	l.change(PhaseChange, l.phase.String(), Draining.String(), who, why)
	l.ending, l.stopping = EndStopped, why
	l.setPhase(Draining)
	return nil
}

// cutShort ends what is in flight now; those sessions run again when the run is resumed.
func (l *loop) cutShort(why string) {
	if l.isCut || l.phase == Ended {
		return
	}
	l.isCut = true
	if l.ending == NotEnded {
		l.ending = EndStopped
	}
	if l.stopping == "" {
		l.stopping = why
	}
	l.setPhase(Draining) // first, so that nobody starts only to be cut
	l.cut(ErrCut)
	if l.finishing {
		l.last.Reset(l.lastWords())
	} else {
		l.last.Reset(l.patience())
	}
}

func (l *loop) change(what, old, next, who, why string) {
	l.record(ChangeRow{What: what, Old: old, New: next, Who: who, Why: why})
}

// record journals a change of this moment, and shows it.
func (l *loop) record(c ChangeRow) {
	c = l.stamped(c)
	l.append(c, nil)
	l.show(c)
}

// stamped says when a change was, and counts what it makes inexact.
func (l *loop) stamped(c ChangeRow) ChangeRow {
	c.At, c.Cycle = time.Now(), l.number
	if c.Inexact != nil {
		l.totals.inexactSince(*c.Inexact)
	}
	return c
}

// show lists a change among the newest.
func (l *loop) show(c ChangeRow) {
	// Snapshots share the list: it is never written to.
	kept := l.changes[max(0, len(l.changes)-shownChanges+1):]
	l.changes = append(slices.Clip(kept), c)
}

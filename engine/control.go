package engine

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine/suggest"
)

// governed reports whether something else than people moves the limit.
func (l *loop) governed() bool {
	return l.cfg.Governor != nil && l.cfg.Settings.governed()
}

func (s *Settings) governed() bool { return s.Governor != "" && s.Governor != Manual }

// moveLimit puts another limit in force.
func (l *loop) moveLimit(n int, who, why string) {
	if n == l.limit {
		return
	}
	l.change(LimitSetting, strconv.Itoa(l.limit), strconv.Itoa(n), who, why)
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

// apply carries out an order of several settings: all or none.
func (l *loop) apply(wanted []Assignment, who, why string) (changes []Change, err error) {
	own, others, err := l.parted(wanted)
	if err != nil {
		return nil, err
	}
	was := l.cfg.Settings
	next, limit, err := l.ordered(own)
	if err != nil {
		return nil, err
	}
	if err := l.followBounds(&was, &next); err != nil {
		return nil, err
	}
	if next.Budget != was.Budget {
		if err := l.r.setBudget(next.Budget); err != nil {
			return nil, errors.Join(err, l.followBounds(&next, &was))
		}
	}
	tuned, err := l.tuneAll(others)
	if err != nil {
		if next.Budget != was.Budget {
			l.r.ledger.set(was.Budget)
		}
		return nil, errors.Join(err, l.followBounds(&next, &was))
	}
	for i := range SettingTable {
		t := &SettingTable[i]
		c := ChangeRow{What: t.Name, Old: t.Show(&was), New: t.Show(&next), Who: who, Why: why}
		if t.Name == LimitSetting || c.Old == c.New {
			continue
		}
		if t.timing {
			c.Inexact = l.retimed(t.Name)
		}
		l.record(c)
		changes = append(changes, Change{c.What, c.Old, c.New})
	}
	for _, c := range tuned {
		c.Who, c.Why = who, why
		l.record(c)
		changes = append(changes, Change{c.What, c.Old, c.New})
	}
	next.Limit = l.limit
	l.use(next)
	l.takeEffect(changes)
	if limit != l.limit {
		changes = append(changes, Change{LimitSetting, strconv.Itoa(l.limit), strconv.Itoa(limit)})
		if !slices.ContainsFunc(own, func(a Assignment) bool { return a.Name == LimitSetting }) {
			why = fmt.Sprintf("the floor is %d, the ceiling %d", next.Floor, next.Ceiling)
		}
		l.moveLimit(limit, who, why)
	}
	l.publish()
	return changes, nil
}

// parted sorts an order into settings of the run and tunables of services. Unknown names and names given twice are mistakes.
func (l *loop) parted(wanted []Assignment) (own, others []Assignment, err error) {
	var mistakes []error
	seen := map[string]bool{}
	for _, a := range wanted {
		a = a.clean()
		switch {
		case seen[a.Name]:
			mistakes = append(mistakes, &FieldError{a.Name, "given twice", ""})
		case findLive(a.Name) != nil:
			own = append(own, a)
		case l.serviceOf(a.Name) != nil:
			others = append(others, a)
		default:
			mistakes = append(mistakes, &FieldError{a.Name, "cannot be changed while a run is in progress", strings.TrimSpace(suggest.Hint(a.Name, l.names()) + " choose " + orList(l.names()))})
		}
		seen[a.Name] = true
	}
	if len(wanted) == 0 {
		mistakes = append(mistakes, &FieldError{"set", "no setting is given", "write name=value, such as " + LimitSetting + "=50"})
	}
	return own, others, errors.Join(mistakes...)
}

// ordered returns the settings and the limit that an order leads to.
func (l *loop) ordered(own []Assignment) (next Settings, limit int, err error) {
	next, limit = l.cfg.Settings, l.limit
	var mistakes []error
	has := map[string]bool{}
	for _, a := range own {
		t := FindSetting(a.Name)
		if err := t.Set(&next, a.Value); err != nil {
			mistakes = append(mistakes, &FieldError{a.Name, err.Error(), t.Help})
		}
		has[a.Name] = true
	}
	if n := next.Limit; has[LimitSetting] {
		if n < 0 || n > MaxLimit {
			mistakes = append(mistakes, &FieldError{LimitSetting, fmt.Sprintf("%d is out of range", n), fmt.Sprintf("0 to %d", MaxLimit)})
		}
		limit = l.limitFor(n, &next, has)
	}
	if err := errors.Join(mistakes...); err != nil {
		return next, limit, err
	}
	governed := l.cfg.Governor != nil && next.governed()
	if governed && limit > 0 && (has[GovernorSetting] || has[FloorSetting] || has[CeilingSetting]) {
		limit = min(max(limit, next.Floor), next.Ceiling)
	}
	next.Limit = max(limit, 1) // 0 is for a run in progress only
	err = next.Validate()
	return next, limit, err
}

// limitFor returns the limit after an order of n, and sets the bounds of a governor to it where the order does not name them.
func (l *loop) limitFor(n int, next *Settings, has map[string]bool) int {
	if n == 0 || l.cfg.Governor == nil || !next.governed() || has[CeilingSetting] {
		return n
	}
	was := l.cfg.Settings.Ceiling
	next.Ceiling = n
	if !has[FloorSetting] {
		next.Floor = min(next.Floor, n)
	}
	if l.limit == was || l.limit > n || l.limit == 0 || !l.governed() {
		return n
	}
	return l.limit
}

// followBounds has the governor follow other settings, where they differ in what it follows.
func (l *loop) followBounds(was, next *Settings) error {
	if l.cfg.Governor == nil || next.Steering() == was.Steering() {
		return nil
	}
	return l.cfg.Governor.Use(next.Steering())
}

// tuneAll changes tunables of services: all or none.
func (l *loop) tuneAll(wanted []Assignment) (changes []ChangeRow, err error) {
	for _, a := range wanted {
		s := l.serviceOf(a.Name)
		old, err := s.Tune(a.Name, a.Value)
		if err != nil {
			for _, c := range slices.Backward(changes) {
				if _, back := l.serviceOf(c.What).Tune(c.What, c.Old); back != nil {
					err = errors.Join(err, fmt.Errorf("%s stays %s: %w", c.What, c.New, back))
				}
			}
			return nil, err
		}
		c := ChangeRow{What: a.Name, Old: old, New: a.Value}
		if strings.HasSuffix(a.Name, timeoutTail) && old != a.Value {
			c.Inexact = l.retimed(a.Name)
		}
		changes = append(changes, c)
	}
	return changes, nil
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
	names := LiveSettings()
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

// takeEffect does what changed settings mean for work in progress.
func (l *loop) takeEffect(changes []Change) {
	for _, c := range changes {
		switch c.Name {
		case sessionTimeout:
			if l.cycle != nil {
				l.cycle.timeout.Store(&TimeoutError{"session", l.cfg.Settings.SessionTimeout})
			}
		case checkpointInterval:
			l.autosave.Reset(0)
		}
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

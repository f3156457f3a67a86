package engine

import (
	"errors"
	"slices"
	"strings"
	"time"
)

// A run is paused while any of these holds; each ends by itself, the first and the second also by a person's Resume:
//
//	the breaker is not closed          until the governor closes it; probes start meanwhile
//	the quota of a service is gone     until its service says otherwise, or its time has come
//	a person has paused                until Resume
//	the journal is in trouble          until it can be written again

// quota is what a service said of its quota when it was gone.
type quota struct {
	service, why string
	until, said  time.Time
	told         bool // the run has paused for it
	waived       bool // a person went on all the same, and it was not said again since
}

// holds reports whether the run is paused for it.
func (q *quota) holds(now time.Time) bool {
	return !q.waived && (q.until.IsZero() || now.Before(q.until))
}

// String says it for people.
func (q *quota) String() string {
	text := "the quota of " + q.service + " is gone"
	if !q.until.IsZero() {
		text += " until " + q.until.Local().Format("15:04 on January 2")
	}
	return text + ": " + q.why
}

// selfPaused reports whether the run pauses for a reason that a person can end.
func (l *loop) selfPaused() bool {
	now := time.Now()
	return l.orders.Breaker != BreakerClosed || slices.ContainsFunc(l.quotas, func(q quota) bool { return q.holds(now) })
}

// forgive ends what the run paused for by itself.
func (l *loop) forgive() {
	if l.cfg.Governor != nil {
		l.cfg.Governor.Reset()
	}
	l.orders.Breaker, l.orders.BreakerWhy, l.orders.NextProbe = BreakerClosed, "", time.Time{}
	l.probe = false
	now := time.Now()
	for i := range l.quotas {
		q := &l.quotas[i]
		if !q.holds(now) {
			continue
		}
		q.waived = true
		for _, s := range l.cfg.Services {
			if s.State(now).Name == q.service {
				s.Renew()
			}
		}
	}
	l.askServices(now) // so that a quota that is gone once more is another
}

// settle finds the phase that the pauses in force mean.
func (l *loop) settle() {
	switch {
	case l.phase == Draining || l.phase == Ended:
	case l.trouble != nil || l.pausedByUs || l.selfPaused():
		if l.phase != Paused {
			l.setPhase(Paused)
		}
	case l.phase == Paused:
		l.setPhase(Running)
	}
}

func (l *loop) setTrouble(err error) {
	l.trouble = err
	if errors.Is(err, ErrDamaged) && !l.isCut {
		l.ending, l.stopping = EndFailed, err.Error()
		l.cutShort("")
		return
	}
	l.settle()
	l.publish() // the reason has changed even where the phase has not
}

// reason says why the run is in its phase; of a pause all that hold.
func (l *loop) reason() string {
	switch {
	case l.phase == Draining && l.trouble != nil:
		return l.stopping + ", waiting for the disk: " + l.trouble.Error()
	case l.phase != Paused:
		return l.stopping
	}
	var all []string
	add := func(text string) {
		if text != "" {
			all = append(all, text)
		}
	}
	if l.trouble != nil {
		add(l.trouble.Error())
	}
	add(l.paused)
	if l.orders.Breaker != BreakerClosed {
		add(l.orders.BreakerWhy)
	}
	now := time.Now()
	for i := range l.quotas {
		if l.quotas[i].holds(now) {
			add(l.quotas[i].String())
		}
	}
	return strings.Join(all, "; ")
}

// askServices hears how the services are doing, what they changed by themselves, and whose quota is gone.
func (l *loop) askServices(now time.Time) {
	if len(l.cfg.Services) == 0 {
		return
	}
	states := l.states(now)
	l.recordMoves()
	var quotas []quota
	for i := range states {
		if q, gone := l.quotaOf(&states[i]); gone {
			quotas = append(quotas, q)
		}
	}
	l.services = states
	l.takeQuotas(quotas, now)
}

// recordMoves journals what the services changed by themselves.
func (l *loop) recordMoves() {
	for _, s := range l.cfg.Services {
		for _, c := range s.Moves() {
			l.record(c)
		}
	}
}

// states are how the services are doing, for snapshots to share.
func (l *loop) states(now time.Time) []ServiceState {
	all := make([]ServiceState, len(l.cfg.Services))
	for i, s := range l.cfg.Services {
		all[i] = s.State(now)
	}
	return all
}

// quotaOf is what a state says of the service's quota, with what was known of it.
func (l *loop) quotaOf(s *ServiceState) (quota, bool) {
	if s.Exhausted == "" {
		return quota{}, false
	}
	q := quota{service: s.Name, why: s.Exhausted, until: s.Until, said: s.Said}
	i := slices.IndexFunc(l.quotas, func(q quota) bool { return q.service == s.Name })
	if i >= 0 && (!l.quotas[i].waived || l.quotas[i].said.Equal(q.said)) {
		q.waived, q.told = l.quotas[i].waived, l.quotas[i].told
	}
	return q, true
}

// takeQuotas pauses for what is gone now, and goes on where it is not any more.
func (l *loop) takeQuotas(next []quota, now time.Time) {
	was := l.quotas
	l.quotas = next
	if l.phase == Draining || l.phase == Ended {
		return
	}
	for i := range next {
		if q := &next[i]; q.holds(now) && !q.told {
			q.told = true
			l.change(PhaseChange, l.phase.String(), Paused.String(), q.service, q.String())
			l.settle()
			l.checkpoint("quota", nil)
		}
	}
	for i := range was {
		at := slices.IndexFunc(next, func(q quota) bool { return q.service == was[i].service })
		if !was[i].told || at >= 0 && next[at].holds(now) {
			continue
		}
		if at >= 0 {
			next[at].told = false
		}
		l.settle()
		if !was[i].waived {
			l.change(PhaseChange, Paused.String(), l.phase.String(), was[i].service, "the quota of "+was[i].service+" may be there again")
		}
	}
}

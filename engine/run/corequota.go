package run

import (
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
)

// quotas keeps how the services are doing, and whose quota is gone.
type quotas struct {
	core     *core
	services []engine.ServiceState // snapshots share it
	gone     []quota
}

// quota is what a service said of its quota when it was gone.
type quota struct {
	service, why string
	until, said  time.Time
	told         bool // the run has paused for it
	waived       bool // a person went on all the same, and it was not said again since
}

// holds reports whether the run is paused for it.
func (q *quota) holds(at time.Time) bool {
	return !q.waived && (q.until.IsZero() || at.Before(q.until))
}

// String says it for people.
func (q *quota) String() string {
	text := "the quota of " + q.service + " is gone"
	if !q.until.IsZero() {
		text += " until " + q.until.Local().Format("15:04 on January 2")
	}
	return text + ": " + q.why
}

// hold reports whether the run is paused for any.
func (s *quotas) hold() bool {
	for i := range s.gone {
		if s.gone[i].holds(s.core.now.At) {
			return true
		}
	}
	return false
}

// waive goes on without the quotas that are gone.
func (s *quotas) waive() {
	for i := range s.gone {
		if q := &s.gone[i]; q.holds(s.core.now.At) {
			q.waived = true
			s.core.emit(renewService{q.service})
		}
	}
	s.core.emit(askServices{}) // so that a quota that is gone once more is another
}

// heard takes in what the services say, what they changed by themselves, and whose quota is gone.
func (s *quotas) heard(o *outsideState) {
	if !s.core.hasServices {
		return
	}
	for i := range o.moves {
		s.core.record(o.moves[i])
	}
	var gone []quota
	for i := range o.services {
		if q, ok := s.of(&o.services[i]); ok {
			gone = append(gone, q)
		}
	}
	s.services = o.services
	s.take(gone)
}

// of is what a state says of the service's quota, with what was known of it.
func (s *quotas) of(state *engine.ServiceState) (quota, bool) {
	if state.Exhausted == "" {
		return quota{}, false
	}
	q := quota{service: state.Name, why: state.Exhausted, until: state.Until, said: state.Said}
	i := slices.IndexFunc(s.gone, func(q quota) bool { return q.service == state.Name })
	if i >= 0 && (!s.gone[i].waived || s.gone[i].said.Equal(q.said)) {
		q.waived, q.told = s.gone[i].waived, s.gone[i].told
	}
	return q, true
}

// take pauses for what is gone now, and goes on where it is not any more.
func (s *quotas) take(next []quota) {
	c, was, at := s.core, s.gone, s.core.now.At
	s.gone = next
	if c.life.over() {
		return
	}
	for i := range next {
		if q := &next[i]; q.holds(at) && !q.told {
			q.told = true
			c.change(engine.PhaseChange, c.life.phase.String(), engine.Paused.String(), q.service, q.String())
			c.life.settle()
			c.saves.take("quota", 0)
		}
	}
	for i := range was {
		of := slices.IndexFunc(next, func(q quota) bool { return q.service == was[i].service })
		if !was[i].told || of >= 0 && next[of].holds(at) {
			continue
		}
		if of >= 0 {
			next[of].told = false
		}
		c.life.settle()
		if !was[i].waived {
			c.change(engine.PhaseChange, engine.Paused.String(), c.life.phase.String(), was[i].service, "the quota of "+was[i].service+" may be there again")
		}
	}
}

package run

import (
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
)

// quotas holds the state of the services and the exhausted quotas.
type quotas struct {
	core     *core
	services []engine.ServiceState // shared with snapshots
	gone     []quota
}

// quota is an exhausted quota as reported by a service.
type quota struct {
	service, why string
	until, said  time.Time
	told         bool // the run has paused for it
	waived       bool // a person resumed the run anyway, and the service has not reported it again
}

// holds reports whether the quota pauses the run.
func (q *quota) holds(at time.Time) bool {
	return !q.waived && (q.until.IsZero() || at.Before(q.until))
}

// String returns the text for people.
func (q *quota) String() string {
	text := "the quota of " + q.service + " is gone"
	if !q.until.IsZero() {
		text += " until " + q.until.Local().Format("15:04 on January 2")
	}
	return text + ": " + q.why
}

// hold reports whether any quota pauses the run.
func (s *quotas) hold() bool {
	for i := range s.gone {
		if s.gone[i].holds(s.core.now.At) {
			return true
		}
	}
	return false
}

// waive resumes the run although quotas are exhausted.
func (s *quotas) waive() {
	for i := range s.gone {
		if q := &s.gone[i]; q.holds(s.core.now.At) {
			q.waived = true
			s.core.emit(renewService{q.service})
		}
	}
	s.core.emit(askServices{}) // a quota that is exhausted again then counts as a new one
}

// heard handles the state of the services, their own changes, and their exhausted quotas.
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

// of returns the exhausted quota in a service's state, merged with what was known before.
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

// take pauses the run for newly exhausted quotas and resumes it for those that are available again.
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

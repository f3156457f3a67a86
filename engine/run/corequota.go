package run

import (
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
)

// quotas holds the state of the services and the exhausted quotas.
type quotas struct {
	core      *core
	services  []engine.ServiceState // shared with snapshots
	exhausted []quota
}

// quota is an exhausted quota as reported by a service.
type quota struct {
	service, why      string
	until, reportedAt time.Time
	paused            bool // the run has paused for it
	waived            bool // a person resumed the run anyway, and the service has not reported it again
}

// isActive reports whether the quota pauses the run.
func (q *quota) isActive(at time.Time) bool {
	return !q.waived && (q.until.IsZero() || at.Before(q.until))
}

// String returns the text for people.
func (q *quota) String() string {
	text := "the quota of " + q.service + " is exhausted"
	if !q.until.IsZero() {
		text += " until " + q.until.Local().Format("15:04 on January 2")
	}
	return text + ": " + q.why
}

// pausesRun reports whether any quota pauses the run.
func (s *quotas) pausesRun() bool {
	for i := range s.exhausted {
		if s.exhausted[i].isActive(s.core.in.At) {
			return true
		}
	}
	return false
}

// waive resumes the run although quotas are exhausted.
func (s *quotas) waive() {
	for i := range s.exhausted {
		if q := &s.exhausted[i]; q.isActive(s.core.in.At) {
			q.waived = true
			s.core.emit(renewService{q.service})
		}
	}
	s.core.emit(readServices{}) // a quota that is exhausted again then counts as a new one
}

// update handles the state of the services, their own changes, and their exhausted quotas.
func (s *quotas) update(o *serviceReport) {
	if !s.core.hasServices {
		return
	}
	for i := range o.changes {
		s.core.changes.record(o.changes[i])
	}
	var exhausted []quota
	for i := range o.services {
		if q, ok := s.merged(&o.services[i]); ok {
			exhausted = append(exhausted, q)
		}
	}
	s.services = o.services
	s.replace(exhausted)
}

// merged returns the exhausted quota in a service's state together with what was known before.
func (s *quotas) merged(state *engine.ServiceState) (quota, bool) {
	if state.Exhausted == "" {
		return quota{}, false
	}
	q := quota{service: state.Name, why: state.Exhausted, until: state.Until, reportedAt: state.Said}
	i := slices.IndexFunc(s.exhausted, func(q quota) bool { return q.service == state.Name })
	if i >= 0 && (!s.exhausted[i].waived || s.exhausted[i].reportedAt.Equal(q.reportedAt)) {
		q.waived, q.paused = s.exhausted[i].waived, s.exhausted[i].paused
	}
	return q, true
}

// replace pauses the run for newly exhausted quotas and resumes it for those that are available again.
func (s *quotas) replace(next []quota) {
	c, was, at := s.core, s.exhausted, s.core.in.At
	s.exhausted = next
	if c.life.isEnding() {
		return
	}
	for i := range next {
		if q := &next[i]; q.isActive(at) && !q.paused {
			q.paused = true
			c.changes.add(engine.PhaseChange, c.life.phase.String(), engine.Paused.String(), q.service, q.String())
			c.life.updatePause()
			c.checkpoints.take("quota", 0)
		}
	}
	for i := range was {
		of := slices.IndexFunc(next, func(q quota) bool { return q.service == was[i].service })
		if !was[i].paused || of >= 0 && next[of].isActive(at) {
			continue
		}
		if of >= 0 {
			next[of].paused = false
		}
		c.life.updatePause()
		if !was[i].waived {
			c.changes.add(engine.PhaseChange, engine.Paused.String(), c.life.phase.String(), was[i].service, "the quota of "+was[i].service+" may be available again")
		}
	}
}

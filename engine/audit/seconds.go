package audit

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
)

// seconds are the metrics of a run. A second counts what the run's loop had processed by then. The journal contains that, and possibly
// more: rows that a worker wrote and the loop had not processed yet. So a second's figures lie between the minimum, at the last barrier
// or at the start of the process, and the journal's content before its row. If a second counts as many sessions as the journal, they are
// the same sessions, and its figures must be equal. Between two such seconds, so must be those of the second itself.
type seconds struct {
	at       time.Time // of the previous row, or of the start of the process
	ended    int64     // sessions that it counted
	level    bool      // it counted as many as the journal contained
	slept    bool      // the machine slept since
	requeued int64     // sessions since
	requests float64   // total so far, of this process, by the rates
	began    int64     // requests at the start of the process
	early    int64     // the same for the run itself

	total, service, held, queue values // of the journal's sessions since
	active                      values // of those that sent a request or acted
	request                     values // of their steps that sent a request
	asked                       int64  // by these
}

func newSeconds(r *room) seconds {
	return seconds{total: values{room: r}, service: values{room: r}, held: values{room: r}, queue: values{room: r}, active: values{room: r}, request: values{room: r}}
}

func (s *seconds) session(r *engine.SessionRow) {
	s.total.add(r.Latency())
	s.service.add(r.Service)
	s.held.add(r.Throttled)
	s.queue.add(r.Queue)
	sent := int64(0)
	for i := range r.Steps {
		if step := &r.Steps[i]; step.Asked() {
			s.request.add(step.Service)
		}
		sent += int64(r.Steps[i].Attempts)
	}
	if sent > 0 || r.Acted {
		s.active.add(r.Latency())
	}
	s.asked += sent
}

func (s *seconds) reset() {
	for _, v := range []*values{&s.total, &s.service, &s.held, &s.queue, &s.active, &s.request} {
		v.reset()
	}
	s.asked, s.requeued, s.slept = 0, 0, false
}

// start starts the seconds of a process.
func (s *seconds) start(r *engine.StartRow, a *auditing) {
	s.reset()
	c := a.tally.snapshot()
	s.at, s.ended, s.level = r.At, c.ended(), true
	s.requests, s.began, s.early = 0, a.tally.asked.requests, a.shared.requests
}

// metrics processes a second.
func (a *auditing) metrics(m *engine.MetricsRow) {
	r, s, where := a.report, &a.seconds, stamp(m.At)
	a.worst.metrics(m)
	now := a.tally.snapshot()
	level := m.Ended == now.ended()
	between := func(name string, recorded, low, high int64) {
		if level {
			low = high
		}
		a.bounded(name, where, recorded, low, high)
	}
	between("agents processed", m.Ended, a.floor.ended(), now.ended())
	between("agents that acted", m.Acted, a.floor.acted, now.acted)
	between("timed out", m.TimedOut, a.floor.outcomes[engine.TimedOut], now.outcomes[engine.TimedOut])
	for i := range m.Errors {
		c := engine.Class(i)
		between("errors "+className(c), m.Errors[c], a.floor.errors[c], now.errors[c])
	}
	for _, f := range flowFigures {
		between(f.name, f.of(&m.Flow), f.of(&a.floor.flow), f.of(&now.flow))
	}
	a.bounded(heldName, where, int64(m.Flow.Throttled), 0, int64(now.flow.Throttled))
	a.askedSoFar(m, where, level, &now)
	equal(r, soFar, "agents processed: before, and in this second", where, m.Ended, s.ended+m.Total.Count-s.requeued)
	equal(r, soFar, "cycle", where, m.Cycle, a.cycleOf(m))
	a.rates(m, where, level)
	if level && s.level {
		for _, d := range []struct {
			name string
			q    *engine.Quantiles
			v    *values
		}{{"latency", &m.Total, &s.total}, {"service time", &m.Service, &s.service}, {"held time", &m.Throttled, &s.held}, {"queued", &m.Queue, &s.queue}, {"latency of active sessions", &m.Active, &s.active}, {"latency of requests", &m.Request, &s.request}} {
			mine := d.v.digest()
			r.described(perSecond, d.name, where, d.q, &mine)
		}
	}
	s.reset()
	s.at, s.ended, s.level = m.At, m.Ended, level
}

// cycleOf returns the cycle to which a second must belong: the open one, or the previous one if the second was sampled while the barrier
// was being committed.
func (a *auditing) cycleOf(m *engine.MetricsRow) int {
	if m.Cycle == a.open-1 {
		return m.Cycle
	}
	return a.open
}

// bounded compares a figure of a second with its bounds.
func (a *auditing) bounded(name, where string, recorded, low, high int64) {
	should := any(low)
	if low != high {
		should = fmt.Sprintf("%d to %d", low, high)
	}
	a.report.Check(soFar, name, where, recorded >= low && recorded <= high, recorded, should)
}

// askedSoFar compares a second's requests, of sessions and of the run itself.
func (a *auditing) askedSoFar(m *engine.MetricsRow, where string, level bool, now *counts) {
	recorded := askedOf(&engine.RequestCounts{RateLimited: m.RateLimited, Retries: m.Retries, Usage: m.Usage, Waits: m.Waits})
	low, high := a.floor.asked, now.asked
	if level {
		low = high
	}
	least, most := slices.Clone(a.least), slices.Clone(a.most)
	k := 0
	low.figures(func(_ string, n int64) { least[k] += n; k++ })
	k = 0
	high.figures(func(_ string, n int64) { most[k] += n; k++ })
	k = 0
	recorded.figures(func(name string, n int64) {
		if name != requestsName && !isLabel(name) { // seconds do not contain these
			a.bounded(name, where, n, least[k], most[k])
		}
		k++
	})
}

// clockError is the largest relative difference between the clock of rows and the one that measures a second: a clock that is being
// adjusted is at most 0.05% fast or slow.
const clockError = 1e-3

// rates compares a second's rates: each rate times the length of the second is a whole number, known from the second itself. The length
// of a second in which the machine slept is unknown.
func (a *auditing) rates(m *engine.MetricsRow, where string, level bool) {
	s, r := &a.seconds, a.report
	if s.slept {
		s.requests = math.NaN()
		return
	}
	span := max(m.At.Sub(s.at).Seconds(), 1e-3)
	error := func(n float64) float64 { return n*(clockError+2e-6/span) + 1e-6 }
	same := func(name string, rate, n float64) {
		r.Check(perSecond, name, where, math.Abs(rate*span-n) <= error(n), round(rate), round(n/span))
		r.figure(perSecond, name).Bound = "0.1%, for the clock"
	}
	same("sessions per second", m.SessionsPerSec, float64(m.Total.Count))
	busy := float64(m.Service.Count) * m.Service.Mean.Seconds()
	r.Check(perSecond, "busy time over the second", where, math.Abs(m.Speedup*span-busy) <= error(busy)+1e-9*float64(m.Service.Count), round(m.Speedup), round(busy/span))
	requests := m.RequestsPerSec * span
	whole := math.Round(requests)
	r.Check(perSecond, "requests per second", where, math.Abs(requests-whole) <= error(whole) || error(whole) > 0.5, round(m.RequestsPerSec), round(whole/span))
	s.requests += whole
	if !level || math.IsNaN(s.requests) || error(whole) > 0.5 {
		return
	}
	least, most := a.least[0], a.most[0] // requests are the first figure
	own := a.tally.asked.requests - s.began - s.early
	r.Check(perSecond, "sum of requests", where, int64(s.requests) >= own+least && int64(s.requests) <= own+most, int64(s.requests), own+most)
}

func round(v float64) float64 { return math.Round(v*1000) / 1000 }

// requeue subtracts a session that is repeated.
func (a *auditing) requeue(c *engine.ChangeRow) {
	var of struct{ Cycle, Agent, Take int }
	where := stamp(c.At)
	if err := json.Unmarshal([]byte(c.New), &of); err != nil {
		a.wrong("unreadable requeueings", where)
		return
	}
	e, ok := a.takes[of.Agent]
	if !ok || of.Cycle != a.open {
		a.wrong("requeueings of sessions that did not fail", where)
		return
	}
	delete(a.takes, of.Agent)
	a.tally.end(of.Agent, e, -1)
	a.seconds.requeued++
}

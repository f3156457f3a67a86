package audit

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
)

// seconds are the metrics of a run. A second counts what the run's loop had heard of until then; the journal has that,
// and may have more: what a worker wrote and the loop had not heard of yet. So a second's figures lie between what was
// certain, at the last barrier or at the start of the process, and what the journal holds before its row. Where it
// counts as many sessions as the journal holds, they are the same ones, and its figures must be equal; between two such
// seconds so must be those of the second itself.
type seconds struct {
	at       time.Time // of the row before, or of the start of the process
	ended    int64     // that it said
	level    bool      // it counted as many as the journal held
	slept    bool      // the machine did since
	requeued int64     // sessions since
	requests float64   // so far, of this process, by the rates
	began    int64     // requests when the process took up the run
	early    int64     // of the run itself, likewise

	total, service, held, queue values // of the sessions in the journal since
	asked                       int64  // by these
}

func newSeconds(r *room) seconds {
	return seconds{total: values{room: r}, service: values{room: r}, held: values{room: r}, queue: values{room: r}}
}

func (s *seconds) session(r *engine.SessionRow) {
	s.total.add(r.Total)
	s.service.add(r.Service)
	s.held.add(r.Held)
	s.queue.add(r.Queue)
	for i := range r.Steps {
		s.asked += int64(r.Steps[i].Attempts)
	}
}

func (s *seconds) reset() {
	for _, v := range []*values{&s.total, &s.service, &s.held, &s.queue} {
		v.reset()
	}
	s.asked, s.requeued, s.slept = 0, 0, false
}

// start begins the seconds of a process.
func (s *seconds) start(r *engine.StartRow, a *auditing) {
	s.reset()
	c := a.tally.counts()
	s.at, s.ended, s.level = r.At, c.ended(), true
	s.requests, s.began, s.early = 0, a.tally.asked.requests, a.shared.requests
}

// metrics takes in a second.
func (a *auditing) metrics(m *engine.MetricsRow) {
	r, s, where := a.report, &a.seconds, stamp(m.At)
	a.worst.metrics(m)
	now := a.tally.counts()
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
	a.bounded(heldName, where, int64(m.Flow.Held), 0, int64(now.flow.Held))
	a.askedSoFar(m, where, level, &now)
	equal(r, soFar, "agents processed: before, and in this second", where, m.Ended, s.ended+m.Total.Count-s.requeued)
	equal(r, soFar, "cycle", where, m.Cycle, a.cycleOf(m))
	a.rates(m, where, level)
	if level && s.level {
		for _, d := range []struct {
			name string
			q    *engine.Quantiles
			v    *values
		}{{"latency", &m.Total, &s.total}, {"service time", &m.Service, &s.service}, {"held time", &m.Held, &s.held}, {"queued", &m.Queue, &s.queue}} {
			mine := d.v.digest()
			r.described(perSecond, d.name, where, d.q, &mine)
		}
	}
	s.reset()
	s.at, s.ended, s.level = m.At, m.Ended, level
}

// cycleOf is the cycle that a second must be of: the open one. One that was sampled while the barrier was on its way to
// the disk is of the cycle before.
func (a *auditing) cycleOf(m *engine.MetricsRow) int {
	if m.Cycle == a.open-1 {
		return m.Cycle
	}
	return a.open
}

// bounded compares a figure of a second that lies between two.
func (a *auditing) bounded(name, where string, recorded, low, high int64) {
	should := any(low)
	if low != high {
		should = fmt.Sprintf("%d to %d", low, high)
	}
	a.report.Check(soFar, name, where, recorded >= low && recorded <= high, recorded, should)
}

// askedSoFar compares what a second says was asked, by sessions and by the run itself.
func (a *auditing) askedSoFar(m *engine.MetricsRow, where string, level bool, now *counts) {
	recorded := askedOf(&engine.Asked{RateLimited: m.RateLimited, Retries: m.Retries, Usage: m.Usage, Waits: m.Waits})
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
		if name != requestsName && !isLabel(name) { // these are no part of a second
			a.bounded(name, where, n, least[k], most[k])
		}
		k++
	})
}

// clockError is by how much the clock that rows are stamped with may differ from that which measures a second, as a
// part of it: a clock that is being set right goes 0.05 % fast or slow at most.
const clockError = 1e-3

// rates compares what a second says happened per second: each rate times the length of the second is a whole number,
// known from the second itself. Seconds in which the machine slept have no length that is known.
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
		r.figure(perSecond, name).Bound = "0.1 %, for the clock"
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
	least, most := a.least[0], a.most[0] // requests come first
	own := a.tally.asked.requests - s.began - s.early
	r.Check(perSecond, "sum of requests", where, int64(s.requests) >= own+least && int64(s.requests) <= own+most, int64(s.requests), own+most)
}

func round(v float64) float64 { return math.Round(v*1000) / 1000 }

// requeue takes back what a session counted that is made again.
func (a *auditing) requeue(c *engine.ChangeRow) {
	var of struct{ Cycle, Agent, Take int }
	where := stamp(c.At)
	if err := json.Unmarshal([]byte(c.New), &of); err != nil {
		a.wrong("requeueings that cannot be read", where)
		return
	}
	e, ok := a.takes[of.Agent]
	if !ok || of.Cycle != a.open {
		a.wrong("requeueings of sessions that did not end badly", where)
		return
	}
	delete(a.takes, of.Agent)
	a.tally.end(of.Agent, e, -1)
	a.seconds.requeued++
}

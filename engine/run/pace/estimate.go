// Package pace measures how fast the sessions of a run end, and estimates the time left.
package pace

import (
	"math"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Estimate estimates the time left from the whole run of this process, with more weight on its recent part. Cycles begin fast and end slowly,
// so in a run of many cycles whole cycles count, and the open one is expected to take as long as they did. Otherwise seconds count. The
// pace grows with the square root of the limit: more sessions in flight also wait longer for services.
type Estimate struct {
	seconds, cycles mean
	known           time.Duration // the time that seconds covers
	limit           float64       // smoothed
}

const (
	paceFirst = 3 * time.Second  // without an estimate
	paceShort = 20 * time.Second // the weights fall to a third over a quarter of the time so far, within these bounds
	paceLong  = 10 * time.Minute
	paceLimit = 10 * time.Second // the same for the limit

	// Cycles count if they take a while but only a small part of the run.
	leastCycle, shortCycle = 2 * time.Second, 15 * time.Second
	cycleShare             = 0.05
)

// mean is a weighted mean of sessions a second at a limit of one session.
type mean struct{ sessions, seconds float64 }

// add adds a span. Earlier spans lose two thirds of their weight over the time over.
func (m *mean) add(span, over time.Duration, sessions int64, limit float64) {
	kept := math.Exp(-span.Seconds() / over.Seconds())
	m.sessions = m.sessions*kept + float64(sessions)
	m.seconds = m.seconds*kept + span.Seconds()*math.Sqrt(max(limit, 1))
}

func (m *mean) perSecond(limit float64) float64 {
	if m.seconds <= 0 {
		return 0
	}
	return m.sessions / m.seconds * math.Sqrt(max(limit, 1))
}

// over returns the time over which spans lose their weight, at a time since the start. A cycle takes the time cycle.
func (*Estimate) over(since, cycle time.Duration) time.Duration {
	return max(min(since/4, paceLong), paceShort, 2*cycle)
}

// Add adds a span in which a number of sessions ended under a limit.
func (p *Estimate) Add(span, since, cycle time.Duration, ended int64, limit int) {
	p.seconds.add(span, p.over(since, cycle), ended, float64(limit))
	p.known += span
	if p.limit == 0 {
		p.limit = float64(limit)
	}
	p.limit += (float64(limit) - p.limit) * (1 - math.Exp(-span.Seconds()/paceLimit.Seconds()))
}

// Closed adds a cycle with the sessions that ran in this process.
func (p *Estimate) Closed(took, since time.Duration, sessions, limit int) {
	if p.limit > 0 {
		limit = int(math.Round(p.limit))
	}
	p.cycles.add(took, p.over(since, took), int64(sessions), float64(limit))
}

// PerSecond returns the expected sessions a second, and 0 while too little is known.
func (p *Estimate) PerSecond() float64 {
	if p.known < paceFirst {
		return 0
	}
	return p.seconds.perSecond(p.limit)
}

// Left returns the expected time until all sessions have ended; -1 while too little is known.
func (p *Estimate) Left(s *engine.Snapshot) time.Duration {
	rate := p.PerSecond()
	if rate <= 0 || s.Total <= 0 {
		return -1
	}
	left := float64(s.Total-s.Ended) / rate
	open := s.CycleTotal - s.CycleEnded
	if each := p.cycles.perSecond(p.limit); each > 0 && s.CycleTotal > 0 {
		cycle := float64(s.CycleTotal) / each
		later := float64(s.Total-s.Ended-open) / each
		if cycle >= leastCycle.Seconds() && cycle <= max(shortCycle.Seconds(), cycleShare*(s.Elapsed.Seconds()+later)) {
			left = later
			if open > 0 {
				left += max(cycle-s.CycleTook.Seconds(), float64(open)/each)
			}
		}
	}
	return time.Duration(left * float64(time.Second))
}

// Scheduled returns the time left of a run whose sessions arrive over time, given the time until the last of them is due. While sessions
// start on time, the schedule sets the pace, and the pace so far says nothing about a profile that rises later.
func Scheduled(s *engine.Snapshot, due, pace time.Duration) time.Duration {
	due += s.Latency.Mean // of the last session
	if s.Overdue > int64(s.Limit) || s.Latency.Count == 0 {
		return max(due, pace)
	}
	return due
}

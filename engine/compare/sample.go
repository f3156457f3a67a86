// Package compare tells in what several runs differ: what their sessions gave, over the cycles that all of them ran, and
// whether the differences are more than chance. It is given the sessions of each run one by one, and keeps an agent's
// figures, not its sessions.
package compare

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/stats"
)

const (
	// maxMeasures bounds how many figures are made of what events hold, by their names.
	maxMeasures = 60
	// maxData is how long an event's data may be, in bytes, to be looked into.
	maxData = 64 << 10
)

// Sample is what a run gave in some cycles. The zero value is empty and ready for use.
type Sample struct {
	Sessions int64
	Outcomes [engine.Cut]int64
	Cycles   []Cycle // in order

	measures map[measure]*values
	dropped  bool // there were more figures than maxMeasures
	latency  stats.Histogram
}

// Cycle is what a run gave in one cycle.
type Cycle struct {
	Cycle     int
	Sessions  int64
	Completed int64 // ended ok or stopped
	Acted     int64
	Events    map[string]int64 // by name
	Cost      float64          // US dollars; without models whose price is not known
	P50, P95  time.Duration    // of the sessions' time
}

// values are a figure of every agent: their sums and counts, by the agent's index.
type values struct {
	sum   []float64
	count []int32
}

// measure says what a figure is.
type measure struct {
	kind    Kind
	name    string
	outcome engine.Outcome // of kind Ended
}

// Kind is what a measure counts, in the order in which people are shown them.
type Kind uint8

// The kinds of measures.
const (
	Ended      Kind = iota // the share of sessions with an outcome, from 0 to 1
	Acted                  // the share of sessions that acted
	PerSession             // how much of something a session had, on average
	Value                  // the mean of a number that events hold
	Timing                 // the mean time of a session, in milliseconds: no result
)

// Share reports whether a measure of the kind is a share of sessions.
func (k Kind) Share() bool { return k == Ended || k == Acted }

func (v *values) add(agent int, x float64) {
	for len(v.sum) <= agent {
		v.sum, v.count = append(v.sum, 0), append(v.count, 0)
	}
	v.sum[agent] += x
	v.count[agent]++
}

// mean returns an agent's mean; false where it has no value.
func (v *values) mean(agent int) (float64, bool) {
	if v == nil || agent >= len(v.count) || v.count[agent] == 0 {
		return 0, false
	}
	return v.sum[agent] / float64(v.count[agent]), true
}

// add counts a value of an agent for a measure.
func (s *Sample) add(m measure, agent int, x float64) {
	v := s.measures[m]
	if v == nil {
		if len(s.measures) >= maxMeasures {
			s.dropped = true
			return
		}
		if s.measures == nil {
			s.measures = map[measure]*values{}
		}
		v = &values{}
		s.measures[m] = v
	}
	v.add(agent, x)
}

// Add takes in a session. They come in the order of their cycles; of the takes of a session only the last.
func (s *Sample) Add(r *engine.SessionRow) {
	n := len(s.Cycles)
	if n == 0 || s.Cycles[n-1].Cycle != r.Cycle {
		s.close()
		s.Cycles, n = append(s.Cycles, Cycle{Cycle: r.Cycle, Events: map[string]int64{}}), n+1
	}
	c := &s.Cycles[n-1]
	s.Sessions++
	s.Outcomes[r.Outcome]++
	c.Sessions++
	if r.Outcome == engine.OK || r.Outcome == engine.Stopped {
		c.Completed++
	}
	if r.Acted {
		c.Acted++
	}
	s.latency.Record(r.Total)
	s.add(sessionTime, r.Agent, float64(r.Total)/1e6)
	s.add(acted, r.Agent, indicator(r.Acted))
	for o := range engine.Cut {
		s.add(ended(o), r.Agent, indicator(r.Outcome == o))
	}
	s.addUsage(c, r)
	s.addEvents(c, r)
}

var (
	acted       = measure{kind: Acted, name: "acted"}
	sessionTime = measure{kind: Timing, name: "session time, ms"}
)

func ended(o engine.Outcome) measure { return measure{Ended, "ended " + o.String(), o} }

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func (s *Sample) addUsage(c *Cycle, r *engine.SessionRow) {
	var u engine.Usage
	for i := range r.Steps {
		u.Add(r.Steps[i].Usage)
	}
	if u == (engine.Usage{}) {
		return
	}
	c.Cost += float64(u.Cost) / 1e9
	s.add(measure{kind: PerSession, name: "model calls"}, r.Agent, float64(u.Calls))
	s.add(measure{kind: PerSession, name: "cost of models, USD"}, r.Agent, float64(u.Cost)/1e9)
}

// addEvents counts a session's events and what numbers they hold.
func (s *Sample) addEvents(c *Cycle, r *engine.SessionRow) {
	if len(r.Events) == 0 {
		return
	}
	for i := range r.Events {
		e := &r.Events[i]
		c.Events[e.Name]++
		s.add(measure{kind: PerSession, name: e.Name}, r.Agent, 1)
		for name, x := range numbers(e.Data) {
			s.add(measure{kind: Value, name: e.Name + "." + name}, r.Agent, x)
		}
	}
}

// numbers returns the numbers that an event's data has at its top level.
func numbers(data []byte) map[string]float64 {
	if len(data) == 0 || len(data) > maxData || data[0] != '{' && data[0] != ' ' {
		return nil
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		return nil
	}
	all := map[string]float64{}
	for name, text := range fields {
		var x float64
		if json.Unmarshal(text, &x) == nil && string(text) != "null" {
			all[name] = x
		}
	}
	return all
}

// Close ends the sample: no session follows.
func (s *Sample) Close() {
	s.close()
	took := s.measures[acted]
	for m, v := range s.measures {
		if m.kind == PerSession { // those without any had 0
			v.sum = append(v.sum, make([]float64, len(took.sum)-len(v.sum))...)
			v.count = took.count
		}
	}
}

// close ends the newest cycle.
func (s *Sample) close() {
	if n := len(s.Cycles); n > 0 {
		s.Cycles[n-1].P50, s.Cycles[n-1].P95 = s.latency.Quantile(0.50), s.latency.Quantile(0.95)
	}
	s.latency.Reset()
}

// Dropped reports whether there were more figures than are compared.
func (s *Sample) Dropped() bool { return s.dropped }

// measuresOf lists the measures of some samples, in the order in which they are shown. Outcomes that nobody had are left
// out.
func measuresOf(all []*Sample) []measure {
	found := map[measure]bool{}
	for _, s := range all {
		for m := range s.measures {
			if m.kind != Ended || s.Outcomes[m.outcome] > 0 {
				found[m] = true
			}
		}
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b measure) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.outcome, b.outcome), cmp.Compare(a.name, b.name))
	})
}

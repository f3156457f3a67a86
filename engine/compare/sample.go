// Package compare compares the results of runs, or of groups of runs with different seeds, over the cycles that all of them ran, and
// tests whether the differences are significant. It receives the sessions of each run one by one, and stores the figures of agents, not
// the sessions.
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
	// maxMeasures bounds the number of figures made from event data, by name.
	maxMeasures = 60
	// maxData is the largest event data that is parsed, in bytes.
	maxData = 64 << 10
)

// Sample is the result of a run in some cycles. The zero value is empty and ready to use.
type Sample struct {
	Sessions int64
	Outcomes [engine.Cut]int64
	Cycles   []Cycle // in order

	measures map[measure]*values
	dropped  bool // there were more figures than maxMeasures
	latency  stats.Histogram
}

// Cycle is the result of a run in one cycle.
type Cycle struct {
	Cycle     int
	Sessions  int64
	Completed int64 // ended ok or stopped
	Acted     int64
	Events    map[string]int64 // by name
	Cost      float64          // US dollars; without models whose price is unknown
	P50, P95  time.Duration    // of the sessions' time
}

// values are a figure of every agent: sums and counts, by the agent's index.
type values struct {
	sum   []float64
	count []int32
}

// measure identifies a figure.
type measure struct {
	kind    Kind
	name    string
	outcome engine.Outcome // of kind Ended
}

// Kind is the kind of a measure, in display order.
type Kind uint8

// The kinds of measures.
const (
	Ended      Kind = iota // the share of sessions with an outcome, from 0 to 1
	Acted                  // the share of sessions that acted
	PerSession             // the mean number per session
	Value                  // the mean of a number in events
	Timing                 // the mean time of a session, in milliseconds; not a result
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

// mean returns an agent's mean; false if it has no value.
func (v *values) mean(agent int) (float64, bool) {
	if v == nil || agent >= len(v.count) || v.count[agent] == 0 {
		return 0, false
	}
	return v.sum[agent] / float64(v.count[agent]), true
}

// add adds a value of an agent to a measure.
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

// Add adds a session. Sessions come in the order of their cycles, and only the last take of each.
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

// addEvents counts a session's events and the numbers in them.
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

// numbers returns the numbers at the top level of an event's data.
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

// Close ends the sample after the last session.
func (s *Sample) Close() {
	s.close()
	took := s.measures[acted]
	for m, v := range s.measures {
		if m.kind == PerSession { // sessions without any count as 0
			v.sum = append(v.sum, make([]float64, len(took.sum)-len(v.sum))...)
			v.count = took.count
		}
	}
}

// close ends the latest cycle.
func (s *Sample) close() {
	if n := len(s.Cycles); n > 0 {
		s.Cycles[n-1].P50, s.Cycles[n-1].P95 = s.latency.Quantile(0.50), s.latency.Quantile(0.95)
	}
	s.latency.Reset()
}

// Dropped reports whether some figures were left out because there were too many.
func (s *Sample) Dropped() bool { return s.dropped }

// measuresOf lists the measures of some samples, in display order. It omits outcomes that no session had.
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

package health

import (
	"math"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
)

// latencyFigures are the latencies of requests and sessions over the last 30 s, and the time of cycles. The success criteria decide what
// is slow. Without criteria on latency, only requests are judged: the time of a session includes think time.
type latencyFigures struct{ *input }

// Without criteria, these are slow. A model takes seconds to answer.
const (
	slowRequest = time.Second
	slowModel   = 30 * time.Second
	slowCycle   = time.Minute
)

// The success criteria on times start with these words, followed by one of the keys of quantiles.
const (
	requestCriterion = "request_"
	sessionCriterion = "latency_"
	cycleCriterion   = "cycle_time"
)

// quantiles are the parts of latencies that criteria judge.
var quantiles = map[string]func(q *engine.Quantiles) time.Duration{
	"p50": func(q *engine.Quantiles) time.Duration { return q.P50 },
	"p95": func(q *engine.Quantiles) time.Duration { return q.P95 },
	"p99": func(q *engine.Quantiles) time.Duration { return q.P99 },
	"max": func(q *engine.Quantiles) time.Duration { return q.Max },
}

// slowness is a time, and the bound from which on it is slow.
type slowness struct {
	took   time.Duration // 0 if unknown
	bound  time.Duration // 0 if nothing is slow
	text   string        // of the time
	metric string        // of the criterion; "" if it is not one
}

// figure is 1 at the bound; NaN if the time is unknown.
func (l *slowness) figure() float64 {
	switch {
	case l.took <= 0:
		return math.NaN()
	case l.bound <= 0:
		return 0
	}
	return l.took.Seconds() / l.bound.Seconds()
}

func (l *slowness) threshold() string {
	if l.bound <= 0 {
		return "none"
	}
	text := "from " + engine.FormatDuration(l.bound) + ", critical above " + engine.FormatDuration(2*l.bound)
	if l.metric != "" {
		text += " (" + l.metric + ")"
	}
	return text
}

// criterion returns the upper bound on times whose criteria start with a word; nil if there is none. Criteria on one service or step do
// not count.
func (f *latencyFigures) criterion(of string) *engine.Criterion {
	for i := range f.s.Criteria {
		c := &f.s.Criteria[i]
		rest, found := strings.CutPrefix(c.Metric, of)
		if found && (rest == "" || quantiles[rest] != nil) && c.Of == "" && strings.HasPrefix(c.Op, "<") && c.Bound > 0 {
			return c
		}
	}
	return nil
}

// of returns a latency, by the criterion on it and otherwise by a bound.
func (f *latencyFigures) of(prefix string, at func(*vitalRow) *engine.Quantiles, bound time.Duration) slowness {
	q := f.v.quantiles(at)
	l := slowness{q.P95, bound, "p95 ", ""}
	if c := f.criterion(prefix); c != nil {
		l.by(c)
		name := strings.TrimPrefix(c.Metric, prefix)
		l.took, l.text = quantiles[name](&q), name+" "
	}
	l.text += engine.FormatDuration(l.took)
	return l
}

// by sets the bound of a criterion.
func (l *slowness) by(c *engine.Criterion) {
	l.bound, l.metric = time.Duration(c.Bound*float64(time.Second)), c.Metric
}

// cycle returns the longer of the current cycle so far and the previous one, without waiting for the schedule. Cycles of a scenario with
// criteria may take any time unless one of them says otherwise.
func (f *latencyFigures) cycle() slowness {
	took := max(f.s.CycleTook, f.s.LastCycle.Took)
	l := slowness{took, slowCycle, engine.FormatDuration(took), ""}
	switch c := f.criterion(cycleCriterion); {
	case c != nil:
		l.by(c)
	case len(f.s.Criteria) > 0:
		l.bound = 0
	}
	return l
}

func (f *latencyFigures) requests() slowness {
	bound := slowRequest
	switch asked, calls := f.v.asked(); {
	case f.criterion(sessionCriterion) != nil:
		bound = 0
	case calls > 0 && calls >= asked/20: // the 95th percentile can be a call of a model
		bound = slowModel
	}
	return f.of(requestCriterion, func(r *vitalRow) *engine.Quantiles { return &r.request }, bound)
}

func (f *latencyFigures) wholeSessions() slowness {
	return f.of(sessionCriterion, func(r *vitalRow) *engine.Quantiles { return &r.total }, 0)
}

func (f *latencyFigures) cycleTime() float64       { l := f.cycle(); return l.figure() }
func (f *latencyFigures) cycleText() string        { l := f.cycle(); return l.text }
func (f *latencyFigures) cycleThreshold() string   { l := f.cycle(); return l.threshold() }
func (f *latencyFigures) request() float64         { l := f.requests(); return l.figure() }
func (f *latencyFigures) requestText() string      { l := f.requests(); return l.text }
func (f *latencyFigures) requestThreshold() string { l := f.requests(); return l.threshold() }
func (f *latencyFigures) session() float64         { l := f.wholeSessions(); return l.figure() }
func (f *latencyFigures) sessionText() string      { l := f.wholeSessions(); return l.text }
func (f *latencyFigures) sessionThreshold() string { l := f.wholeSessions(); return l.threshold() }

// leastSteady is the number of sessions in half a minute from which completion times can be called steady.
const leastSteady = 10

// steady compares the mean of the last 30 s with that of the 30 s before.
func (f *latencyFigures) steady() string {
	now, before := f.v.latency(0, 30), f.v.latency(30, 60)
	if f.v.sessions(0, 30) < leastSteady || f.v.sessions(30, 60) < leastSteady || (now-before).Abs() > before/10 {
		return ""
	}
	return "steady completion times"
}

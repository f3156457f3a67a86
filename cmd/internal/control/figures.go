package control

import (
	"math"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Latency is how long sessions took, in seconds.
type Latency struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	Max  float64 `json:"max"`
}

// newLatency is nil where no session ended.
func newLatency(q *engine.Quantiles) *Latency {
	if q.Count == 0 {
		return nil
	}
	return &Latency{q.Mean.Seconds(), q.P50.Seconds(), q.P95.Seconds(), q.P99.Seconds(), q.Max.Seconds()}
}

// Second are the figures of the newest second. What is not known is left out.
type Second struct {
	At         time.Time `json:"at"`
	Sessions   float64   `json:"sessions_per_second"`
	Requests   float64   `json:"requests_per_second"`
	Writes     float64   `json:"writes_per_second"`
	Latency    *Latency  `json:"latency,omitempty"` // of the sessions that ended in it
	CPU        float64   `json:"cpu_percent"`       // of the machine
	OwnCPU     float64   `json:"process_cpu_percent"`
	Memory     uint64    `json:"memory_bytes"` // of Throng
	MemoryLeft uint64    `json:"memory_left_bytes"`
	MemoryAll  uint64    `json:"memory_total_bytes"`
	Lag        float64   `json:"lag_seconds,omitempty"`
}

// newSecond is nil before the first has passed.
func newSecond(m *engine.MetricsRow) *Second {
	if m.At.IsZero() {
		return nil
	}
	return &Second{
		At: m.At.UTC(), Sessions: m.SessionsPerSec, Requests: m.RequestsPerSec, Writes: m.WritesPerSec, Latency: newLatency(&m.Total),
		CPU: m.Host.CPU, OwnCPU: m.Host.ProcessCPU, Memory: m.Host.Memory, MemoryLeft: m.Host.Available, MemoryAll: m.Host.MemoryTotal, Lag: m.Lag.Seconds(),
	}
}

// Error is a class of errors with its last occurrence, as far as that is known.
type Error struct {
	Class   string `json:"class"`
	Count   int64  `json:"count"`
	Cycle   int    `json:"cycle"`
	Agent   int    `json:"agent"`
	Name    string `json:"name,omitempty"`
	Path    string `json:"path,omitempty"`
	Message string `json:"message,omitempty"`
}

// NewErrors are those of a run, the most frequent first.
func NewErrors(all []engine.ErrorNote) (errs []Error) {
	for i := range all {
		e := &all[i]
		errs = append(errs, Error{e.Class.String(), e.Count, e.Cycle, e.Agent, e.Name, e.Path, e.Message})
	}
	return errs
}

// Event is something that was changed mid-run or happened to the run.
type Event struct {
	At   time.Time `json:"at"`
	What string    `json:"what"`
	Old  string    `json:"old,omitempty"`
	New  string    `json:"new,omitempty"`
	Who  string    `json:"who,omitempty"`
	Why  string    `json:"why,omitempty"`
}

// mostEvents is how many changes a status has, the newest.
const mostEvents = 100

func newEvents(all []engine.ChangeRow) (events []Event) {
	for i := range all[max(len(all)-mostEvents, 0):] {
		c := &all[max(len(all)-mostEvents, 0):][i]
		events = append(events, Event{c.At.UTC(), c.What, c.Old, c.New, c.Who, c.Why})
	}
	return events
}

// Step is how one step of the chain does, over the run.
type Step struct {
	Path     string   `json:"path"`
	Ran      int64    `json:"ran"`
	Errors   int64    `json:"errors"`
	Requests int64    `json:"requests"`
	Retries  int64    `json:"retries"`
	Refused  int64    `json:"refused"`
	Took     *Latency `json:"took,omitempty"`
}

// mostSteps is how many steps a status has.
const mostSteps = 200

func newSteps(all []engine.StepFigures) (steps []Step) {
	for i := range all[:min(len(all), mostSteps)] {
		s := &all[i]
		steps = append(steps, Step{s.Path, s.Ran(), s.Errors(), s.Requests, s.Retries, s.RateLimited, newLatency(&s.Service)})
	}
	return steps
}

// outcomes are counts by the name of the outcome.
func outcomes(of map[engine.Outcome]int64) map[string]int64 {
	named := map[string]int64{}
	for o, n := range of {
		named[o.String()] = n
	}
	return named
}

// Sum puts in what the totals of a run say: for one that nobody works on, and has no snapshot.
func (s *Status) Sum(t *engine.Totals) {
	asked := t.Left()
	s.Failed, s.Events, s.Speedup = t.Bad(), t.Events, finite(t.Speedup())
	s.Requests, s.Retries, s.Refused, s.Cost = asked.Requests, asked.Retries, asked.RateLimited, float64(asked.Usage.Cost)/1e9
	s.Elapsed, s.Outcomes = t.Peaks.Elapsed.Seconds(), map[string]int64{}
	for o, n := range t.Outcomes {
		if n > 0 {
			s.Outcomes[engine.Outcome(o).String()] = n
		}
	}
	if n := t.Total.Count(); n > 0 {
		s.Latency = newLatency(&engine.Quantiles{
			Count: n, Mean: t.Total.Sum() / time.Duration(n), P50: t.Total.Quantile(0.50), P95: t.Total.Quantile(0.95), P99: t.Total.Quantile(0.99),
			Max: t.Total.Max(),
		})
	}
	s.Unconfirmed = asked.Labels[engine.Unconfirmed]
	if t.Inexact != nil {
		s.Inexact = t.Inexact.String()
	}
}

// finite is a number that JSON has a form for; nil where there is none.
func finite(f float64) *float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return &f
}

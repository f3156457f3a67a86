// Package view is how a run is presented: Status and the other forms that programs and people read. Field names are the
// names in JSON, the same for --json, the control socket, notifications and run.json.
package view

import (
	"math"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Progress is how far a run is. Status, progress lines, final lines and notifications share it.
type Progress struct {
	Run    engine.RunID `json:"run"`
	At     time.Time    `json:"at"`
	Phase  string       `json:"phase"`
	Reason string       `json:"reason,omitempty"`

	Cycle     int     `json:"cycle"`            // the open one, from 0
	Cycles    int     `json:"cycles,omitempty"` // absent if the run ends by the clock
	Sessions  int64   `json:"sessions"`         // ended, of all processes
	Planned   int64   `json:"planned_sessions,omitempty"`
	Kept      int64   `json:"kept_sessions,omitempty"` // that a fork took over; not part of sessions and planned_sessions
	Failed    int64   `json:"failed_sessions"`         // or timed out
	Survey    *Survey `json:"survey,omitempty"`        // absent if the run is not a survey
	Limit     int     `json:"limit"`
	InFlight  int     `json:"in_flight"`
	LastCycle *Cycle  `json:"last_cycle,omitempty"` // of this process

	CycleSeconds float64  `json:"cycle_seconds"` // of the open cycle, so far
	Elapsed      float64  `json:"elapsed_seconds"`
	Remaining    *float64 `json:"remaining_seconds,omitempty"`

	SessionRate float64  `json:"sessions_per_second"`
	WriteRate   float64  `json:"writes_per_second"`
	Requests    int64    `json:"requests"`
	RateLimited int64    `json:"rate_limited"` // 429s
	Cost        float64  `json:"cost_usd"`     // of model calls
	Latency     *Latency `json:"latency_seconds,omitempty"`

	Schedule *Schedule `json:"schedule,omitempty"`
}

// Schedule is how a run keeps to its schedule.
type Schedule struct {
	Arrivals string  `json:"arrivals,omitempty"` // how the agents of a cycle arrive
	Lag      float64 `json:"lag_seconds"`        // how far the run is behind
	Overdue  int64   `json:"overdue_sessions"`   // their intended start has passed
	Why      string  `json:"why,omitempty"`      // what delays them
}

// newSchedule returns nil for a run without arrivals that is not late.
func newSchedule(s *engine.Snapshot) *Schedule {
	if s.Arrivals == "" && s.Lag == 0 {
		return nil
	}
	return &Schedule{s.Arrivals, s.Lag.Seconds(), s.Overdue, s.LagWhy}
}

// Keeping describes how a run keeps to its schedule. late is set from a second on.
func (s *Schedule) Keeping() (text string, late bool) {
	if s.Lag < 1 {
		return "on time", false
	}
	text = engine.FormatDuration(time.Duration(s.Lag*float64(time.Second)).Truncate(time.Second)) + " behind"
	if s.Overdue > 0 {
		text += ", " + engine.FormatCount(s.Overdue) + " overdue"
	}
	return text, true
}

// NewProgress returns the progress of a run.
func NewProgress(s *engine.Snapshot) Progress {
	p := Progress{
		Run: s.Run, At: s.At.UTC(), Phase: s.Phase.String(), Reason: s.Reason, Cycle: s.Cycle, Cycles: s.Cycles, Sessions: s.Ended, Planned: s.Total, Kept: s.Kept,
		Failed: s.Outcomes[engine.Failed] + s.Outcomes[engine.TimedOut], Limit: s.Limit, InFlight: s.InFlight, LastCycle: newCycle(&s.LastCycle),
		CycleSeconds: s.CycleTook.Seconds(), Elapsed: s.Elapsed.Seconds(), SessionRate: s.PerSecond, WriteRate: s.Metrics.WritesPerSec,
		Requests: s.Requests, RateLimited: s.RateLimited, Cost: usd(s.Usage.Cost), Latency: NewLatency(&s.Latency), Schedule: newSchedule(s), Survey: SurveyIn(s),
	}
	if s.Remaining >= 0 {
		left := s.Remaining.Seconds()
		p.Remaining = &left
	}
	return p
}

// Latency is how long sessions, steps or waits took, in seconds.
type Latency struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	Max  float64 `json:"max"`
}

// NewLatency returns nil if there is nothing to summarize.
func NewLatency(q *engine.Quantiles) *Latency {
	if q.Count == 0 {
		return nil
	}
	return &Latency{q.Mean.Seconds(), q.P50.Seconds(), q.P95.Seconds(), q.P99.Seconds(), q.Max.Seconds()}
}

// Cycle is the result of a cycle.
type Cycle struct {
	Seconds    float64  `json:"seconds"`
	OK         int64    `json:"ok"`
	Failed     int64    `json:"failed"`
	TimedOut   int64    `json:"timed_out"`
	Parallel   int64    `json:"parallel_steps"`
	Sequential int64    `json:"sequential_steps"`
	StepErrors int64    `json:"step_errors"`
	Timeouts   int64    `json:"step_timeouts"`
	Speedup    *float64 `json:"speedup,omitempty"`
}

// newCycle returns nil before the first cycle has ended.
func newCycle(c *engine.ClosedCycle) *Cycle {
	if c.Sessions == 0 && c.Took == 0 {
		return nil
	}
	w := &c.Work
	return &Cycle{
		c.Took.Seconds(), w.OK, w.Failed, w.TimedOut, w.Flow.Parallel, w.Flow.Sequential, w.Flow.Failed, w.Flow.TimedOut, finite(w.Speedup(c.Took)),
	}
}

// Totals are sums over a run that Progress does not have.
type Totals struct {
	Ending      string             `json:"ending,omitempty"`
	Inexact     string             `json:"inexact,omitempty"`
	Unconfirmed int64              `json:"unconfirmed"` // requests that may have been carried out twice
	Outcomes    map[string]int64   `json:"outcomes"`
	Retries     int64              `json:"retries"`
	Events      int64              `json:"events"`
	Cut         int64              `json:"cut"` // sessions that run again on resume
	Errors      []engine.ErrorNote `json:"errors"`
	Speedup     *float64           `json:"speedup,omitempty"`
}

// NewTotals returns the totals of a run.
func NewTotals(s *engine.Snapshot) Totals {
	t := Totals{
		Ending: s.Ending.String(), Unconfirmed: s.Labels[engine.Unconfirmed], Outcomes: map[string]int64{}, Retries: s.Retries, Events: s.Events,
		Cut: s.Cut, Errors: append([]engine.ErrorNote{}, s.Errors...), Speedup: finite(s.Speedup),
	}
	if s.Inexact != nil {
		t.Inexact = s.Inexact.String()
	}
	for o, n := range s.Outcomes {
		t.Outcomes[o.String()] = n
	}
	return t
}

// usd converts billionths of a US dollar.
func usd(billionths int64) float64 { return float64(billionths) / 1e9 }

// finite returns nil for numbers that JSON cannot express.
func finite(f float64) *float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return &f
}

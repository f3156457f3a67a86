package view

import (
	"cmp"
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
)

// Status is how a run is doing. Unknown values are omitted.
type Status struct {
	Progress
	Totals
	Steering
	Title      string    `json:"title"`
	Origin     string    `json:"origin,omitempty"` // of a fork: the run that it continues
	Queue      string    `json:"queue,omitempty"`  // its ID in the queue while it waits to start
	SimTime    time.Time `json:"sim_time,omitzero"`
	CycleEnded int64     `json:"cycle_sessions"` // of the open cycle
	CycleTotal int64     `json:"cycle_planned_sessions"`

	Stall    *Stall                `json:"stall,omitempty"`
	Services []engine.ServiceState `json:"services,omitempty"`
	Budget   *Budget               `json:"budget,omitempty"`
	Oldest   []engine.Activity     `json:"oldest,omitempty"` // sessions in flight

	Checkpoints    int       `json:"checkpoints"`
	LastCheckpoint time.Time `json:"last_checkpoint,omitzero"`

	Workers     string             `json:"workers,omitempty"` // of the fleet that executes it, such as "4 workers, 1 lost"
	Sink        *Sink              `json:"sink,omitempty"`
	Connections *Connections       `json:"connections,omitempty"` // to databases
	Health      []health.Finding   `json:"health,omitempty"`
	LastSecond  *Second            `json:"last_second,omitempty"`
	Changes     []engine.ChangeRow `json:"changes,omitempty"` // the newest, oldest first
	Steps       []Step             `json:"steps,omitempty"`
	Overhead    *Overhead          `json:"overhead,omitempty"`
}

// Steering is what moves the concurrency limit, and the circuit breaker of the run.
type Steering struct {
	Floor      int       `json:"floor"`
	Ceiling    int       `json:"ceiling"`
	Governor   string    `json:"governor,omitempty"`
	SteeredBy  string    `json:"steered_by,omitempty"`
	Steered    string    `json:"steered_why,omitempty"`
	SteeredAt  time.Time `json:"steered_at,omitzero"`
	Breaker    string    `json:"breaker"`
	BreakerWhy string    `json:"breaker_why,omitempty"`
	NextProbe  time.Time `json:"next_probe,omitzero"`
}

// Stall says that no session has ended for long.
type Stall struct {
	Since time.Time `json:"since"`
	Why   string    `json:"why"`
}

// Sink is the state of a remote database that results are sent to.
type Sink struct {
	Target    string    `json:"target"` // host:port/database
	Connected bool      `json:"connected"`
	Error     string    `json:"error,omitempty"` // why rows are not sent
	Since     time.Time `json:"error_since,omitzero"`
	Unsent    int64     `json:"unsent_rows"` // kept here
	Rejected  int64     `json:"rejected_rows,omitempty"`
	Rate      int64     `json:"rows_per_second,omitempty"`
	Left      float64   `json:"remaining_seconds,omitempty"` // at that rate
	Trouble   bool      `json:"trouble,omitempty"`
	Words     string    `json:"text"`
}

// Connections counts Throng's connections to databases, and all of the server's.
type Connections struct {
	Open    int  `json:"open"`
	Size    int  `json:"max_open"`
	InUse   int  `json:"in_use"`
	Idle    int  `json:"idle"`
	Waiting int  `json:"waiting"`
	Server  *int `json:"server,omitempty"` // of all clients
	Max     *int `json:"server_max,omitempty"`
}

// newConnections returns nil without a pool.
func newConnections(m *engine.MetricsRow) *Connections {
	if m.Pool.Size == 0 {
		return nil
	}
	c := &Connections{Open: max(m.Connections, 0), Size: m.Pool.Size, InUse: m.Pool.InUse, Idle: m.Pool.Idle, Waiting: m.Pool.Waiting}
	if m.ServerConnections >= 0 {
		c.Server, c.Max = &m.ServerConnections, &m.ServerMax
	}
	return c
}

// Amounts are limits of a budget, or what was spent of it. A limit of 0 means unlimited.
type Amounts struct {
	Cost     float64 `json:"usd,omitempty"`
	Tokens   int64   `json:"tokens,omitempty"`
	Requests int64   `json:"requests,omitempty"`
	Seconds  float64 `json:"seconds,omitempty"` // wall time
}

// NewSpent returns what all processes of a run have spent.
func NewSpent(a engine.Amount, elapsed time.Duration) Amounts {
	return Amounts{usd(a.Cost), a.Tokens, a.Requests, elapsed.Seconds()}
}

// Budget is how far a budget is used up.
type Budget struct {
	Limit Amounts `json:"limit"`
	Spent Amounts `json:"spent"`
	Short string  `json:"short,omitempty"` // which limit will not last, or is reached
}

// newBudget returns nil without limits.
func newBudget(b *engine.BudgetState, elapsed time.Duration) *Budget {
	if b.Budget == (engine.Budget{}) {
		return nil
	}
	return &Budget{Amounts{b.Budget.Dollars, b.Budget.Tokens, b.Budget.Requests, b.Budget.Wall.Seconds()}, NewSpent(b.Spent, elapsed), b.Short}
}

// Second has the metrics of the newest second. Unknown values are omitted.
type Second struct {
	At           time.Time `json:"at"`
	SessionRate  float64   `json:"sessions_per_second"`
	RequestRate  float64   `json:"requests_per_second"`
	WriteRate    float64   `json:"writes_per_second"`
	Latency      *Latency  `json:"latency_seconds,omitempty"` // of the sessions that ended in it
	CPU          float64   `json:"cpu_percent"`               // of the machine
	ProcessCPU   float64   `json:"process_cpu_percent"`
	Memory       uint64    `json:"memory_bytes"` // of Throng
	MemoryLeft   uint64    `json:"available_memory_bytes"`
	MachineTotal uint64    `json:"total_memory_bytes"`
	Lag          float64   `json:"lag_seconds,omitempty"`
}

// newSecond returns nil before the first second has passed.
func newSecond(m *engine.MetricsRow) *Second {
	if m.At.IsZero() {
		return nil
	}
	return &Second{
		At: m.At.UTC(), SessionRate: m.SessionsPerSec, RequestRate: m.RequestsPerSec, WriteRate: m.WritesPerSec, Latency: NewLatency(&m.Total),
		CPU: m.Host.CPU, ProcessCPU: m.Host.ProcessCPU, Memory: m.Host.Memory, MemoryLeft: m.Host.Available, MachineTotal: m.Host.MemoryTotal, Lag: m.Lag.Seconds(),
	}
}

// Step has the totals of one step of the chain.
type Step struct {
	Path        string           `json:"step"`
	Ran         int64            `json:"ran"`
	Errors      int64            `json:"errors"`
	Statuses    map[string]int64 `json:"statuses"`
	Requests    int64            `json:"requests"`
	Retries     int64            `json:"retries"`
	RateLimited int64            `json:"rate_limited"`
	Latency     *Latency         `json:"latency_seconds,omitempty"`
}

// NewSteps returns the totals of steps in the same order.
func NewSteps(all []engine.StepFigures) (steps []Step) {
	for i := range all {
		s := &all[i]
		one := Step{s.Path, s.Ran(), s.Errors(), map[string]int64{}, s.Requests, s.Retries, s.RateLimited, NewLatency(&s.Service)}
		for status, n := range s.Statuses {
			if n > 0 {
				one.Statuses[engine.StepStatus(status).String()] = n
			}
		}
		steps = append(steps, one)
	}
	return steps
}

// The longest lists of a Status.
const (
	maxOldest  = 20
	maxChanges = 100
	maxSteps   = 200
)

// NewStatus returns the status of a run from a snapshot and the findings about its health.
func NewStatus(title string, s *engine.Snapshot, findings []health.Finding) *Status {
	st := &Status{
		Progress: NewProgress(s), Totals: NewTotals(s), Title: title, SimTime: s.SimTime.UTC(), CycleEnded: s.CycleEnded, CycleTotal: s.CycleTotal,
		Steering: Steering{
			Floor: s.Floor, Ceiling: s.Ceiling, Governor: s.Governor, SteeredBy: s.SteerBy, Steered: s.Steer, SteeredAt: s.Steered.UTC(),
			Breaker: s.Breaker.String(), BreakerWhy: s.BreakerWhy, NextProbe: s.NextProbe.UTC(),
		},
		Services: slices.Clone(s.Services), Budget: newBudget(&s.Budget, s.Elapsed), Oldest: slices.Clone(s.Oldest[:min(len(s.Oldest), maxOldest)]),
		Checkpoints: s.Checkpoints, LastCheckpoint: s.LastCheckpoint.UTC(), Connections: newConnections(&s.Metrics), Health: findings,
		LastSecond: newSecond(&s.Metrics), Changes: slices.Clone(s.Changes[max(len(s.Changes)-maxChanges, 0):]), Steps: NewSteps(s.Steps[:min(len(s.Steps), maxSteps)]),
	}
	if s.Stall != nil {
		st.Stall = &Stall{s.Stall.Since.UTC(), s.Stall.Why}
	}
	for i := range st.Services {
		of := &st.Services[i]
		of.Blocked, of.NextProbe, of.Buckets = of.Blocked.UTC(), of.NextProbe.UTC(), slices.Clone(of.Buckets)
		for j := range of.Buckets {
			of.Buckets[j].Blocked = of.Buckets[j].Blocked.UTC()
		}
	}
	for i := range st.Oldest {
		st.Oldest[i].Began, st.Oldest[i].Since = st.Oldest[i].Began.UTC(), st.Oldest[i].Since.UTC()
	}
	for i := range st.Changes {
		st.Changes[i].At = st.Changes[i].At.UTC()
	}
	return st
}

// OfRecord returns the status of a run that no process is working on.
func OfRecord(r *engine.RunRecord, t *engine.Totals, now time.Time) *Status {
	asked := t.SentRequests()
	s := &Status{
		Progress: Progress{
			Run: r.ID, At: now.UTC(), Phase: engine.Ended.String(), Reason: r.Reason, Cycle: r.Cycle, Cycles: r.Cycles, Sessions: r.Done, Kept: r.Kept, Planned: r.Total,
			Failed: t.Bad(), Limit: r.Limit, Elapsed: t.Peaks.Elapsed.Seconds(), Requests: asked.Requests, RateLimited: asked.RateLimited,
			Cost: usd(asked.Usage.Cost), Latency: OfHistogram(t.Latency()), Survey: SurveyOf(r),
		},
		Totals: Totals{
			Ending: cmp.Or(r.Ending.String(), r.State()), Unconfirmed: asked.Labels[engine.Unconfirmed], Outcomes: Outcomes(t), Retries: asked.Retries,
			Events: t.Events, Errors: []engine.ErrorNote{}, Speedup: finite(t.Speedup()),
		},
		Steering: Steering{Floor: r.Settings.Floor, Ceiling: r.Settings.Ceiling, Governor: r.Settings.Governor, Breaker: engine.BreakerClosed.String()},
		Title:    r.DisplayName(),
		Overhead: NewOverhead(&t.Peaks.Overhead, t.Peaks.Late, r.Limit, ""),
	}
	if r.Queued != "" {
		s.Phase, s.Ending, s.Queue = r.State(), "", r.Queued
	}
	if t.Inexact != nil {
		s.Inexact = t.Inexact.String()
	}
	return s
}

// Histogram is what a summary needs of a histogram.
type Histogram interface {
	Count() int64
	Sum() time.Duration
	Quantile(q float64) time.Duration
	Max() time.Duration
}

// OfHistogram returns nil if the histogram is empty.
func OfHistogram(h Histogram) *Latency {
	n := h.Count()
	if n == 0 {
		return nil
	}
	return NewLatency(&engine.Quantiles{
		Count: n, Mean: h.Sum() / time.Duration(n), P50: h.Quantile(0.50), P95: h.Quantile(0.95), P99: h.Quantile(0.99), Max: h.Max(),
	})
}

// Outcomes counts sessions by outcome; outcomes without sessions are left out.
func Outcomes(t *engine.Totals) map[string]int64 {
	all := map[string]int64{}
	for o, n := range t.Outcomes {
		if n > 0 {
			all[engine.Outcome(o).String()] = n
		}
	}
	return all
}

package control

import (
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
)

// Status is how a run is doing. Times that are not known are left out; what has no bound is 0.
type Status struct {
	Run     string    `json:"run"`
	Title   string    `json:"title"`
	At      time.Time `json:"at"`
	Phase   string    `json:"phase"`
	Reason  string    `json:"reason,omitempty"`
	Ending  string    `json:"ending,omitempty"`
	Inexact string    `json:"inexact,omitempty"`
	// Unconfirmed counts changing requests that may have been carried out twice.
	Unconfirmed int64 `json:"unconfirmed"`

	Cycle      int      `json:"cycle"` // the open one, from 0
	Cycles     int      `json:"cycles,omitempty"`
	Done       int64    `json:"done"` // sessions
	Total      int64    `json:"total,omitempty"`
	CycleDone  int64    `json:"cycle_done"`
	CycleTotal int64    `json:"cycle_total"`
	CycleTook  float64  `json:"cycle_seconds"`        // so far
	LastCycle  *Cycle   `json:"last_cycle,omitempty"` // of this process
	Failed     int64    `json:"failed"`               // or timed out
	PerSecond  float64  `json:"sessions_per_second"`
	Elapsed    float64  `json:"elapsed_seconds"`
	Remaining  *float64 `json:"remaining_seconds,omitempty"`

	Limit      int       `json:"limit"`
	InFlight   int       `json:"in_flight"`
	Floor      int       `json:"floor"`
	Ceiling    int       `json:"ceiling"`
	Governor   string    `json:"governor,omitempty"`
	SteeredBy  string    `json:"steered_by,omitempty"`
	Steered    string    `json:"steered,omitempty"` // why, last
	SteeredAt  time.Time `json:"steered_at,omitzero"`
	Breaker    string    `json:"breaker"`
	BreakerWhy string    `json:"breaker_why,omitempty"`
	NextProbe  time.Time `json:"next_probe,omitzero"`

	Stall    *Stall    `json:"stall,omitempty"`
	Services []Service `json:"services,omitempty"`
	Budget   *Budget   `json:"budget,omitempty"`
	Oldest   []Doing   `json:"oldest,omitempty"`

	Checkpoints    int       `json:"checkpoints"`
	LastCheckpoint time.Time `json:"last_checkpoint,omitzero"`

	Sink        *Sink        `json:"sink,omitempty"`
	Connections *Connections `json:"connections,omitempty"` // to databases

	Health []Finding `json:"health,omitempty"`

	SimTime  time.Time        `json:"sim_time,omitzero"`
	Outcomes map[string]int64 `json:"outcomes,omitempty"`
	Requests int64            `json:"requests"`
	Retries  int64            `json:"retries"`
	Refused  int64            `json:"refused"` // 429s
	Events   int64            `json:"events"`
	Cut      int64            `json:"cut,omitempty"`
	Cost     float64          `json:"cost_dollars,omitempty"` // of models
	Latency  *Latency         `json:"latency_seconds,omitempty"`
	Speedup  *float64         `json:"speedup,omitempty"`
	Second   *Second          `json:"second,omitempty"`
	Errors   []Error          `json:"errors,omitempty"`
	Log      []Event          `json:"log,omitempty"` // the newest, oldest first
	Steps    []Step           `json:"steps,omitempty"`

	Overhead *Overhead `json:"overhead,omitempty"`
}

// Cycle is what came of a cycle.
type Cycle struct {
	Took       float64  `json:"seconds"`
	OK         int64    `json:"ok"`
	Failed     int64    `json:"failed"`
	TimedOut   int64    `json:"timeouts"`
	Parallel   int64    `json:"parallel_steps"`
	Sequential int64    `json:"sequential_steps"`
	StepErrors int64    `json:"step_errors"`
	Timeouts   int64    `json:"step_timeouts"`
	Speedup    *float64 `json:"speedup,omitempty"`
}

// NewCycle is nil before the first cycle has ended.
func NewCycle(c *engine.ClosedCycle) *Cycle {
	if c.Sessions == 0 && c.Took == 0 {
		return nil
	}
	w := &c.Work
	return &Cycle{
		c.Took.Seconds(), w.OK, w.Failed, w.TimedOut, w.Flow.Parallel, w.Flow.Sequential, w.Flow.Failed, w.Flow.TimedOut, finite(w.Speedup(c.Took)),
	}
}

// Sink is how the sending of results does.
type Sink struct {
	Target    string    `json:"target"` // host:port/database
	Connected bool      `json:"connected"`
	Error     string    `json:"error,omitempty"` // why rows are not sent
	Since     time.Time `json:"since,omitzero"`  // of the error
	Unsent    int64     `json:"unsent_rows"`     // which are kept
	SetAside  int64     `json:"refused_rows,omitempty"`
	Rate      int64     `json:"rows_per_second,omitempty"`
	Left      float64   `json:"left_seconds,omitempty"` // until all are there, at that rate
	Trouble   bool      `json:"trouble,omitempty"`
	Words     string    `json:"words"`
}

// Connections are Throng's to databases, and all of the server's.
type Connections struct {
	Open    int  `json:"open"`
	Size    int  `json:"size"` // may be open
	InUse   int  `json:"in_use"`
	Idle    int  `json:"idle"`
	Waiting int  `json:"waiting"`          // for one
	Server  *int `json:"server,omitempty"` // of all clients
	Max     *int `json:"server_max,omitempty"`
}

// newConnections is nil where there are none.
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

// Stall says that no session has ended for long.
type Stall struct {
	Since time.Time `json:"since"`
	Why   string    `json:"why"`
}

// Service is how one does.
type Service struct {
	Name       string    `json:"name"`
	Kind       string    `json:"kind"`
	InFlight   int       `json:"in_flight"`
	Bound      int       `json:"bound,omitempty"`
	Waiting    int       `json:"waiting,omitempty"`
	Rate       float64   `json:"rate,omitempty"` // requests per second that may start
	MaxRate    float64   `json:"max_rate,omitempty"`
	RateWhy    string    `json:"rate_why,omitempty"`
	Blocked    time.Time `json:"blocked_until,omitzero"`
	Refused    int64     `json:"refused"`
	Failures   int64     `json:"failures"`
	Breaker    string    `json:"breaker"`
	BreakerWhy string    `json:"breaker_why,omitempty"`
	NextProbe  time.Time `json:"next_probe,omitzero"`
	Exhausted  string    `json:"exhausted,omitempty"`
	Buckets    []Bucket  `json:"buckets,omitempty"`
}

// Bucket is a part of a service that is limited by itself.
type Bucket struct {
	Name      string    `json:"name"`
	Rate      float64   `json:"rate,omitempty"` // requests per second that may start
	MaxRate   float64   `json:"max_rate,omitempty"`
	RateWhy   string    `json:"rate_why,omitempty"`
	Blocked   time.Time `json:"blocked_until,omitzero"`
	Waiting   int       `json:"waiting,omitempty"`
	Refused   int64     `json:"refused"`
	Exhausted string    `json:"exhausted,omitempty"`
}

// Budget is how far one is used up; bounds that are 0 are none.
type Budget struct {
	Dollars      float64 `json:"dollars,omitempty"`
	Tokens       int64   `json:"tokens,omitempty"`
	Requests     int64   `json:"requests,omitempty"`
	WallSeconds  float64 `json:"wall_seconds,omitempty"`
	SpentDollars float64 `json:"spent_dollars"`
	SpentTokens  int64   `json:"spent_tokens"`
	SpentRequest int64   `json:"spent_requests"`
	Short        string  `json:"short,omitempty"`
}

// Doing is what a session in flight is at.
type Doing struct {
	Agent   int       `json:"agent"`
	Name    string    `json:"name,omitempty"`
	Began   time.Time `json:"began"`
	Path    string    `json:"path,omitempty"`
	Service string    `json:"service,omitempty"`
	Gate    string    `json:"gate,omitempty"`
	Since   time.Time `json:"since,omitzero"`
}

// Finding is a line of the run's health.
type Finding struct {
	Metric    string `json:"metric"`
	Level     string `json:"level"`
	Value     string `json:"value"`
	Threshold string `json:"threshold"`
	Advice    string `json:"advice,omitempty"`
}

// shownOldest is how many sessions in flight a status names.
const shownOldest = 20

// NewStatus tells how a run does, of a snapshot and of what was found of its health.
func NewStatus(title string, s *engine.Snapshot, health []health.Finding) *Status {
	st := &Status{
		Run: string(s.Run), Title: title, At: s.At.UTC(), Phase: s.Phase.String(), Reason: s.Reason, Ending: s.Ending.String(),
		Cycle: s.Cycle, Cycles: s.Cycles, Done: s.Ended, Total: s.Total, CycleDone: s.CycleEnded, CycleTotal: s.CycleTotal,
		CycleTook: s.CycleTook.Seconds(), LastCycle: NewCycle(&s.LastCycle),
		Failed: s.Outcomes[engine.Failed] + s.Outcomes[engine.TimedOut], PerSecond: s.PerSecond, Elapsed: s.Elapsed.Seconds(),
		Limit: s.Limit, InFlight: s.InFlight, Floor: s.Floor, Ceiling: s.Ceiling, Governor: s.Governor,
		SteeredBy: s.SteerBy, Steered: s.Steer, SteeredAt: s.Steered.UTC(), Breaker: s.Breaker.String(), BreakerWhy: s.BreakerWhy, NextProbe: s.NextProbe.UTC(),
		Checkpoints: s.Checkpoints, LastCheckpoint: s.LastCheckpoint.UTC(),
		SimTime: s.SimTime.UTC(), Outcomes: outcomes(s.Outcomes), Requests: s.Requests, Retries: s.Retries, Refused: s.RateLimited, Events: s.Events, Cut: s.Cut,
		Cost: float64(s.Usage.Cost) / 1e9, Latency: newLatency(&s.Latency), Speedup: finite(s.Speedup), Second: newSecond(&s.Metrics),
		Errors: NewErrors(s.Errors), Log: newEvents(s.Changes), Steps: newSteps(s.Steps),
	}
	if s.Remaining >= 0 {
		left := s.Remaining.Seconds()
		st.Remaining = &left
	}
	st.Unconfirmed = s.Labels[engine.Unconfirmed]
	if s.Inexact != nil {
		st.Inexact = s.Inexact.String()
	}
	if s.Stall != nil {
		st.Stall = &Stall{s.Stall.Since.UTC(), s.Stall.Why}
	}
	for i := range s.Services {
		st.Services = append(st.Services, newService(&s.Services[i]))
	}
	st.Budget, st.Connections = newBudget(&s.Budget), newConnections(&s.Metrics)
	for _, d := range s.Oldest[:min(len(s.Oldest), shownOldest)] {
		st.Oldest = append(st.Oldest, Doing{d.Agent, d.Name, d.Began.UTC(), d.Path, d.Service, d.Gate, d.Since.UTC()})
	}
	for _, f := range health {
		st.Health = append(st.Health, Finding{string(f.Metric), f.Level.String(), f.Value, f.Threshold, f.Advice})
	}
	return st
}

func newService(s *engine.ServiceState) Service {
	var buckets []Bucket
	for _, b := range s.Buckets {
		buckets = append(buckets, Bucket{b.Name, b.Rate, b.MaxRate, b.RateWhy, b.Blocked.UTC(), b.Waiting, b.Refused, b.Exhausted})
	}
	return Service{
		Buckets: buckets, Name: s.Name, Kind: s.Kind, InFlight: s.InFlight, Bound: s.Bound, Waiting: s.Waiting, Rate: s.Rate, MaxRate: s.MaxRate, RateWhy: s.RateWhy,
		Blocked: s.Blocked.UTC(), Refused: s.Refused, Failures: s.Failures, Breaker: s.Breaker.String(), BreakerWhy: s.BreakerWhy,
		NextProbe: s.NextProbe.UTC(), Exhausted: s.Exhausted,
	}
}

// newBudget is nil where nothing is bounded.
func newBudget(b *engine.BudgetState) *Budget {
	if b.Budget == (engine.Budget{}) {
		return nil
	}
	return &Budget{
		b.Budget.Dollars, b.Budget.Tokens, b.Budget.Requests, b.Budget.Wall.Seconds(),
		float64(b.Spent.Cost) / 1e9, b.Spent.Tokens, b.Spent.Requests, b.Short,
	}
}

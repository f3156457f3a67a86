package main

import (
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/control"
	"github.com/throng-sim/throng/engine"
)

// Events of the JSON lines that a run writes.
const (
	startedEvent  = "started"
	progressEvent = "progress"
	endedEvent    = "ended"
)

// startedJSON is the first line of a run.
type startedJSON struct {
	Event    string           `json:"event"`
	Run      engine.RunID     `json:"run"`
	Title    string           `json:"title"`
	Agents   int              `json:"agents"`
	Seed     uint64           `json:"seed"`
	Resumed  bool             `json:"resumed,omitempty"`
	Replay   engine.RunID     `json:"replay,omitempty"`
	Parent   engine.RunID     `json:"parent,omitempty"`
	Fork     int              `json:"fork_cycle,omitempty"`
	Forecast *engine.Forecast `json:"forecast,omitempty"`
}

func newStarted(job *app.Job, l *app.Launch) startedJSON {
	return startedJSON{
		startedEvent, job.Run.ID(), l.Scenario.Title, job.Agents, l.Settings.Seed, l.Resume != "", engine.RunID(job.Run.Settings().Replay),
		job.Record.Parent, job.Record.ForkCycle, job.Record.Forecast,
	}
}

// progressJSON is how far a run is.
type progressJSON struct {
	Event     string         `json:"event"`
	At        time.Time      `json:"at"`
	Run       engine.RunID   `json:"run"`
	Phase     string         `json:"phase"`
	Reason    string         `json:"reason,omitempty"`
	Cycle     int            `json:"cycle"`
	Cycles    int            `json:"cycles,omitempty"`
	Done      int64          `json:"done"`
	Total     int64          `json:"total,omitempty"`
	Failed    int64          `json:"failed"`
	Limit     int            `json:"limit"`
	InFlight  int            `json:"in_flight"`
	PerSecond float64        `json:"sessions_per_second"`
	P95       float64        `json:"latency_p95_seconds"`
	Mean      float64        `json:"latency_mean_seconds"`
	CycleTook float64        `json:"cycle_seconds"` // of the open one, so far
	LastCycle *control.Cycle `json:"last_cycle,omitempty"`
	Writes    float64        `json:"writes_per_second"`
	Requests  int64          `json:"requests"`
	Refused   int64          `json:"refused"`
	Dollars   float64        `json:"cost_dollars,omitempty"`
	Elapsed   float64        `json:"elapsed_seconds"`
	Remaining *float64       `json:"remaining_seconds,omitempty"`
}

func newProgressLine(s *engine.Snapshot) progressJSON {
	j := progressJSON{
		Event: progressEvent, At: utc(s.At), Run: s.Run, Phase: s.Phase.String(), Reason: s.Reason, Cycle: s.Cycle, Cycles: s.Cycles, Done: s.Ended, Total: s.Total,
		Failed: s.Outcomes[engine.Failed] + s.Outcomes[engine.TimedOut], Limit: s.Limit, InFlight: s.InFlight, PerSecond: s.PerSecond,
		P95: s.Latency.P95.Seconds(), Mean: s.Latency.Mean.Seconds(), CycleTook: s.CycleTook.Seconds(), LastCycle: control.NewCycle(&s.LastCycle),
		Writes: s.Metrics.WritesPerSec, Requests: s.Requests, Refused: s.RateLimited, Dollars: float64(s.Usage.Cost) / 1e9, Elapsed: s.Elapsed.Seconds(),
	}
	if s.Remaining >= 0 {
		left := s.Remaining.Seconds()
		j.Remaining = &left
	}
	return j
}

// endedJSON is the last line of a run.
type endedJSON struct {
	Event  string       `json:"event"`
	Run    engine.RunID `json:"run"`
	Ending string       `json:"ending"`
	Reason string       `json:"reason,omitempty"`
	Code   int          `json:"exit_code"`
	Passed bool         `json:"passed"`
	Exact  bool         `json:"exact"`
	Result string       `json:"result"` // since when it is not exact, in words
	// Unconfirmed counts changing requests that may have been carried out twice.
	Unconfirmed int64            `json:"unconfirmed"`
	Elapsed     float64          `json:"elapsed_seconds"`
	Sessions    int64            `json:"sessions"`
	Outcomes    map[string]int64 `json:"outcomes"`
	Cut         int64            `json:"cut"` // run again on resume
	Requests    int64            `json:"requests"`
	Retries     int64            `json:"retries"`
	Refused     int64            `json:"refused"`
	Events      int64            `json:"events"`
	Dollars     float64          `json:"cost_dollars"`
	Latency     latencyJSON      `json:"latency_seconds"`
	Errors      []control.Error  `json:"errors"`
	Criteria    []judgementJSON  `json:"criteria"`
	Target      string           `json:"database,omitempty"` // that the results go to
	Exported    string           `json:"exported_to,omitempty"`
	GoOn        string           `json:"go_on,omitempty"` // the command
}

type latencyJSON struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P95  float64 `json:"p95"`
	P99  float64 `json:"p99"`
	Max  float64 `json:"max"`
}

// judgementJSON is a criterion after the run; Passed is nil where the figure could not be had.
type judgementJSON struct {
	Metric string `json:"metric"`
	Text   string `json:"text"`
	Shown  string `json:"shown"`
	Passed *bool  `json:"passed"`
}

func newEnded(job *app.Job, r *engine.Result) *endedJSON {
	s := job.Run.Snapshot()
	q := &s.Latency
	j := &endedJSON{
		Event: endedEvent, Run: job.Run.ID(), Ending: r.Ending.String(), Reason: r.Reason, Passed: r.Passed(), Exact: s.Inexact == nil, Result: s.Inexact.String(),
		Unconfirmed: s.Labels[engine.Unconfirmed],
		Elapsed:     s.Elapsed.Seconds(), Sessions: s.Ended, Outcomes: map[string]int64{}, Cut: s.Cut, Requests: s.Requests, Retries: s.Retries, Refused: s.RateLimited,
		Events: s.Events, Dollars: float64(s.Usage.Cost) / 1e9, Target: job.Target,
		Latency: latencyJSON{q.Mean.Seconds(), q.P50.Seconds(), q.P95.Seconds(), q.P99.Seconds(), q.Max.Seconds()},
		Errors:  append([]control.Error{}, control.NewErrors(s.Errors)...), Criteria: []judgementJSON{},
	}
	for o, n := range s.Outcomes {
		j.Outcomes[o.String()] = n
	}
	for i := range r.Verdict {
		v := &r.Verdict[i]
		one := judgementJSON{Metric: v.Criterion.Metric, Text: v.Criterion.Text, Shown: v.Shown}
		if !v.Unknown {
			one.Passed = &v.Passed
		}
		j.Criteria = append(j.Criteria, one)
	}
	switch r.Ending {
	case engine.EndFinished:
	case engine.EndHopeless:
		j.GoOn = app.Again(endedRecord(job, r))
	default:
		j.GoOn = "throngctl resume " + string(job.Run.ID())
	}
	return j
}

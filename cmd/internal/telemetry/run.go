package telemetry

import (
	"cmp"
	"math"
	"strconv"
	"time"

	"github.com/throng-sim/throng/engine"
)

const idle = "idle"

var (
	phases   = append([]string{idle}, texts(engine.Preparing, engine.Running, engine.Paused, engine.Draining, engine.Ended)...)
	endings  = texts(engine.EndFinished, engine.EndStopped, engine.EndFailed, engine.EndOutOfBudget, engine.EndHopeless)
	breakers = texts(engine.BreakerClosed, engine.BreakerHalfOpen, engine.BreakerOpen)
	outcomes = []engine.Outcome{engine.OK, engine.Stopped, engine.Failed, engine.TimedOut, engine.Canceled}
)

// ofProgress are the metrics of the run as a whole.
var ofProgress = []Metric{
	{
		Name: "throng_build_info", Kind: Gauge, Labels: []string{"version"}, Help: "Always 1; the version of Throng.", idle: true,
		read: func(v *view) []sample { return []sample{labeled(1, v.version)} },
	},
	{
		Name: "throng_run_info", Kind: Gauge, Labels: []string{"run", "scenario", "seed"}, Help: "Always 1; the run of the other metrics.",
		read: func(v *view) []sample {
			return []sample{labeled(1, string(v.run.ID), v.run.Title, strconv.FormatUint(v.run.Seed, 10))}
		},
	},
	{
		Name: "throng_run_phase", Kind: Gauge, Labels: []string{"phase"}, Help: "1 for the phase of the run, 0 for the others; idle before the first run.", idle: true,
		read: func(v *view) []sample {
			if v.s == nil {
				return stateSet(idle, phases)
			}
			return stateSet(v.s.Phase.String(), phases)
		},
	},
	several(Gauge, "throng_run_ending", []string{"ending"}, "1 for the ending of the run, 0 for the others; all 0 before the end.", func(s *engine.Snapshot) []sample {
		return stateSet(texts(s.Ending)[0], endings)
	}),
	{
		Name: "throng_agents", Kind: Gauge, Help: "Active agents.",
		read: func(v *view) []sample { return []sample{{value: float64(v.run.Agents)}} },
	},
	one(Gauge, "throng_cycle", "Current cycle, from 0.", func(s *engine.Snapshot) float64 { return float64(s.Cycle) }),
	one(Gauge, "throng_cycles_planned", "Planned number of cycles; missing if the run ends by time.", func(s *engine.Snapshot) float64 { return given(s.Cycles) }),
	one(Gauge, "throng_run_elapsed_seconds", "Wall time of the run so far, over all processes that executed it.", func(s *engine.Snapshot) float64 { return s.Elapsed.Seconds() }),
	one(Gauge, "throng_run_remaining_seconds", "Estimated wall time until the end of the run; missing if unknown.", func(s *engine.Snapshot) float64 {
		return known(s.Remaining.Seconds())
	}),
	one(Gauge, "throng_schedule_lag_seconds", "How far the run is behind its schedule.", func(s *engine.Snapshot) float64 { return s.Lag.Seconds() }),
	one(Gauge, "throng_run_exact", "1 while the result does not depend on timing.", func(s *engine.Snapshot) float64 { return truth(s.Inexact == nil) }),
	several(Gauge, "throng_run_breaker_state", []string{"state"}, "1 for the state of the run's circuit breaker, 0 for the others; while it is open, no session starts.", func(s *engine.Snapshot) []sample {
		return stateSet(s.Breaker.String(), breakers)
	}),
	one(Gauge, "throng_run_stalled", "1 while sessions are in flight but none has ended for a long time.", func(s *engine.Snapshot) float64 { return truth(s.Stall != nil) }),
}

// ofSessions are the metrics of sessions.
var ofSessions = []Metric{
	several(Counter, "throng_sessions_total", []string{"outcome"}, "Sessions that ended, by outcome.", func(s *engine.Snapshot) (all []sample) {
		for _, o := range outcomes {
			all = append(all, labeled(float64(s.Outcomes[o]), o.String()))
		}
		return all
	}),
	one(Gauge, "throng_sessions_planned", "Planned number of sessions; missing if unknown.", func(s *engine.Snapshot) float64 { return given(s.Total) }),
	column("agents_shopped"),
	several(Counter, "throng_session_errors_total", []string{"class"}, "Sessions that failed or timed out, by error class.", func(s *engine.Snapshot) (all []sample) {
		counts := map[engine.Class]int64{}
		for i := range s.Errors {
			counts[s.Errors[i].Class] = s.Errors[i].Count
		}
		for _, c := range engine.Classes() {
			all = append(all, labeled(float64(counts[c]), c.String()))
		}
		return all
	}),
	one(Counter, "throng_events_total", "Events that sessions emitted.", func(s *engine.Snapshot) float64 { return float64(s.Events) }),
	{
		Name: "throng_session_duration_seconds", Kind: Histogram, Help: "Time from start to end of sessions.",
		read: func(v *view) []sample { return []sample{{spread: &v.s.Durations}} },
	},
	quantilesOf("throng_session_queued_seconds", "Time sessions were queued for the concurrency limit, over the whole run.", func(s *engine.Snapshot) (*engine.Quantiles, time.Duration) {
		return &s.Queue, s.QueueSum
	}),
	quantilesOf("throng_session_throttled_seconds", "Time the requests of sessions were throttled, over the whole run.", func(s *engine.Snapshot) (*engine.Quantiles, time.Duration) {
		return &s.Throttled, s.ThrottledSum
	}),
	several(Gauge, "throng_session_time_ratio", []string{"purpose"}, "Fraction of the session time spent on a purpose, over the whole run; journal and engine are Throng's overhead.", func(s *engine.Snapshot) (all []sample) {
		for _, p := range engine.Purposes() {
			if share := s.Overhead.Times.Share(p); !math.IsNaN(share) {
				all = append(all, labeled(share, texts(p)[0]))
			}
		}
		return all
	}),
	several(Counter, "throng_throttled_seconds_total", []string{"cause"}, "Time for which requests were throttled, summed over all sessions, by cause.", func(s *engine.Snapshot) (all []sample) {
		for _, g := range engine.ThrottleCauses() {
			all = append(all, labeled(s.Waits[g].Seconds(), g.String()))
		}
		return all
	}),
}

// ofConcurrency are the metrics of the concurrency limit and its governors.
var ofConcurrency = []Metric{
	one(Gauge, "throng_sessions_in_flight", "Sessions in flight.", func(s *engine.Snapshot) float64 { return float64(s.InFlight) }),
	one(Gauge, "throng_sessions_limit", "Concurrency limit.", func(s *engine.Snapshot) float64 { return float64(s.Limit) }),
	one(Gauge, "throng_sessions_limit_floor", "Minimum of the concurrency limit for governors.", func(s *engine.Snapshot) float64 { return float64(s.Floor) }),
	one(Gauge, "throng_sessions_limit_ceiling", "Maximum of the concurrency limit for governors.", func(s *engine.Snapshot) float64 { return float64(s.Ceiling) }),
	several(Gauge, "throng_governor_binds", []string{"governor"}, "1 for the governor that determines the limit, 0 for the others.", func(s *engine.Snapshot) []sample {
		var names []string
		for _, g := range engine.Governors {
			if g.Name != engine.Adaptive { // it combines the others
				names = append(names, g.Name)
			}
		}
		return stateSet(cmp.Or(s.Binds, engine.Manual), names)
	}),
}

// ofModels are the metrics of model calls and of the budget.
var ofModels = []Metric{
	one(Counter, "throng_model_calls_total", "Answered model calls.", func(s *engine.Snapshot) float64 { return float64(s.Usage.Calls) }),
	several(Counter, "throng_model_tokens_total", []string{"direction"}, "Tokens of model calls, by direction.", func(s *engine.Snapshot) []sample {
		return []sample{labeled(float64(s.Usage.Input), "input"), labeled(float64(s.Usage.Output), "output")}
	}),
	one(Counter, "throng_model_cached_tokens_total", "Input tokens of model calls that the provider read from its cache.", func(s *engine.Snapshot) float64 {
		return float64(s.Usage.Cached)
	}),
	one(Counter, "throng_model_cost_dollars_total", "Cost of model calls in US dollars, as far as prices are known.", func(s *engine.Snapshot) float64 {
		return float64(s.Usage.Cost) / 1e9
	}),
	one(Counter, "throng_model_unpriced_calls_total", "Model calls without a known price.", func(s *engine.Snapshot) float64 { return float64(s.Usage.Unpriced) }),
	one(Gauge, "throng_model_cached_answers", "Steps that reused a shared answer of the run.", func(s *engine.Snapshot) float64 { return float64(max(s.Usage.Hits, 0)) }),
	several(Gauge, "throng_budget_used_ratio", []string{"limit"}, "Used fraction of each limit of the budget; missing for limits that are not set.", func(s *engine.Snapshot) (all []sample) {
		b, spent := &s.Budget.Budget, &s.Budget.Spent
		for _, of := range []struct {
			name       string
			used, most float64
		}{
			{"dollars", float64(spent.Cost) / 1e9, b.Dollars},
			{"tokens", float64(spent.Tokens), float64(b.Tokens)},
			{"requests", float64(spent.Requests), float64(b.Requests)},
			{"time", s.Elapsed.Seconds(), b.Wall.Seconds()},
		} {
			if of.most > 0 {
				all = append(all, labeled(of.used/of.most, of.name))
			}
		}
		return all
	}),
}

// unixSeconds returns a time in seconds since 1970; NaN for the zero time.
func unixSeconds(at time.Time) float64 {
	if at.IsZero() {
		return math.NaN()
	}
	return float64(at.UnixMicro()) / 1e6
}

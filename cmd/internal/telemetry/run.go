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
	outcomes = []engine.Outcome{engine.OK, engine.Stopped, engine.Failed, engine.TimedOut, engine.Cancelled}
)

// ofProgress are the figures of the run as a whole.
var ofProgress = []Metric{
	{
		Name: "throng_build_info", Kind: Gauge, Labels: []string{"version"}, Help: "Always 1; the version of Throng.", idle: true,
		read: func(v *view) []sample { return []sample{labelled(1, v.version)} },
	},
	{
		Name: "throng_run_info", Kind: Gauge, Labels: []string{"run", "scenario", "seed"}, Help: "Always 1; which run the other figures are of.",
		read: func(v *view) []sample {
			return []sample{labelled(1, string(v.run.ID), v.run.Title, strconv.FormatUint(v.run.Seed, 10))}
		},
	},
	{
		Name: "throng_run_phase", Kind: Gauge, Labels: []string{"phase"}, Help: "1 for what the run is doing, 0 for the rest; idle is that there was no run yet.", idle: true,
		read: func(v *view) []sample {
			if v.s == nil {
				return stateSet(idle, phases)
			}
			return stateSet(v.s.Phase.String(), phases)
		},
	},
	several(Gauge, "throng_run_ending", []string{"ending"}, "1 for how the run ended, 0 for the rest; all are 0 until then.", func(s *engine.Snapshot) []sample {
		return stateSet(texts(s.Ending)[0], endings)
	}),
	{
		Name: "throng_agents", Kind: Gauge, Help: "Agents that take part.",
		read: func(v *view) []sample { return []sample{{value: float64(v.run.Agents)}} },
	},
	one(Gauge, "throng_cycle", "The open cycle, from 0.", func(s *engine.Snapshot) float64 { return float64(s.Cycle) }),
	one(Gauge, "throng_cycles_planned", "Length of the run in cycles; missing where it ends by the clock.", func(s *engine.Snapshot) float64 { return given(s.Cycles) }),
	one(Gauge, "throng_run_elapsed_seconds", "Wall time of the run so far, of all processes that worked on it.", func(s *engine.Snapshot) float64 { return s.Elapsed.Seconds() }),
	one(Gauge, "throng_run_remaining_seconds", "Estimate of the wall time until the run's end; missing while there is none.", func(s *engine.Snapshot) float64 {
		return known(s.Remaining.Seconds())
	}),
	one(Gauge, "throng_schedule_lag_seconds", "How far the run is behind its schedule.", func(s *engine.Snapshot) float64 { return s.Lag.Seconds() }),
	one(Gauge, "throng_run_exact", "1 while the result does not depend on timing.", func(s *engine.Snapshot) float64 { return truth(s.Inexact == nil) }),
	several(Gauge, "throng_run_breaker_state", []string{"state"}, "1 for the state of the run's breaker, 0 for the rest; while it is open no session starts.", func(s *engine.Snapshot) []sample {
		return stateSet(s.Breaker.String(), breakers)
	}),
	one(Gauge, "throng_run_stalled", "1 while sessions are in flight and none has ended for long.", func(s *engine.Snapshot) float64 { return truth(s.Stall != nil) }),
}

// ofSessions are the figures of sessions.
var ofSessions = []Metric{
	several(Counter, "throng_sessions_total", []string{"outcome"}, "Sessions that ended, by outcome.", func(s *engine.Snapshot) (all []sample) {
		for _, o := range outcomes {
			all = append(all, labelled(float64(s.Outcomes[o]), o.String()))
		}
		return all
	}),
	one(Gauge, "throng_sessions_planned", "Sessions that the run will have; missing where that is not known.", func(s *engine.Snapshot) float64 { return given(s.Total) }),
	column("agents_shopped"),
	several(Counter, "throng_session_errors_total", []string{"class"}, "Sessions that failed or timed out, by class of the error.", func(s *engine.Snapshot) (all []sample) {
		counts := map[engine.Class]int64{}
		for i := range s.Errors {
			counts[s.Errors[i].Class] = s.Errors[i].Count
		}
		for _, c := range engine.Classes() {
			all = append(all, labelled(float64(counts[c]), c.String()))
		}
		return all
	}),
	one(Counter, "throng_events_total", "Events that sessions emitted.", func(s *engine.Snapshot) float64 { return float64(s.Events) }),
	{
		Name: "throng_session_duration_seconds", Kind: Histogram, Help: "How long sessions took from their start to their end.",
		read: func(v *view) []sample { return []sample{{spread: &v.s.Durations}} },
	},
	quantilesOf("throng_session_queued_seconds", "How long sessions waited for a place, over the whole run.", func(s *engine.Snapshot) (*engine.Quantiles, time.Duration) {
		return &s.Queue, s.QueueSum
	}),
	quantilesOf("throng_session_throttled_seconds", "How long rates, bounds and refusals held the requests of sessions back, over the whole run.", func(s *engine.Snapshot) (*engine.Quantiles, time.Duration) {
		return &s.Held, s.HeldSum
	}),
	several(Gauge, "throng_session_time_ratio", []string{"purpose"}, "Share of the sessions' time that went to a purpose, over the whole run; journal and engine are Throng's own.", func(s *engine.Snapshot) (all []sample) {
		for _, p := range engine.Purposes() {
			if share := s.Overhead.Times.Share(p); !math.IsNaN(share) {
				all = append(all, labelled(share, texts(p)[0]))
			}
		}
		return all
	}),
	several(Counter, "throng_throttled_seconds_total", []string{"cause"}, "Time for which requests were throttled, summed over all sessions, by cause.", func(s *engine.Snapshot) (all []sample) {
		for _, g := range engine.Gates() {
			all = append(all, labelled(s.Waits[g].Seconds(), g.String()))
		}
		return all
	}),
}

// ofConcurrency are the limit and who moves it.
var ofConcurrency = []Metric{
	one(Gauge, "throng_sessions_in_flight", "Sessions in flight.", func(s *engine.Snapshot) float64 { return float64(s.InFlight) }),
	one(Gauge, "throng_sessions_limit", "Sessions that may be in flight.", func(s *engine.Snapshot) float64 { return float64(s.Limit) }),
	one(Gauge, "throng_sessions_limit_floor", "What a governor leaves at least.", func(s *engine.Snapshot) float64 { return float64(s.Floor) }),
	one(Gauge, "throng_sessions_limit_ceiling", "What a governor allows at most.", func(s *engine.Snapshot) float64 { return float64(s.Ceiling) }),
	several(Gauge, "throng_governor_binds", []string{"governor"}, "1 for the governor that holds the limit, 0 for the rest.", func(s *engine.Snapshot) []sample {
		var names []string
		for _, g := range engine.Governors {
			if g.Name != engine.Adaptive { // it is all of the others
				names = append(names, g.Name)
			}
		}
		return stateSet(cmp.Or(s.Binds, engine.Manual), names)
	}),
}

// ofModels are the figures of calls of models, and of the budget.
var ofModels = []Metric{
	one(Counter, "throng_model_calls_total", "Calls of models that were answered.", func(s *engine.Snapshot) float64 { return float64(s.Usage.Calls) }),
	several(Counter, "throng_model_tokens_total", []string{"direction"}, "Tokens of models: input is what was asked, output what was answered.", func(s *engine.Snapshot) []sample {
		return []sample{labelled(float64(s.Usage.Input), "input"), labelled(float64(s.Usage.Output), "output")}
	}),
	one(Counter, "throng_model_cost_dollars_total", "What calls of models cost in US dollars, as far as their prices are known.", func(s *engine.Snapshot) float64 {
		return float64(s.Usage.Cost) / 1e9
	}),
	one(Counter, "throng_model_unpriced_calls_total", "Calls of models whose price nobody knows.", func(s *engine.Snapshot) float64 { return float64(s.Usage.Unpriced) }),
	one(Gauge, "throng_model_cached_answers", "Steps that took an answer which the run had already.", func(s *engine.Snapshot) float64 { return float64(max(s.Usage.Hits, 0)) }),
	several(Gauge, "throng_budget_used_ratio", []string{"bound"}, "Share of a bound of the budget that is used up; missing for bounds that there are not.", func(s *engine.Snapshot) (all []sample) {
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
				all = append(all, labelled(of.used/of.most, of.name))
			}
		}
		return all
	}),
}

// unixSeconds is a moment as Prometheus has it; NaN is none.
func unixSeconds(at time.Time) float64 {
	if at.IsZero() {
		return math.NaN()
	}
	return float64(at.UnixMicro()) / 1e6
}

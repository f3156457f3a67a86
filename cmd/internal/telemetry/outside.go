package telemetry

import (
	"math"

	"github.com/throng-sim/throng/engine"
)

// mostSteps is how many steps have figures of their own: the first by name. What the others did is told together.
const (
	mostSteps  = 200
	otherSteps = "(others)"
)

var (
	replies  = []engine.Reply{engine.NoReply, engine.Reply2xx, engine.Reply3xx, engine.Reply4xx, engine.ReplyRefused, engine.Reply5xx}
	statuses = []engine.StepStatus{engine.StepOK, engine.StepFailed, engine.StepTimedOut, engine.StepSkipped, engine.StepCancelled}
)

// ofServices are the figures of requests and of the services that they go to.
var ofServices = []Metric{
	one(Counter, "throng_requests_total", "Attempts at requests of the run, 429s left out.", func(s *engine.Snapshot) float64 { return float64(s.Requests) }),
	one(Counter, "throng_retries_total", "Attempts of the run that were not a request's first.", func(s *engine.Snapshot) float64 { return float64(s.Retries) }),
	one(Counter, "throng_rate_limited_total", "429s that the run was answered.", func(s *engine.Snapshot) float64 { return float64(s.RateLimited) }),
	several(Counter, "throng_service_responses_total", []string{"service", "code"}, "What attempts were answered, of this process; none is no answer, what a database did counts as 2xx.", func(s *engine.Snapshot) (all []sample) {
		each(s, func(of *engine.ServiceState) {
			for _, r := range replies {
				all = append(all, labelled(float64(of.Replies[r]), of.Name, r.String()))
			}
		})
		return all
	}),
	perService(Counter, "throng_service_retries_total", "Attempts that were not a request's first, of this process.", func(of *engine.ServiceState) float64 { return float64(of.Retries) }),
	perService(Counter, "throng_service_failures_total", "Attempts that failed for the service's sake, of this process.", func(of *engine.ServiceState) float64 { return float64(of.Failures) }),
	perService(Gauge, "throng_service_calls_in_flight", "Calls under way.", func(of *engine.ServiceState) float64 { return float64(of.InFlight) }),
	perService(Gauge, "throng_service_calls_limit", "Calls that may be under way.", func(of *engine.ServiceState) float64 { return given(of.Bound) }),
	perService(Gauge, "throng_service_calls_waiting", "Calls that wait for a place or their turn.", func(of *engine.ServiceState) float64 { return float64(of.Waiting) }),
	perService(Gauge, "throng_service_pace", "Requests a second that the rate limiter lets start; missing where it lets all.", func(of *engine.ServiceState) float64 { return given(of.Rate) }),
	several(Gauge, "throng_service_breaker_state", []string{"service", "state"}, "1 for the state of the service's breaker, 0 for the rest.", func(s *engine.Snapshot) (all []sample) {
		each(s, func(of *engine.ServiceState) { all = append(all, stateSet(of.Breaker.String(), breakers, of.Name)...) })
		return all
	}),
}

// perService is a figure of each service; NaN is that it is not known.
func perService(kind Kind, name, help string, of func(of *engine.ServiceState) float64) Metric {
	return several(kind, name, []string{"service"}, help, func(s *engine.Snapshot) (all []sample) {
		each(s, func(one *engine.ServiceState) {
			if value := of(one); !math.IsNaN(value) {
				all = append(all, labelled(value, one.Name))
			}
		})
		return all
	})
}

func each(s *engine.Snapshot, f func(of *engine.ServiceState)) {
	for i := range s.Services {
		f(&s.Services[i])
	}
}

// ofSteps are the figures of the chain's steps, all iterations together.
var ofSteps = []Metric{
	several(Counter, "throng_step_runs_total", []string{"step", "status"}, "How often a step ended so.", func(s *engine.Snapshot) (all []sample) {
		shown, others := split(s.Steps)
		for i := range shown {
			for _, status := range statuses {
				all = append(all, labelled(float64(shown[i].Statuses[status]), shown[i].Path, status.String()))
			}
		}
		for _, status := range statuses {
			if len(others) > 0 {
				all = append(all, labelled(total(others, func(f *engine.StepFigures) int64 { return f.Statuses[status] }), otherSteps, status.String()))
			}
		}
		return all
	}),
	perStep("throng_step_requests_total", "Attempts at requests of a step, 429s left out.", func(f *engine.StepFigures) int64 { return f.Requests }),
	perStep("throng_step_retries_total", "Attempts of a step that were not a request's first.", func(f *engine.StepFigures) int64 { return f.Retries }),
	perStep("throng_step_rate_limited_total", "429s that a step was answered.", func(f *engine.StepFigures) int64 { return f.RateLimited }),
	several(Summary, "throng_step_duration_seconds", []string{"step"}, "Time that a step or its service used, over the whole run.", func(s *engine.Snapshot) (all []sample) {
		shown, _ := split(s.Steps)
		for i := range shown {
			all = append(all, sample{labels: []string{shown[i].Path}, quantiles: &shown[i].Service, sum: shown[i].Sum})
		}
		return all
	}),
}

// split are the steps that have figures of their own, and the others.
func split(steps []engine.StepFigures) (shown, others []engine.StepFigures) {
	n := min(len(steps), mostSteps)
	return steps[:n], steps[n:]
}

func total(steps []engine.StepFigures, of func(f *engine.StepFigures) int64) (sum float64) {
	for i := range steps {
		sum += float64(of(&steps[i]))
	}
	return sum
}

// perStep is a count of each step.
func perStep(name, help string, of func(f *engine.StepFigures) int64) Metric {
	return several(Counter, name, []string{"step"}, help, func(s *engine.Snapshot) (all []sample) {
		shown, others := split(s.Steps)
		for i := range shown {
			all = append(all, labelled(float64(of(&shown[i])), shown[i].Path))
		}
		if len(others) > 0 {
			all = append(all, labelled(total(others, of), otherSteps))
		}
		return all
	})
}

// ofMachine are the figures of the machine and of this process.
var ofMachine = []Metric{
	column("cpu_percent"),
	column("process_cpu_percent"),
	column("collector_cpu_percent"),
	column("memory_mb"),
	column("available_memory_mb"),
	one(Gauge, "throng_machine_memory_size_bytes", "Memory of the machine.", func(s *engine.Snapshot) float64 { return given(s.Metrics.Host.MemoryTotal) }),
	column("disk_free_mb"),
	column("core_wait_p99_ms"),
	column("late_ms"),
}

// ofStorage are the figures of checkpoints and of databases.
var ofStorage = []Metric{
	one(Counter, "throng_checkpoints_total", "Checkpoints taken.", func(s *engine.Snapshot) float64 { return float64(s.Checkpoints) }),
	one(Gauge, "throng_checkpoint_last_timestamp_seconds", "When the newest checkpoint was taken, since 1970; missing before the first of this process.", func(s *engine.Snapshot) float64 {
		return unixSeconds(s.LastCheckpoint)
	}),
	one(Gauge, "throng_checkpoint_last_duration_seconds", "How long the newest checkpoint took, while sessions went on.", func(s *engine.Snapshot) float64 {
		return given(s.CheckpointTook.Seconds())
	}),
	column("db_connections"),
	several(Gauge, "throng_database_pool_connections", []string{"state"}, "Connections to remote databases: in use, idle, and statements that wait for one.", func(s *engine.Snapshot) []sample {
		p := &s.Metrics.Pool
		if *p == (engine.Pool{}) {
			return nil
		}
		return []sample{labelled(float64(p.InUse), "in_use"), labelled(float64(p.Idle), "idle"), labelled(float64(p.Waiting), "waiting")}
	}),
	column("db_server_connections"),
	column("db_max_connections"),
	column("writes_per_sec"),
	column("unsent_rows"),
	one(Gauge, "throng_outbox_age_seconds", "For how long there were such rows at all times; missing without a remote database.", func(s *engine.Snapshot) float64 {
		switch {
		case s.Metrics.Unsent < 0:
			return math.NaN()
		case s.UnsentSince.IsZero():
			return 0
		}
		return max(s.At.Sub(s.UnsentSince).Seconds(), 0)
	}),
}

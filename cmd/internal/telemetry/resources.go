package telemetry

import (
	"math"

	"github.com/throng-sim/throng/engine"
)

// mostSteps is the number of steps with metrics of their own, the first by name. The metrics of all other steps are added
// up.
const (
	mostSteps  = 200
	otherSteps = "(others)"
)

var (
	replies  = []engine.Reply{engine.NoReply, engine.Reply2xx, engine.Reply3xx, engine.Reply4xx, engine.ReplyRefused, engine.Reply5xx}
	statuses = []engine.StepStatus{engine.StepOK, engine.StepFailed, engine.StepTimedOut, engine.StepSkipped, engine.StepCanceled}
)

// ofServices are the metrics of requests and services.
var ofServices = []Metric{
	one(Counter, "throng_requests_total", "Attempts of requests, without those answered by 429.", func(s *engine.Snapshot) float64 { return float64(s.Requests) }),
	one(Counter, "throng_retries_total", "Attempts after the first of a request.", func(s *engine.Snapshot) float64 { return float64(s.Retries) }),
	one(Counter, "throng_rate_limited_total", "Answers with status 429.", func(s *engine.Snapshot) float64 { return float64(s.RateLimited) }),
	several(Counter, "throng_service_responses_total", []string{"service", "code"}, "Answers by status code, in this process; code none without an answer, and a successful database query counts as 2xx.", func(s *engine.Snapshot) (all []sample) {
		each(s, func(of *engine.ServiceState) {
			for _, r := range replies {
				all = append(all, labeled(float64(of.Replies[r]), of.Name, r.String()))
			}
		})
		return all
	}),
	perService(Counter, "throng_service_retries_total", "Attempts after the first of a request, in this process.", func(of *engine.ServiceState) float64 { return float64(of.Retries) }),
	perService(Counter, "throng_service_failures_total", "Attempts that failed because of the service, in this process.", func(of *engine.ServiceState) float64 { return float64(of.Failures) }),
	perService(Gauge, "throng_service_calls_in_flight", "Calls in flight.", func(of *engine.ServiceState) float64 { return float64(of.InFlight) }),
	perService(Gauge, "throng_service_calls_limit", "Limit of calls in flight.", func(of *engine.ServiceState) float64 { return given(of.Bound) }),
	perService(Gauge, "throng_service_calls_waiting", "Calls that wait for the limit or the rate limiter.", func(of *engine.ServiceState) float64 { return float64(of.Waiting) }),
	perService(Gauge, "throng_service_rate_limit", "Current rate of the rate limiter in requests per second; missing without a limit.", func(of *engine.ServiceState) float64 { return given(of.Rate) }),
	several(Gauge, "throng_service_breaker_state", []string{"service", "state"}, "1 for the state of the service's circuit breaker, 0 for the others.", func(s *engine.Snapshot) (all []sample) {
		each(s, func(of *engine.ServiceState) { all = append(all, stateSet(of.Breaker.String(), breakers, of.Name)...) })
		return all
	}),
}

// perService returns a metric with one sample per service; NaN is unknown.
func perService(kind Kind, name, help string, of func(of *engine.ServiceState) float64) Metric {
	return several(kind, name, []string{"service"}, help, func(s *engine.Snapshot) (all []sample) {
		each(s, func(one *engine.ServiceState) {
			if value := of(one); !math.IsNaN(value) {
				all = append(all, labeled(value, one.Name))
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

// ofSteps are the metrics of steps, over all iterations.
var ofSteps = []Metric{
	several(Counter, "throng_step_runs_total", []string{"step", "status"}, "Executions of a step, by status.", func(s *engine.Snapshot) (all []sample) {
		shown, others := split(s.Steps)
		for i := range shown {
			for _, status := range statuses {
				all = append(all, labeled(float64(shown[i].Statuses[status]), shown[i].Path, status.String()))
			}
		}
		for _, status := range statuses {
			if len(others) > 0 {
				all = append(all, labeled(total(others, func(f *engine.StepFigures) int64 { return f.Statuses[status] }), otherSteps, status.String()))
			}
		}
		return all
	}),
	perStep("throng_step_requests_total", "Attempts of requests of a step, without those answered by 429.", func(f *engine.StepFigures) int64 { return f.Requests }),
	perStep("throng_step_retries_total", "Attempts of a step after the first of a request.", func(f *engine.StepFigures) int64 { return f.Retries }),
	perStep("throng_step_rate_limited_total", "Answers with status 429 to a step.", func(f *engine.StepFigures) int64 { return f.RateLimited }),
	several(Summary, "throng_step_duration_seconds", []string{"step"}, "Time used by a step or its service, over the whole run.", func(s *engine.Snapshot) (all []sample) {
		shown, _ := split(s.Steps)
		for i := range shown {
			all = append(all, sample{labels: []string{shown[i].Path}, quantiles: &shown[i].Service, sum: shown[i].Sum})
		}
		return all
	}),
}

// split returns the steps with metrics of their own, and the others.
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

// perStep returns a counter with one sample per step.
func perStep(name, help string, of func(f *engine.StepFigures) int64) Metric {
	return several(Counter, name, []string{"step"}, help, func(s *engine.Snapshot) (all []sample) {
		shown, others := split(s.Steps)
		for i := range shown {
			all = append(all, labeled(float64(of(&shown[i])), shown[i].Path))
		}
		if len(others) > 0 {
			all = append(all, labeled(total(others, of), otherSteps))
		}
		return all
	})
}

// ofMachine are the metrics of the machine and of this process.
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

// ofStorage are the metrics of checkpoints and databases.
var ofStorage = []Metric{
	one(Counter, "throng_checkpoints_total", "Checkpoints taken.", func(s *engine.Snapshot) float64 { return float64(s.Checkpoints) }),
	one(Gauge, "throng_checkpoint_last_timestamp_seconds", "Time of the newest checkpoint, in seconds since 1970; missing before the first checkpoint of this process.", func(s *engine.Snapshot) float64 {
		return unixSeconds(s.LastCheckpoint)
	}),
	one(Gauge, "throng_checkpoint_last_duration_seconds", "Time that the newest checkpoint took, while sessions kept running.", func(s *engine.Snapshot) float64 {
		return given(s.CheckpointTook.Seconds())
	}),
	column("db_connections"),
	several(Gauge, "throng_database_pool_connections", []string{"state"}, "Connections to remote databases: in use, idle, and waiting statements.", func(s *engine.Snapshot) []sample {
		p := &s.Metrics.Pool
		if *p == (engine.Pool{}) {
			return nil
		}
		return []sample{labeled(float64(p.InUse), "in_use"), labeled(float64(p.Idle), "idle"), labeled(float64(p.Waiting), "waiting")}
	}),
	column("db_server_connections"),
	column("db_max_connections"),
	column("writes_per_sec"),
	column("unsent_rows"),
	one(Gauge, "throng_outbox_age_seconds", "Time for which there have been unsent rows; missing without a remote database.", func(s *engine.Snapshot) float64 {
		switch {
		case s.Metrics.Unsent < 0:
			return math.NaN()
		case s.UnsentSince.IsZero():
			return 0
		}
		return max(s.At.Sub(s.UnsentSince).Seconds(), 0)
	}),
}

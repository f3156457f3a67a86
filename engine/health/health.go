package health

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Metric is a metric of a run's health.
type Metric string

// The metrics of a run's health, in display order.
const (
	MetricCycle       Metric = "cycle time"
	MetricRequests    Metric = "request latency"
	MetricLatency     Metric = "session latency"
	MetricSchedule    Metric = "schedule lag"
	MetricWrites      Metric = "writes"
	MetricCPU         Metric = "CPU"
	MetricLost        Metric = "engine overhead"
	MetricOwnMemory   Metric = "Throng's memory"
	MetricMemoryLeft  Metric = "memory left"
	MetricConnections Metric = "connections"
	MetricFailed      Metric = "failed sessions"
	MetricRefused     Metric = "429s"
	MetricCached      Metric = "cached prompts"
	MetricCheckpoint  Metric = "latest checkpoint"
	MetricUnsent      Metric = "unsent rows"
	MetricWorkers     Metric = "fleet" // of a fleet, see [JudgeWorkers]
	MetricWorkerCPU   Metric = "CPU of workers"
)

// Level is the result of comparing a figure with its thresholds. The zero value is unknown; higher levels are worse.
type Level uint8

// The levels. Good is better than healthy: resources are well used, or figures are steady.
const (
	Unknown Level = iota
	Good
	Healthy
	Warning
	Critical
)

func (l Level) String() string {
	return levels[l]
}

var levels = []string{Unknown: "", Good: "good", Healthy: "healthy", Warning: "warning", Critical: "critical"}

// MarshalText implements [encoding.TextMarshaler].
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (l *Level) UnmarshalText(text []byte) error {
	i := slices.Index(levels, string(text))
	if i < 0 {
		return fmt.Errorf("unknown level %q", text)
	}
	*l = Level(i)
	return nil
}

// Finding is a line of a run's health.
type Finding struct {
	Metric    Metric `json:"metric"`
	Level     Level  `json:"level"`
	Value     string `json:"value"` // "" if unknown
	Threshold string `json:"threshold"`
	Advice    string `json:"advice,omitempty"` // how to fix a warning, or why the figure is good
}

// vital is a row of the table. A figure grows with the problem and is NaN if unknown. From warn on it is a warning, above crit it is
// critical.
type vital struct {
	metric     Metric
	figure     func(e *evaluation) float64
	value      func(e *evaluation) string
	warn, crit float64
	threshold  func(e *evaluation) string
	advice     string
	good       func(e *evaluation) string // why it is good, or ""; nil: it never is
}

// vitals is the table of health. The thresholds of memory and connections depend on the machine and the server.
var vitals = [...]vital{
	{
		MetricCycle, (*evaluation).cycleTime, (*evaluation).cycleText, 1, 2, (*evaluation).cycleThreshold,
		"find the slowest step under Steps, and look at the database", nil,
	},
	{
		MetricRequests, (*evaluation).request, (*evaluation).requestText, 1, 2, (*evaluation).requestThreshold,
		slowAdvice, nil,
	},
	{
		MetricLatency, (*evaluation).session, (*evaluation).sessionText, 1, 2, (*evaluation).sessionThreshold,
		slowAdvice, (*evaluation).steady,
	},
	{
		MetricSchedule, (*evaluation).lag, (*evaluation).lagText, 1, 2, says("from 1 s, critical above 10 s while it grows"),
		"raise the limit, if the backend has the capacity; otherwise the load is more than it can take", nil,
	},
	{
		MetricWrites, (*evaluation).scarceWrites, (*evaluation).writesText, 1, 2, says("up to 100/s while rows wait, critical below 50/s"),
		"the sink or its pool is the bottleneck", nil,
	},
	{
		MetricCPU, (*evaluation).cpu, (*evaluation).cpuText, 70, leastCriticalCPU, says("from 70%, critical above 90%"),
		"lower the limit, or close other programs", (*evaluation).wellUsedCPU,
	},
	{
		MetricLost, (*evaluation).lost, (*evaluation).lostText, 1, 1, says("while this machine is the limit instead of the backend"),
		"measurements do not describe the backend now: lower the limit, do less in python steps, or use another machine", nil,
	},
	{
		MetricOwnMemory, (*evaluation).ownMemory, (*evaluation).ownMemoryText, 8. / 16, 12. / 16, (*evaluation).ownMemoryThreshold,
		"use fewer sessions in flight; look for growing agent memory", nil,
	},
	{
		MetricMemoryLeft, (*evaluation).memoryLeft, (*evaluation).memoryLeftText, 1, 2, (*evaluation).memoryLeftThreshold,
		"use fewer sessions in flight; look for growing agent memory", (*evaluation).wellUsedMemory,
	},
	{
		MetricConnections, (*evaluation).connections, (*evaluation).connectionsText, engine.ConnectionsWarn, 55. / 60, (*evaluation).connectionsThreshold,
		"find the clients in pg_stat_activity; lower the highest limit, or connect through PgBouncer (pool_mode = transaction)", nil,
	},
	{
		MetricFailed, (*evaluation).failedSessions, (*evaluation).failedText, 5, 20, says("from 5 a cycle, critical above 20 or 10%"),
		"look at the errors by class", (*evaluation).fewFail,
	},
	{
		MetricRefused, (*evaluation).refused, (*evaluation).refusedText, 1, 1, says("any, critical while they grow"),
		"the rate limiter adapts; if that is not enough, use a larger plan", nil,
	},
	{
		MetricCached, (*evaluation).uncached, (*evaluation).cachedText, 1, 1, says("50% or less of the tokens of long prompts, if a cache makes them cheaper"),
		CacheAdvice, (*evaluation).wellCached,
	},
	{
		MetricCheckpoint, (*evaluation).sinceCheckpoint, (*evaluation).checkpointText, 1.5, 2, (*evaluation).checkpointThreshold,
		"check whether the disk is full or slow", nil,
	},
	{
		MetricUnsent, (*evaluation).unsentAge, (*evaluation).unsentText, 1, 10, says("not going down for 1 min, critical above 10 min"),
		"the database cannot be reached; nothing is lost", nil,
	},
}

// slowAdvice is the advice on latencies. The governors that do not follow the latency leave it to the user.
const slowAdvice = "find the slowest step under Steps, and try a lower limit"

// governed is the advice while a governor moves the limit, if it differs: nothing is asked of the user that the governor does.
var governed = map[Metric]string{
	MetricCPU:  "close other programs",
	MetricLost: "measurements do not describe the backend now: do less in python steps, or use another machine",

	MetricSchedule: "raise the highest limit, if the backend has the capacity; otherwise the load is more than it can take",
}

// gracePeriod is the time at the start of a run that is not judged.
const gracePeriod = 10 * time.Second

// evaluation computes the figures of the table.
type evaluation struct {
	*input
	sessionFigures
	latencyFigures
	machineFigures
	storageFigures
}

// input is what figures are computed from.
type input struct {
	s     *engine.Snapshot
	v     *Vitals
	every time.Duration // interval of checkpoints
}

func (in *input) evaluation() *evaluation {
	return &evaluation{in, sessionFigures{in}, latencyFigures{in}, machineFigures{in}, storageFigures{in}}
}

// Judge evaluates a run by the table of thresholds: one finding per metric, in the order of the metrics. In the first seconds
// nothing is worse than healthy. v must have seen the run's
// snapshots; s is the latest of them. every is the interval of checkpoints, 0 for none by time.
func Judge(s *engine.Snapshot, v *Vitals, every time.Duration) []Finding {
	e := (&input{s, v, every}).evaluation()
	all := make([]Finding, len(vitals))
	for i := range vitals {
		all[i] = vitals[i].find(e)
	}
	return all
}

// Find returns the finding about a metric, or the zero value if there is none.
func Find(all []Finding, m Metric) Finding {
	for _, f := range all {
		if f.Metric == m {
			return f
		}
	}
	return Finding{}
}

func (t *vital) find(e *evaluation) Finding {
	f := Finding{Metric: t.metric, Threshold: t.threshold(e)}
	figure := t.figure(e)
	if math.IsNaN(figure) || e.s.Phase == engine.Ended || e.v.rows == 0 {
		return f
	}
	f.Value, f.Level = t.value(e), Healthy
	switch {
	case e.s.Elapsed < gracePeriod: // caches are cold, and a few sessions say little
	case figure > t.crit:
		f.Level, f.Advice = Critical, t.help(e)
	case figure >= t.warn:
		f.Level, f.Advice = Warning, t.help(e)
	case t.good != nil:
		if f.Advice = t.good(e); f.Advice != "" {
			f.Level = Good
		}
	}
	return f
}

func (t *vital) help(e *evaluation) string {
	if t.metric == MetricSchedule && e.s.LagWhy != "" && e.s.Overdue == 0 { // the machine slept
		return e.s.LagWhy
	}
	if t.metric == MetricLatency && e.s.Overdue > 0 && e.s.Lag >= leastLag {
		return "sessions start late, which counts as latency: see the schedule lag"
	}
	if text := governed[t.metric]; text != "" && e.automatic() {
		return text
	}
	return t.advice
}

// automatic reports whether a governor moves the limit.
func (in *input) automatic() bool { return in.s.Governor != "" && in.s.Governor != engine.Manual }

func says(text string) func(*evaluation) string {
	return func(*evaluation) string { return text }
}

func ratio(part, whole float64) float64 {
	if whole <= 0 {
		return math.NaN()
	}
	return part / whole
}

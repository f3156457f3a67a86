package health

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Metric is what health is judged by.
type Metric string

// The metrics of a run's health, in the order in which they are shown.
const (
	MetricCycle       Metric = "cycle time"
	MetricLatency     Metric = "latency"
	MetricWrites      Metric = "writes"
	MetricCPU         Metric = "CPU"
	MetricLost        Metric = "engine overhead"
	MetricOwnMemory   Metric = "Throng's memory"
	MetricMemoryLeft  Metric = "memory left"
	MetricConnections Metric = "connections"
	MetricFailed      Metric = "failed sessions"
	MetricRefused     Metric = "429s"
	MetricCheckpoint  Metric = "last checkpoint"
	MetricUnsent      Metric = "unsent rows"
)

// Level is how a figure stands to its thresholds. The zero value is that nobody knows; the others grow with the trouble.
type Level uint8

// The levels. Good is better than healthy: what there is, is made use of, or all is steady.
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
	Advice    string `json:"advice,omitempty"` // what to do about a warning, or what is good
}

// vital is a line of the table. Figures grow with the trouble and are NaN where they are not known: from warn on it is a
// warning, above crit it is critical.
type vital struct {
	metric     Metric
	figure     func(e *evaluation) float64
	value      func(e *evaluation) string
	warn, crit float64
	threshold  func(e *evaluation) string
	advice     string
	good       func(e *evaluation) string // "" is that it is no more than healthy; nil never says more
}

// vitals is the one table of health. Thresholds of memory and connections scale with what the machine and the server
// have.
var vitals = [...]vital{
	{
		MetricCycle, (*evaluation).cycleTime, (*evaluation).cycleText, 60, 120, says("from 60s, critical above 120s"),
		"lower the ceiling to 30, or look at the slowest step and the database", nil,
	},
	{
		MetricLatency, (*evaluation).latency, (*evaluation).latencyText, 1, 2, says("from 1s, critical above 2s"),
		"look at the slowest step: queries, network", (*evaluation).steady,
	},
	{
		MetricWrites, (*evaluation).scarceWrites, (*evaluation).writesText, 1, 2, says("up to 100/s while rows wait, critical below 50/s"),
		"the sink or its pool is the bottleneck", nil,
	},
	{
		MetricCPU, (*evaluation).cpu, (*evaluation).cpuText, 70, 90, says("from 70 %, critical above 90 %"),
		"lower the limit, unless a governor does; where other programs use it, close them", (*evaluation).wellUsedCPU,
	},
	{
		MetricLost, (*evaluation).lost, (*evaluation).lostText, 1, 1, says("while this machine is the limit, not the backend"),
		"what is measured now is not the backend: lower the limit, do less in python steps, or use another machine", nil,
	},
	{
		MetricOwnMemory, (*evaluation).ownMemory, (*evaluation).ownMemoryText, 8. / 16, 12. / 16, (*evaluation).ownMemoryThreshold,
		"fewer in flight; look for growing agent memory", nil,
	},
	{
		MetricMemoryLeft, (*evaluation).memoryLeft, (*evaluation).memoryLeftText, 1, 2, (*evaluation).memoryLeftThreshold,
		"fewer in flight; look for growing agent memory", (*evaluation).wellUsedMemory,
	},
	{
		MetricConnections, (*evaluation).connections, (*evaluation).connectionsText, engine.ConnectionsWarn, 55. / 60, (*evaluation).connectionsThreshold,
		"see in pg_stat_activity who holds them; lower the ceiling, or connect through PgBouncer (pool_mode = transaction)", nil,
	},
	{
		MetricFailed, (*evaluation).failedSessions, (*evaluation).failedText, 5, 20, says("from 5 a cycle, critical above 20 or 10 %"),
		"look at the errors by class", (*evaluation).fewFail,
	},
	{
		MetricRefused, (*evaluation).refused, (*evaluation).refusedText, 1, 1, says("any, critical while they grow"),
		"the rate limiter adapts; else get a larger plan", nil,
	},
	{
		MetricCheckpoint, (*evaluation).sinceCheckpoint, (*evaluation).checkpointText, 1.5, 2, (*evaluation).checkpointThreshold,
		"disk full or slow?", nil,
	},
	{
		MetricUnsent, (*evaluation).unsentAge, (*evaluation).unsentText, 1, 10, says("not going down for 1m, critical above 10m"),
		"the database cannot be reached; nothing is lost", nil,
	},
}

// evaluation is what the table looks at.
type evaluation struct {
	s     *engine.Snapshot
	v     *Vitals
	every time.Duration // between checkpoints
}

// Judge judges a run by the table of thresholds: a finding per metric, in the order of the metrics. v has seen the
// run's snapshots, s the last; every is the longest time between its checkpoints, 0 for none by time.
func Judge(s *engine.Snapshot, v *Vitals, every time.Duration) []Finding {
	e := &evaluation{s, v, every}
	all := make([]Finding, len(vitals))
	for i := range vitals {
		all[i] = vitals[i].find(e)
	}
	return all
}

// Find returns the finding about a metric; the zero value is that there is none.
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
	case figure > t.crit:
		f.Level, f.Advice = Critical, t.advice
	case figure >= t.warn:
		f.Level, f.Advice = Warning, t.advice
	case t.good != nil:
		if f.Advice = t.good(e); f.Advice != "" {
			f.Level = Good
		}
	}
	return f
}

func says(text string) func(*evaluation) string {
	return func(*evaluation) string { return text }
}

func ratio(part, whole float64) float64 {
	if whole <= 0 {
		return math.NaN()
	}
	return part / whole
}

// cycleTime is the longer of the open cycle so far and the one before it, in seconds, without what its pace made it
// wait.
func (e *evaluation) cycleTime() float64 {
	if took := max(e.s.CycleTook, e.s.LastCycle.Took); took > 0 {
		return took.Seconds()
	}
	return math.NaN()
}

func (e *evaluation) cycleText() string {
	return engine.FormatDuration(max(e.s.CycleTook, e.s.LastCycle.Took))
}

func (e *evaluation) sinceCheckpoint() float64 {
	if e.s.LastCheckpoint.IsZero() || e.s.Phase != engine.Running {
		return math.NaN()
	}
	return ratio(e.s.At.Sub(e.s.LastCheckpoint).Seconds(), e.every.Seconds())
}

func (e *evaluation) checkpointText() string {
	return engine.FormatDuration(e.s.At.Sub(e.s.LastCheckpoint).Truncate(time.Second)) + " ago"
}

func (e *evaluation) checkpointThreshold() string {
	if e.every <= 0 {
		return ""
	}
	return fmt.Sprintf("after %s, critical after %s", engine.FormatDuration(e.every*3/2), engine.FormatDuration(2*e.every))
}

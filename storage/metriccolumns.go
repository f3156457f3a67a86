package storage

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
)

// MetricColumn is one column of the metrics of a run: of metrics.csv and its other formats, and of the table metrics in
// PostgreSQL. The end of its second is not one of them, because each store names it differently.
type MetricColumn struct {
	Name string
	Unit Unit
	Help string // comment of the column in PostgreSQL
	// Metric is the name of the telemetry metric with the same value and help; empty if no metric has this value.
	Metric string
	// Counter is set if the value only grows during a run.
	Counter bool
	// Raw returns the value in the raw unit of Unit. NaN, infinite and negative values are unknown. It is not set for Text.
	Raw func(m *engine.MetricsRow) float64
	// Text returns the value of a column whose unit is Text.
	Text func(m *engine.MetricsRow) string
}

// Unit is the unit of a column.
type Unit uint8

// The units.
const (
	Count          Unit = iota // whole numbers
	Text                       // no number
	Milliseconds               // raw: nanoseconds; telemetry: seconds
	Megabytes                  // 1,000,000 bytes; raw and telemetry: bytes
	BytesPerSecond             //
	PerSecond                  //
	Percent                    // telemetry: a ratio
	Ratio                      //
	USD                        // raw: billionths of a US dollar; telemetry: dollars
)

// scales say how many raw units are one unit of a column, and one unit in telemetry.
var scales = [...]struct{ column, telemetry float64 }{
	Count: {1, 1}, Text: {1, 1}, Milliseconds: {1e6, 1e9}, Megabytes: {1e6, 1}, BytesPerSecond: {1, 1}, PerSecond: {1, 1},
	Percent: {1, 100}, Ratio: {1, 1}, USD: {1e9, 1e9},
}

// unitNames are the units in README.md.
var unitNames = [...]string{
	Count: "", Text: "", Ratio: "", Milliseconds: "ms", Megabytes: "MB", BytesPerSecond: "bytes/s", PerSecond: "1/s", Percent: "%", USD: "USD",
}

func (u Unit) name() string { return unitNames[u] }

// Value returns the value in the unit of the column; ok is false if it is unknown or text.
func (c *MetricColumn) Value(m *engine.MetricsRow) (v float64, ok bool) {
	raw, ok := c.raw(m)
	return raw / scales[c.Unit].column, ok
}

// Measure returns the value in the base unit that telemetry uses; ok is false if it is unknown or text.
func (c *MetricColumn) Measure(m *engine.MetricsRow) (v float64, ok bool) {
	raw, ok := c.raw(m)
	return raw / scales[c.Unit].telemetry, ok
}

func (c *MetricColumn) raw(m *engine.MetricsRow) (v float64, ok bool) {
	if c.Raw == nil {
		return math.NaN(), false
	}
	v = c.Raw(m)
	return v, v >= 0 && !math.IsInf(v, 0) // false for NaN
}

// cell returns the value as text with at most three decimals, and with all decimals of a cost; empty if it is unknown.
func (c *MetricColumn) cell(m *engine.MetricsRow) string {
	if c.Text != nil {
		return c.Text(m)
	}
	v, ok := c.raw(m)
	switch {
	case !ok:
		return ""
	case c.Unit == Count:
		return strconv.FormatInt(int64(v), 10)
	case c.Unit == USD:
		return dollars(int64(v))
	default:
		return number(v / scales[c.Unit].column)
	}
}

// kind returns how cells of the column are stored.
func (c *MetricColumn) kind() kind {
	switch c.Unit {
	case Count:
		return intCells
	case Text:
		return wordCells
	default:
		return floatCells
	}
}

// metricColumns is the only list of the columns. Other tools expect the first seven, after the time of the row.
var metricColumns = slices.Concat([]MetricColumn{
	count("cycle", "Current cycle.", func(m *engine.MetricsRow) int { return m.Cycle }),
	{Name: "agents_processed", Help: "Sessions that ended so far.", Raw: total(func(m *engine.MetricsRow) int64 { return m.Ended }), Counter: true},
	{
		Name: "agents_shopped", Help: "Sessions that acted so far.", Raw: total(func(m *engine.MetricsRow) int64 { return m.Acted }),
		Metric: "throng_sessions_acted_total", Counter: true,
	},
	{Name: "avg_latency_ms", Unit: Milliseconds, Help: "Mean session time, of the sessions that ended in this interval.", Raw: duration(sessionTime, mean)},
	{
		Name: "writes_per_sec", Unit: PerSecond, Help: "Rows committed by Throng per second: to the remote database, or to its local store if there is none.",
		Raw: func(m *engine.MetricsRow) float64 { return m.WritesPerSec }, Metric: "throng_database_writes_per_second",
	},
	{Name: "cpu_percent", Unit: Percent, Help: "CPU usage of the machine.", Raw: func(m *engine.MetricsRow) float64 { return m.Host.CPU }, Metric: "throng_machine_cpu_ratio"},
	{
		Name: "memory_mb", Unit: Megabytes, Help: "Resident memory of Throng.",
		Raw: size(func(m *engine.MetricsRow) uint64 { return m.Host.Memory }), Metric: "throng_memory_bytes",
	},
	{
		Name: "process_cpu_percent", Unit: Percent, Help: "CPU usage of Throng, relative to one core.",
		Raw: func(m *engine.MetricsRow) float64 { return m.Host.ProcessCPU }, Metric: "throng_cpu_cores",
	},
	{Name: "phase", Unit: Text, Help: "preparing, running, paused, stopping or ended.", Text: func(m *engine.MetricsRow) string { return m.Phase.String() }},
	count("limit", "Concurrency limit.", func(m *engine.MetricsRow) int { return m.Limit }),
	count("in_flight", "Sessions in flight.", func(m *engine.MetricsRow) int { return m.InFlight }),
	{Name: "sessions_per_sec", Unit: PerSecond, Help: "Sessions that ended per second.", Raw: func(m *engine.MetricsRow) float64 { return m.SessionsPerSec }},
	{
		Name: "requests_per_sec", Unit: PerSecond, Help: "Attempts per second, without those answered by 429.",
		Raw: func(m *engine.MetricsRow) float64 { return m.RequestsPerSec },
	},
},
	quantileColumns("latency", "time from a session's start to its end", sessionTime),
	quantileColumns("service", "time used by services and steps", func(m *engine.MetricsRow) *engine.Quantiles { return &m.Service }),
	quantileColumns("throttled", "time throttled", func(m *engine.MetricsRow) *engine.Quantiles { return &m.Throttled }),
	quantileColumns("request", "time that the requests of a step took, retries included", func(m *engine.MetricsRow) *engine.Quantiles { return &m.Request }),
	[]MetricColumn{
		{Name: "rate_limited", Help: "Answers with status 429 so far.", Raw: total(func(m *engine.MetricsRow) int64 { return m.RateLimited }), Counter: true},
		{Name: "retries", Help: "Attempts after the first so far.", Raw: total(func(m *engine.MetricsRow) int64 { return m.Retries }), Counter: true},
	}, errorColumns(), []MetricColumn{
		{
			Name: "available_memory_mb", Unit: Megabytes, Help: "Memory still available on the machine.",
			Raw: size(func(m *engine.MetricsRow) uint64 { return m.Host.Available }), Metric: "throng_machine_memory_available_bytes",
		},
		{Name: "net_in_bytes_per_sec", Unit: BytesPerSecond, Help: "Received by all interfaces of the machine.", Raw: func(m *engine.MetricsRow) float64 { return m.Host.NetIn }},
		{Name: "net_out_bytes_per_sec", Unit: BytesPerSecond, Help: "Sent by all interfaces of the machine.", Raw: func(m *engine.MetricsRow) float64 { return m.Host.NetOut }},
		{
			Name: "disk_free_mb", Unit: Megabytes, Help: "Free space on the disk of the data folder.",
			Raw: size(func(m *engine.MetricsRow) uint64 { return m.Host.DiskFree }), Metric: "throng_disk_free_bytes",
		},
		{
			Name: "db_connections", Help: "Open connections of Throng to the remote database, in use and idle; to its local store if there is none.",
			Raw: func(m *engine.MetricsRow) float64 { return float64(m.Connections) }, Metric: "throng_database_connections",
		},
		{
			Name: "db_server_connections", Help: "Connections of all clients of the database server.",
			Raw: func(m *engine.MetricsRow) float64 { return float64(m.ServerConnections) }, Metric: "throng_database_server_connections",
		},
		{
			Name: "schedule_lag_ms", Unit: Milliseconds, Help: "How far the run is behind its schedule.",
			Raw: func(m *engine.MetricsRow) float64 { return float64(m.Lag) },
		},
		{
			Name: "unsent_rows", Help: "Rows that are not yet in the remote database.",
			Raw: total(func(m *engine.MetricsRow) int64 { return m.Unsent }), Metric: "throng_outbox_rows",
		},
		{
			Name: "db_max_connections", Help: "max_connections of the database server.",
			Raw: func(m *engine.MetricsRow) float64 { return float64(m.ServerMax) }, Metric: "throng_database_server_connections_limit",
		},
		{
			Name: "model_calls", Help: "Model calls so far, including those made once for the whole run; the same holds for tokens and cost.",
			Raw: total(func(m *engine.MetricsRow) int64 { return m.Usage.Calls }), Counter: true,
		},
		{Name: "input_tokens", Help: "Input tokens of model calls so far.", Raw: total(func(m *engine.MetricsRow) int64 { return m.Usage.Input }), Counter: true},
		{Name: "cached_input_tokens", Help: "Input tokens so far that models read from their provider's cache.", Raw: total(func(m *engine.MetricsRow) int64 { return m.Usage.Cached }), Counter: true},
		{Name: "output_tokens", Help: "Output tokens of model calls so far.", Raw: total(func(m *engine.MetricsRow) int64 { return m.Usage.Output }), Counter: true},
		{Name: "cost_usd", Unit: USD, Help: "Cost of model calls so far; missing if a price is unknown.", Raw: cost, Counter: true},
		{Name: "parallel_steps", Help: "Steps executed in parallel with another step of their session so far.", Raw: total(func(m *engine.MetricsRow) int64 { return m.Flow.Parallel }), Counter: true},
		{Name: "sequential_steps", Help: "Steps executed alone so far.", Raw: total(func(m *engine.MetricsRow) int64 { return m.Flow.Sequential }), Counter: true},
		{Name: "step_errors", Help: "Steps that failed so far, without timeouts.", Raw: total(func(m *engine.MetricsRow) int64 { return m.Flow.Failed }), Counter: true},
		{Name: "step_timeouts", Help: "Steps so far that timed out.", Raw: total(func(m *engine.MetricsRow) int64 { return m.Flow.TimedOut }), Counter: true},
		{Name: "parallel_rate", Unit: Ratio, Help: "Fraction of sessions so far that executed steps in parallel.", Raw: func(m *engine.MetricsRow) float64 { return m.Flow.Rate(m.Ended) }},
		{
			Name: "chain_speedup", Unit: Ratio, Help: "For those sessions: total time of their steps divided by the time from start to end.",
			Raw: func(m *engine.MetricsRow) float64 { return m.Flow.Speedup() },
		},
		{
			Name: "speedup", Unit: Ratio, Help: "Busy time of the sessions that ended in this interval, divided by its length.",
			Raw: func(m *engine.MetricsRow) float64 { return m.Speedup },
		},
		{Name: "timeout_rate", Unit: Ratio, Help: "Fraction of sessions so far that timed out.", Raw: (*engine.MetricsRow).TimeoutRate},
	},
	quantileColumns("queued", "time queued", func(m *engine.MetricsRow) *engine.Quantiles { return &m.Queue }),
	throttledColumns(),
	[]MetricColumn{
		{
			Name: "calls_again", Help: "Model calls so far that were sent again after an interruption and may have been billed twice.",
			Raw: total(func(m *engine.MetricsRow) int64 { return m.Usage.Again }), Counter: true,
		},
		poolColumn("db_pool_size", "Connections Throng may open, over all its pools.", func(p *engine.Pool) int { return p.Size }),
		poolColumn("db_in_use", "Connections of Throng in use by a statement or a batch.", func(p *engine.Pool) int { return p.InUse }),
		poolColumn("db_idle", "Idle connections of Throng.", func(p *engine.Pool) int { return p.Idle }),
		poolColumn("db_waiting", "Statements and batches waiting for a connection.", func(p *engine.Pool) int { return p.Waiting }),
	}, timeColumns(), []MetricColumn{
		{
			Name: "collector_cpu_percent", Unit: Percent, Help: "CPU usage of garbage collection in this interval, relative to one core.",
			Raw: func(m *engine.MetricsRow) float64 { return m.Host.Collector }, Metric: "throng_gc_cpu_cores",
		},
		overheadColumn("journal_writer_ms", "", "Busy time of the journal writer so far.", func(m *engine.MetricsRow) time.Duration { return m.Overhead.Writer }),
		overheadColumn("window_cpu_ms", "", "CPU time of the window so far.", func(m *engine.MetricsRow) time.Duration { return m.Overhead.Window }),
		overheadColumn("late_ms", "throng_tick_late_seconds", "Timer lag of this second; measured times may be too long by as much.", func(m *engine.MetricsRow) time.Duration { return m.Late.Tick }),
		overheadColumn("core_wait_p99_ms", "throng_core_wait_seconds", "99th percentile of the time a runnable goroutine waited for a core in this interval.", func(m *engine.MetricsRow) time.Duration { return m.Late.Core }),
		{
			Name: "stored_mb", Unit: Megabytes, Help: "Space that the run takes in the local store.",
			Raw: size(func(m *engine.MetricsRow) uint64 { return uint64(max(m.Stored, 0)) }),
		},
	})

// MetricColumns returns all columns of the metrics of a run, in the order of metrics.csv.
func MetricColumns() []MetricColumn { return slices.Clone(metricColumns) }

// MetricColumnNamed returns the column with a name. It panics if there is none.
func MetricColumnNamed(name string) *MetricColumn {
	i := slices.IndexFunc(metricColumns, func(c MetricColumn) bool { return c.Name == name })
	if i < 0 {
		panic("storage: there is no metric column " + name)
	}
	return &metricColumns[i]
}

func count(name, help string, of func(m *engine.MetricsRow) int) MetricColumn {
	return MetricColumn{Name: name, Help: help, Raw: func(m *engine.MetricsRow) float64 { return float64(of(m)) }}
}

func total(of func(m *engine.MetricsRow) int64) func(m *engine.MetricsRow) float64 {
	return func(m *engine.MetricsRow) float64 { return float64(of(m)) }
}

// size returns a number of bytes; 0 is unknown.
func size(of func(m *engine.MetricsRow) uint64) func(m *engine.MetricsRow) float64 {
	return func(m *engine.MetricsRow) float64 {
		if n := of(m); n > 0 {
			return float64(n)
		}
		return math.NaN()
	}
}

func cost(m *engine.MetricsRow) float64 {
	if m.Usage.Unpriced > 0 {
		return math.NaN()
	}
	return float64(max(m.Usage.Cost, 0))
}

func sessionTime(m *engine.MetricsRow) *engine.Quantiles { return &m.Total }

func mean(q *engine.Quantiles) time.Duration { return q.Mean }

// duration returns one of the quantiles; it is unknown if no session ended.
func duration(quantiles func(m *engine.MetricsRow) *engine.Quantiles, of func(q *engine.Quantiles) time.Duration) func(m *engine.MetricsRow) float64 {
	return func(m *engine.MetricsRow) float64 {
		q := quantiles(m)
		if q.Count == 0 {
			return math.NaN()
		}
		return float64(of(q))
	}
}

func quantileColumns(name, about string, quantiles func(m *engine.MetricsRow) *engine.Quantiles) (all []MetricColumn) {
	for _, c := range []struct {
		name, help string
		of         func(q *engine.Quantiles) time.Duration
	}{
		{"p50", "Median of the ", func(q *engine.Quantiles) time.Duration { return q.P50 }},
		{"p95", "95th percentile of the ", func(q *engine.Quantiles) time.Duration { return q.P95 }},
		{"p99", "99th percentile of the ", func(q *engine.Quantiles) time.Duration { return q.P99 }},
		{"max", "Longest ", func(q *engine.Quantiles) time.Duration { return q.Max }},
	} {
		all = append(all, MetricColumn{
			Name: name + "_" + c.name + "_ms", Unit: Milliseconds, Help: c.help + about + ", of the sessions that ended in this interval.", Raw: duration(quantiles, c.of),
		})
	}
	return all
}

func errorColumns() (all []MetricColumn) {
	for _, c := range engine.Classes() {
		all = append(all, MetricColumn{
			Name: "errors_" + c.String(), Help: "Sessions so far that failed with class " + c.String() + ".",
			Raw: total(func(m *engine.MetricsRow) int64 { return m.Errors[c] }), Counter: true,
		})
	}
	return all
}

// throttledBy describes the waits of throttled requests, by the name of their cause.
var throttledBy = map[string]string{
	"slots": "waiting for a connection or the limit of a service", "models": "waiting for the limit of concurrent model calls",
	"rate": "waiting for the rate limiter of a service, including Retry-After", "refusal": "waiting after a 429 from a service without a rate limit",
	"retry": "waiting before another attempt", "token": "waiting for the login of another step of the agent",
	"journal": "waiting until an intent was durable", "breaker": "waiting for an open circuit breaker",
	"budget": "waiting for reserved budget to be returned", "files": "waiting for a file descriptor", "memory": "waiting for the memory budget",
	"batch": "waiting for a batch of model calls",
}

func throttledColumns() (all []MetricColumn) {
	for _, g := range engine.ThrottleCauses() {
		all = append(all, MetricColumn{
			Name: "throttled_by_" + g.String() + "_ms", Unit: Milliseconds, Help: "Throttled time so far, over all requests: " + throttledBy[g.String()] + ".",
			Raw: func(m *engine.MetricsRow) float64 { return float64(m.Waits[g]) }, Counter: true,
		})
	}
	return all
}

// spentOn describes the parts of the session time, by the name of their purpose.
var spentOn = map[string]string{
	"services": "Session time so far spent waiting for answers of services.",
	"refusals": "Session time so far spent waiting after 429s and errors, and for open circuit breakers.", "scripts": "Session time so far spent in script steps.",
	"wait steps": "Session time so far spent in think time.", "pacing": "Session time so far throttled by rates, limits, logins and the budget.",
	"journal": "Session time so far spent waiting for the journal.", "engine": "Engine overhead so far: session time between steps.",
}

func timeColumns() (all []MetricColumn) {
	for _, p := range engine.Purposes() {
		name := "time_" + strings.ReplaceAll(p.String(), " ", "_") + "_ms"
		c := overheadColumn(name, "", spentOn[p.String()], func(m *engine.MetricsRow) time.Duration { return m.Overhead.Times[p] })
		c.Counter = true
		all = append(all, c)
	}
	return all
}

// overheadColumn is unknown in rows of runs whose overhead was not measured.
func overheadColumn(name, metric, help string, of func(m *engine.MetricsRow) time.Duration) MetricColumn {
	return MetricColumn{Name: name, Unit: Milliseconds, Help: help, Metric: metric, Raw: func(m *engine.MetricsRow) float64 {
		if m.Overhead.Span <= 0 {
			return math.NaN()
		}
		return float64(of(m))
	}}
}

// poolColumn is unknown without a connection pool.
func poolColumn(name, help string, of func(p *engine.Pool) int) MetricColumn {
	return count(name, help, func(m *engine.MetricsRow) int {
		if m.Pool.Size == 0 {
			return -1
		}
		return of(&m.Pool)
	})
}

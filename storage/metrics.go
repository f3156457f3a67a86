package storage

import (
	"context"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
)

// metricsColumn is a column of metrics.csv.
type metricsColumn struct {
	name string
	cell func(m *engine.MetricsRow) string
}

// metricsColumns is the one table of what metrics.csv holds. The first eight are what other tools expect.
var metricsColumns = slices.Concat([]metricsColumn{
	{"timestamp", func(m *engine.MetricsRow) string { return stamp(m.At) }},
	{"cycle", func(m *engine.MetricsRow) string { return strconv.Itoa(m.Cycle) }},
	{"agents_processed", func(m *engine.MetricsRow) string { return strconv.FormatInt(m.Ended, 10) }},
	{"agents_shopped", func(m *engine.MetricsRow) string { return strconv.FormatInt(m.Acted, 10) }},
	{"avg_latency_ms", func(m *engine.MetricsRow) string { return quantile(&m.Total, m.Total.Mean) }},
	{"writes_per_sec", func(m *engine.MetricsRow) string { return number(m.WritesPerSec) }},
	{"cpu_percent", func(m *engine.MetricsRow) string { return number(m.Host.CPU) }},
	{"memory_mb", func(m *engine.MetricsRow) string { return megabytes(m.Host.Memory) }},

	{"process_cpu_percent", func(m *engine.MetricsRow) string { return number(m.Host.ProcessCPU) }},
	{"phase", func(m *engine.MetricsRow) string { return m.Phase.String() }},
	{"limit", func(m *engine.MetricsRow) string { return strconv.Itoa(m.Limit) }},
	{"in_flight", func(m *engine.MetricsRow) string { return strconv.Itoa(m.InFlight) }},
	{"sessions_per_sec", func(m *engine.MetricsRow) string { return number(m.SessionsPerSec) }},
	{"requests_per_sec", func(m *engine.MetricsRow) string { return number(m.RequestsPerSec) }},
	{"latency_p50_ms", func(m *engine.MetricsRow) string { return quantile(&m.Total, m.Total.P50) }},
	{"latency_p95_ms", func(m *engine.MetricsRow) string { return quantile(&m.Total, m.Total.P95) }},
	{"latency_p99_ms", func(m *engine.MetricsRow) string { return quantile(&m.Total, m.Total.P99) }},
	{"latency_max_ms", func(m *engine.MetricsRow) string { return quantile(&m.Total, m.Total.Max) }},
	{"service_p50_ms", func(m *engine.MetricsRow) string { return quantile(&m.Service, m.Service.P50) }},
	{"service_p95_ms", func(m *engine.MetricsRow) string { return quantile(&m.Service, m.Service.P95) }},
	{"service_p99_ms", func(m *engine.MetricsRow) string { return quantile(&m.Service, m.Service.P99) }},
	{"service_max_ms", func(m *engine.MetricsRow) string { return quantile(&m.Service, m.Service.Max) }},
	{"held_p50_ms", func(m *engine.MetricsRow) string { return quantile(&m.Held, m.Held.P50) }},
	{"held_p95_ms", func(m *engine.MetricsRow) string { return quantile(&m.Held, m.Held.P95) }},
	{"held_p99_ms", func(m *engine.MetricsRow) string { return quantile(&m.Held, m.Held.P99) }},
	{"held_max_ms", func(m *engine.MetricsRow) string { return quantile(&m.Held, m.Held.Max) }},
	{"rate_limited", func(m *engine.MetricsRow) string { return strconv.FormatInt(m.RateLimited, 10) }},
	{"retries", func(m *engine.MetricsRow) string { return strconv.FormatInt(m.Retries, 10) }},
}, errorColumns(), []metricsColumn{
	{"available_memory_mb", func(m *engine.MetricsRow) string { return megabytes(m.Host.Available) }},
	{"net_in_bytes_per_sec", func(m *engine.MetricsRow) string { return number(m.Host.NetIn) }},
	{"net_out_bytes_per_sec", func(m *engine.MetricsRow) string { return number(m.Host.NetOut) }},
	{"disk_free_mb", func(m *engine.MetricsRow) string { return megabytes(m.Host.DiskFree) }},
	{"db_connections", func(m *engine.MetricsRow) string { return count(int64(m.Connections)) }},
	{"db_server_connections", func(m *engine.MetricsRow) string { return count(int64(m.ServerConnections)) }},
	{"schedule_lag_ms", func(m *engine.MetricsRow) string { return millis(m.Lag) }},
	{"unsent_rows", func(m *engine.MetricsRow) string { return count(m.Unsent) }},
	{"db_max_connections", func(m *engine.MetricsRow) string { return count(int64(m.ServerMax)) }},
	{"model_calls", func(m *engine.MetricsRow) string { return count(m.Usage.Calls) }},
	{"input_tokens", func(m *engine.MetricsRow) string { return count(m.Usage.Input) }},
	{"output_tokens", func(m *engine.MetricsRow) string { return count(m.Usage.Output) }},
	{"cost_usd", func(m *engine.MetricsRow) string { return Dollars(&m.Usage) }},
}, flowColumns, waitColumns(), []metricsColumn{
	{"calls_again", func(m *engine.MetricsRow) string { return count(m.Usage.Again) }},
}, poolColumns, timeColumns(), overheadColumns)

// flowColumns are what ran at once, and what waited. Counts are of the run so far.
var flowColumns = []metricsColumn{
	{"parallel_steps", func(m *engine.MetricsRow) string { return strconv.FormatInt(m.Flow.Parallel, 10) }},
	{"sequential_steps", func(m *engine.MetricsRow) string { return strconv.FormatInt(m.Flow.Sequential, 10) }},
	{"step_errors", func(m *engine.MetricsRow) string { return strconv.FormatInt(m.Flow.Failed, 10) }},
	{"step_timeouts", func(m *engine.MetricsRow) string { return strconv.FormatInt(m.Flow.TimedOut, 10) }},
	{"parallel_rate", func(m *engine.MetricsRow) string { return number(m.Flow.Rate(m.Ended)) }},
	{"chain_speedup", func(m *engine.MetricsRow) string { return number(m.Flow.Speedup()) }},
	{"speedup", func(m *engine.MetricsRow) string { return number(m.Speedup) }},
	{"timeout_rate", func(m *engine.MetricsRow) string { return number(m.TimeoutRate()) }},
	{"queue_wait_p50_ms", func(m *engine.MetricsRow) string { return quantile(&m.Queue, m.Queue.P50) }},
	{"queue_wait_p95_ms", func(m *engine.MetricsRow) string { return quantile(&m.Queue, m.Queue.P95) }},
	{"queue_wait_p99_ms", func(m *engine.MetricsRow) string { return quantile(&m.Queue, m.Queue.P99) }},
	{"queue_wait_max_ms", func(m *engine.MetricsRow) string { return quantile(&m.Queue, m.Queue.Max) }},
}

// poolColumns are Throng's connections to remote databases; empty cells where there are none.
var poolColumns = []metricsColumn{
	{"db_pool_size", func(m *engine.MetricsRow) string { return pool(m, m.Pool.Size) }},
	{"db_in_use", func(m *engine.MetricsRow) string { return pool(m, m.Pool.InUse) }},
	{"db_idle", func(m *engine.MetricsRow) string { return pool(m, m.Pool.Idle) }},
	{"db_waiting", func(m *engine.MetricsRow) string { return pool(m, m.Pool.Waiting) }},
}

func pool(m *engine.MetricsRow, n int) string {
	if m.Pool.Size == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// waitColumns are how long each gate has held requests back so far.
func waitColumns() []metricsColumn {
	var all []metricsColumn
	for _, g := range engine.Gates() {
		all = append(all, metricsColumn{"held_by_" + g.String() + "_ms", func(m *engine.MetricsRow) string { return millis(m.Waits[g]) }})
	}
	return all
}

// timeColumns are what the time of all sessions together went to so far.
func timeColumns() []metricsColumn {
	var all []metricsColumn
	for _, p := range engine.Purposes() {
		name := "time_" + strings.ReplaceAll(p.String(), " ", "_") + "_ms"
		all = append(all, metricsColumn{name, func(m *engine.MetricsRow) string { return spent(m, m.Overhead.Times[p]) }})
	}
	return all
}

// overheadColumns are what this second took of the machine beside, and by how much its times may be wrong. CPU and time of
// the journal's writer and the window are of the run so far.
var overheadColumns = []metricsColumn{
	{"collector_cpu_percent", func(m *engine.MetricsRow) string { return number(m.Host.Collector) }},
	{"journal_writer_ms", func(m *engine.MetricsRow) string { return spent(m, m.Overhead.Writer) }},
	{"window_cpu_ms", func(m *engine.MetricsRow) string { return spent(m, m.Overhead.Window) }},
	{"late_ms", func(m *engine.MetricsRow) string { return spent(m, m.Late.Tick) }},
	{"core_wait_p99_ms", func(m *engine.MetricsRow) string { return spent(m, m.Late.Core) }},
}

// spent is a figure of the overhead; empty where that was not measured.
func spent(m *engine.MetricsRow, d time.Duration) string {
	if m.Overhead.Span <= 0 {
		return ""
	}
	return millis(d)
}

func errorColumns() []metricsColumn {
	var all []metricsColumn
	for _, c := range engine.Classes() {
		all = append(all, metricsColumn{"errors_" + c.String(), func(m *engine.MetricsRow) string {
			return strconv.FormatInt(m.Errors[c], 10)
		}})
	}
	return all
}

// quantile is a figure of durations; empty where there were none.
func quantile(q *engine.Quantiles, d time.Duration) string {
	if q.Count == 0 {
		return ""
	}
	return millis(d)
}

// megabytes are those of a million bytes; 0 is not known.
func megabytes(bytes uint64) string {
	if bytes == 0 {
		return ""
	}
	return number(float64(bytes) / 1e6)
}

func count(n int64) string {
	if n < 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// metricsWriter writes a row per second.
type metricsWriter struct{ t *table }

func newMetricsWriter(f Format, w io.Writer) (*metricsWriter, error) {
	all := make([]column, len(metricsColumns))
	for i, c := range metricsColumns {
		all[i] = column{c.name, metricsKind(c.name)}
	}
	t, err := newTable(f, w, all)
	return &metricsWriter{t}, err
}

// wholeMetrics are the columns whose cells are whole numbers, beside those of errors.
var wholeMetrics = strings.Fields("cycle agents_processed agents_shopped limit in_flight rate_limited retries db_connections db_server_connections unsent_rows " +
	"db_max_connections model_calls input_tokens output_tokens parallel_steps sequential_steps step_errors step_timeouts calls_again " +
	"db_pool_size db_in_use db_idle db_waiting")

func metricsKind(name string) kind {
	switch {
	case name == "timestamp":
		return timeCells
	case name == "phase":
		return wordCells
	case strings.HasPrefix(name, "errors_"), slices.Contains(wholeMetrics, name):
		return intCells
	default:
		return floatCells
	}
}

func (w *metricsWriter) add(m *engine.MetricsRow) error {
	for _, c := range metricsColumns {
		w.t.plain(c.cell(m))
	}
	return w.t.next()
}

// ExportMetrics writes metrics.csv: a row per second.
func ExportMetrics(ctx context.Context, w io.Writer, r Reader, run engine.RunID) error {
	return exportMetrics(ctx, w, CSV, r, run)
}

func exportMetrics(ctx context.Context, w io.Writer, f Format, r Reader, run engine.RunID) error {
	out, err := newMetricsWriter(f, w)
	if err != nil {
		return err
	}
	for m, err := range r.Metrics(ctx, run, time.Time{}) {
		if err != nil {
			return err
		}
		if err := out.add(m); err != nil {
			return err
		}
	}
	return out.t.flush()
}

// followEvery is how often Follow looks for new rows: they come once a second.
const followEvery = time.Second

// Follow writes the metrics as CSV or JSONL and goes on appending rows as they are committed, until the run is over or
// nobody works on it, which is no error, or ctx ends.
func Follow(ctx context.Context, w io.Writer, f Format, r Reader, run engine.RunID) error {
	out, err := newMetricsWriter(f, w)
	if err != nil {
		return err
	}
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for last := (time.Time{}); ; {
		// Asked before the rows: those of a run that is over are all there.
		record, err := r.Run(ctx, run)
		if err != nil {
			return err
		}
		for m, err := range r.Metrics(ctx, run, last) {
			if err != nil {
				return err
			}
			if err := out.add(m); err != nil {
				return err
			}
			last = m.At
		}
		if err := out.t.flush(); err != nil {
			return err
		}
		if !record.InProgress {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

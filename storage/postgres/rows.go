package postgres

import (
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
)

// copied is a table that rows are copied into. Its columns are those of the CSV files.
type copied struct {
	name    string
	columns []string
}

var (
	sessionsTable = copied{"sessions", strings.Fields(`run cycle agent_index take agent session outcome class step because error steps events acted
		started queue_wait_ms held_ms service_ms total_ms requests retries rate_limited replayed resent confirmed not_repeated unconfirmed label
		model_calls input_tokens output_tokens cost_usd cache_hits recorded calls_again trail`)}
	eventsTable  = copied{"events", strings.Fields(`run cycle agent_index take sequence agent session step event data`)}
	metricsTable = copied{"metrics", metricsNames()}
)

// session appends a session, but for its trail; agent and session are its names.
func (r *copyRows) session(run string, s *engine.SessionRow, agent, session string) {
	asked := storage.AskedOf(s)
	r.row(len(sessionsTable.columns))
	r.place(run, s.Place)
	r.text(agent)
	r.text(session)
	r.text(s.Outcome.String())
	r.optional(s.Class.String())
	r.optional(s.Path)
	r.optional(s.Because)
	r.optional(s.Error)
	r.int4(int64(len(s.Steps)))
	r.int4(int64(len(s.Events)))
	r.bool(s.Acted)
	r.time(s.Started)
	r.millis(s.Queue)
	r.millis(s.Held)
	r.millis(s.Service)
	r.millis(s.Total)
	r.int4(asked.Requests)
	r.int4(asked.Retries)
	r.int4(asked.RateLimited)
	r.int4(asked.Labels[engine.Replayed])
	r.int4(asked.Labels[engine.Resent])
	r.int4(asked.Labels[engine.Confirmed])
	r.int4(asked.Labels[engine.NotRepeated])
	r.int4(asked.Labels[engine.Unconfirmed])
	r.text(asked.Label.String())
	r.int4(asked.Usage.Calls)
	r.int8(asked.Usage.Input)
	r.int8(asked.Usage.Output)
	r.cost(&asked.Usage)
	r.int4(asked.Usage.Hits)
	r.int4(asked.Labels[engine.Recorded])
	r.int4(asked.Usage.Again)
}

// trail is the last column of a session.
func (r *copyRows) trail(id int64, ok bool) {
	if ok {
		r.int8(id)
	} else {
		r.null()
	}
}

func (r *copyRows) place(run string, p engine.Place) {
	r.text(run)
	r.int4(int64(p.Cycle))
	r.int4(int64(p.Agent))
	r.int4(int64(p.Take))
}

// events appends the events of a session.
func (r *copyRows) events(run string, s *engine.SessionRow, agent, session string) {
	for i := range s.Events {
		e := &s.Events[i]
		r.row(len(eventsTable.columns))
		r.place(run, s.Place)
		r.int4(int64(i))
		r.text(agent)
		r.text(session)
		r.text(e.Path)
		r.text(e.Name)
		r.json(e.Data)
	}
}

// metricsColumn is a column of metrics, behind run and at.
type metricsColumn struct {
	name   string
	append func(r *copyRows, m *engine.MetricsRow)
}

// metricsColumns is the one table of what a second of metrics holds: metrics.csv, in its order.
var metricsColumns = slices.Concat([]metricsColumn{
	count("cycle", func(m *engine.MetricsRow) int64 { return int64(m.Cycle) }),
	count("agents_processed", func(m *engine.MetricsRow) int64 { return m.Ended }),
	count("agents_shopped", func(m *engine.MetricsRow) int64 { return m.Acted }),
	{"avg_latency_ms", func(r *copyRows, m *engine.MetricsRow) { r.quantile(&m.Total, m.Total.Mean) }},
	figure("writes_per_sec", func(m *engine.MetricsRow) float64 { return m.WritesPerSec }),
	figure("cpu_percent", func(m *engine.MetricsRow) float64 { return m.Host.CPU }),
	megabytes("memory_mb", func(m *engine.MetricsRow) uint64 { return m.Host.Memory }),
	figure("process_cpu_percent", func(m *engine.MetricsRow) float64 { return m.Host.ProcessCPU }),
	{"phase", func(r *copyRows, m *engine.MetricsRow) { r.text(m.Phase.String()) }},
	count("limit", func(m *engine.MetricsRow) int64 { return int64(m.Limit) }),
	count("in_flight", func(m *engine.MetricsRow) int64 { return int64(m.InFlight) }),
	figure("sessions_per_sec", func(m *engine.MetricsRow) float64 { return m.SessionsPerSec }),
	figure("requests_per_sec", func(m *engine.MetricsRow) float64 { return m.RequestsPerSec }),
}, quantiles("latency", func(m *engine.MetricsRow) *engine.Quantiles { return &m.Total }),
	quantiles("service", func(m *engine.MetricsRow) *engine.Quantiles { return &m.Service }),
	quantiles("held", func(m *engine.MetricsRow) *engine.Quantiles { return &m.Held }), []metricsColumn{
		count("rate_limited", func(m *engine.MetricsRow) int64 { return m.RateLimited }),
		count("retries", func(m *engine.MetricsRow) int64 { return m.Retries }),
	}, errorColumns(), []metricsColumn{
		megabytes("available_memory_mb", func(m *engine.MetricsRow) uint64 { return m.Host.Available }),
		figure("net_in_bytes_per_sec", func(m *engine.MetricsRow) float64 { return m.Host.NetIn }),
		figure("net_out_bytes_per_sec", func(m *engine.MetricsRow) float64 { return m.Host.NetOut }),
		megabytes("disk_free_mb", func(m *engine.MetricsRow) uint64 { return m.Host.DiskFree }),
		known("db_connections", func(m *engine.MetricsRow) int64 { return int64(m.Connections) }),
		known("db_server_connections", func(m *engine.MetricsRow) int64 { return int64(m.ServerConnections) }),
		{"schedule_lag_ms", func(r *copyRows, m *engine.MetricsRow) { r.millis(m.Lag) }},
		known("unsent_rows", func(m *engine.MetricsRow) int64 { return m.Unsent }),
		known("db_max_connections", func(m *engine.MetricsRow) int64 { return int64(m.ServerMax) }),
		count("model_calls", func(m *engine.MetricsRow) int64 { return m.Usage.Calls }),
		count("input_tokens", func(m *engine.MetricsRow) int64 { return m.Usage.Input }),
		count("output_tokens", func(m *engine.MetricsRow) int64 { return m.Usage.Output }),
		{"cost_usd", func(r *copyRows, m *engine.MetricsRow) { r.cost(&m.Usage) }},
		count("parallel_steps", func(m *engine.MetricsRow) int64 { return m.Flow.Parallel }),
		count("sequential_steps", func(m *engine.MetricsRow) int64 { return m.Flow.Sequential }),
		count("step_errors", func(m *engine.MetricsRow) int64 { return m.Flow.Failed }),
		count("step_timeouts", func(m *engine.MetricsRow) int64 { return m.Flow.TimedOut }),
		figure("parallel_rate", func(m *engine.MetricsRow) float64 { return m.Flow.Rate(m.Ended) }),
		figure("chain_speedup", func(m *engine.MetricsRow) float64 { return m.Flow.Speedup() }),
		figure("speedup", func(m *engine.MetricsRow) float64 { return m.Speedup }),
		figure("timeout_rate", (*engine.MetricsRow).TimeoutRate),
	}, quantiles("queue_wait", func(m *engine.MetricsRow) *engine.Quantiles { return &m.Queue }), waits(), []metricsColumn{
		count("calls_again", func(m *engine.MetricsRow) int64 { return m.Usage.Again }),
	}, poolColumns, times(), overheadColumns)

// poolColumns are Throng's connections to remote databases.
var poolColumns = []metricsColumn{
	pool("db_pool_size", func(p *engine.Pool) int { return p.Size }),
	pool("db_in_use", func(p *engine.Pool) int { return p.InUse }),
	pool("db_idle", func(p *engine.Pool) int { return p.Idle }),
	pool("db_waiting", func(p *engine.Pool) int { return p.Waiting }),
}

// pool is a figure that is NULL where there is no pool.
func pool(name string, value func(p *engine.Pool) int) metricsColumn {
	return known(name, func(m *engine.MetricsRow) int64 {
		if m.Pool.Size == 0 {
			return -1
		}
		return int64(value(&m.Pool))
	})
}

// waits are how long each gate has held requests back so far.
func waits() []metricsColumn {
	var all []metricsColumn
	for _, g := range engine.Gates() {
		all = append(all, metricsColumn{"held_by_" + g.String() + "_ms", func(r *copyRows, m *engine.MetricsRow) { r.millis(m.Waits[g]) }})
	}
	return all
}

// times are what the time of all sessions together went to so far.
func times() []metricsColumn {
	var all []metricsColumn
	for _, p := range engine.Purposes() {
		name := "time_" + strings.ReplaceAll(p.String(), " ", "_") + "_ms"
		all = append(all, spent(name, func(m *engine.MetricsRow) time.Duration { return m.Overhead.Times[p] }))
	}
	return all
}

// overheadColumns are what a second took of the machine beside, and by how much its times may be wrong.
var overheadColumns = []metricsColumn{
	figure("collector_cpu_percent", func(m *engine.MetricsRow) float64 { return m.Host.Collector }),
	spent("journal_writer_ms", func(m *engine.MetricsRow) time.Duration { return m.Overhead.Writer }),
	spent("window_cpu_ms", func(m *engine.MetricsRow) time.Duration { return m.Overhead.Window }),
	spent("late_ms", func(m *engine.MetricsRow) time.Duration { return m.Late.Tick }),
	spent("core_wait_p99_ms", func(m *engine.MetricsRow) time.Duration { return m.Late.Core }),
}

// spent is a figure of the overhead, NULL where that was not measured.
func spent(name string, value func(m *engine.MetricsRow) time.Duration) metricsColumn {
	return metricsColumn{name, func(r *copyRows, m *engine.MetricsRow) {
		if m.Overhead.Span <= 0 {
			r.null()
		} else {
			r.millis(value(m))
		}
	}}
}

func metricsNames() []string {
	names := []string{"run", "at"}
	for _, c := range metricsColumns {
		names = append(names, c.name)
	}
	return names
}

func count(name string, value func(m *engine.MetricsRow) int64) metricsColumn {
	return metricsColumn{name, func(r *copyRows, m *engine.MetricsRow) { r.int8(value(m)) }}
}

// known is a count that is NULL where it is negative.
func known(name string, value func(m *engine.MetricsRow) int64) metricsColumn {
	return metricsColumn{name, func(r *copyRows, m *engine.MetricsRow) {
		if n := value(m); n >= 0 {
			r.int8(n)
		} else {
			r.null()
		}
	}}
}

func figure(name string, value func(m *engine.MetricsRow) float64) metricsColumn {
	return metricsColumn{name, func(r *copyRows, m *engine.MetricsRow) { r.figure(value(m)) }}
}

// megabytes are those of a million bytes; 0 is not known.
func megabytes(name string, bytes func(m *engine.MetricsRow) uint64) metricsColumn {
	return metricsColumn{name, func(r *copyRows, m *engine.MetricsRow) {
		if n := bytes(m); n > 0 {
			r.figure(float64(n) / 1e6)
		} else {
			r.null()
		}
	}}
}

func quantiles(of string, value func(m *engine.MetricsRow) *engine.Quantiles) []metricsColumn {
	column := func(name string, d func(q *engine.Quantiles) time.Duration) metricsColumn {
		return metricsColumn{of + "_" + name + "_ms", func(r *copyRows, m *engine.MetricsRow) { r.quantile(value(m), d(value(m))) }}
	}
	return []metricsColumn{
		column("p50", func(q *engine.Quantiles) time.Duration { return q.P50 }),
		column("p95", func(q *engine.Quantiles) time.Duration { return q.P95 }),
		column("p99", func(q *engine.Quantiles) time.Duration { return q.P99 }),
		column("max", func(q *engine.Quantiles) time.Duration { return q.Max }),
	}
}

func errorColumns() []metricsColumn {
	var all []metricsColumn
	for _, c := range engine.Classes() {
		all = append(all, count("errors_"+c.String(), func(m *engine.MetricsRow) int64 { return m.Errors[c] }))
	}
	return all
}

// cost is what calls of models cost in US dollars; NULL where a price is not known.
func (r *copyRows) cost(u *engine.Usage) {
	if u.Unpriced > 0 {
		r.null()
		return
	}
	r.billionths(u.Cost)
}

// quantile is a figure of durations; NULL where there were none.
func (r *copyRows) quantile(q *engine.Quantiles, d time.Duration) {
	if q.Count == 0 {
		r.null()
		return
	}
	r.millis(d)
}

func (r *copyRows) metrics(run string, m *engine.MetricsRow) {
	r.row(len(metricsTable.columns))
	r.text(run)
	r.time(m.At)
	for _, c := range metricsColumns {
		c.append(r, m)
	}
}

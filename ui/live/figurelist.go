package live

import (
	"fmt"
	"math"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/engine/workers"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

var figureColumns = []widgets.Column{
	{Title: "Figure", Sample: "Engine overhead"},
	{Title: "Value", Sample: "as fast as possible", Weight: 1},
	{Title: "Health", Sample: "critical"},
}

// figures returns the table of all other figures of the run.
func (l *lists) figures(f *feed) (rows []widgets.Row) {
	s, m, job := f.snap, &f.snap.Metrics, l.orders.screen.job
	add := func(name, value string, of health.Metric) {
		level := health.Unknown
		if of != "" {
			level = health.Find(f.health, of).Level
		}
		rows = append(rows, widgets.Row{Key: name, Cells: []widgets.Cell{{Text: name, Tone: widgets.Quiet}, {Text: value}, {Text: word(level), Tone: tone(level)}}})
	}
	add("Simulated time", s.SimTime.Format("Mon 2 Jan 2006 15:04"), "")
	add("Elapsed", engine.FormatDuration(s.Elapsed.Truncate(time.Second)), "")
	plan, _ := schedule(job, s)
	add("Schedule", plan, health.MetricSchedule)
	if s.Arrivals != "" {
		add("Arrivals", s.Arrivals, "")
	}
	add("Requests", short(s.Requests)+", "+view.FormatPerSecond(m.RequestsPerSec), "")
	add("Retries", short(s.Retries), "")
	add("429s", short(s.RateLimited), health.MetricRefused)
	price, _ := cost(s)
	add("Cost so far", price, "")
	if found := health.Find(f.health, health.MetricCached); found.Value != "" {
		add("Cached prompts", found.Value+" of the tokens of long ones", health.MetricCached)
	}
	if text := budget(s); text != "" {
		add("Budget", text, "")
	}
	o, _ := f.vitals.Overhead(s)
	add("Engine overhead", lostShare(o.Times.Lost())+" of the sessions' time", health.MetricLost)
	add("CPU", fmt.Sprintf("%.0f%%, Throng %.0f%%", m.Host.CPU, ownCPU(m)), health.MetricCPU)
	if len(f.workers) > 0 {
		add("Fleet", workers.Summary(f.workers), health.MetricWorkers)
		add("CPU of workers", health.Find(f.health, health.MetricWorkerCPU).Value, health.MetricWorkerCPU)
	}
	add("Memory left", size(m.Host.Available), health.MetricMemoryLeft)
	add("Throng's memory", size(m.Host.Memory), health.MetricOwnMemory)
	if m.Pool.Size > 0 || m.ServerConnections >= 0 {
		add("Database connections", connections(m), health.MetricConnections)
	}
	add("Checkpoints", saved(s), health.MetricCheckpoint)
	events := engine.FormatCount(s.Events)
	if f.past {
		events += " in its cycle"
	}
	add("Events", events, "")
	return rows
}

// connections describes the connections to the database of the run.
func connections(m *engine.MetricsRow) string {
	own := fmt.Sprintf("%d own", max(m.Connections, 0))
	if m.Pool.Size > 0 {
		own = fmt.Sprintf("%d of %d own", max(m.Connections, 0), m.Pool.Size)
	}
	if m.ServerConnections >= 0 && m.ServerMax > 0 {
		return fmt.Sprintf("%d of %d, %s", m.ServerConnections, m.ServerMax, own)
	}
	return own
}

// size writes bytes, rounded so that the text seldom changes.
func size(n uint64) string {
	switch {
	case n == 0:
		return "–"
	case n >= 100e6 && n < 1e9:
		n = n / 10e6 * 10e6
	}
	return engine.FormatBytes(int64(min(n, math.MaxInt64)))
}

package live

import (
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// charts are the charts of a run.
type charts struct {
	grid   *fyne.Container
	all    []curves
	group  *chart.Group
	marked []chart.Marker
	bands  []chart.Band
	feed   *feed         // the feed that was drawn last
	lately time.Duration // how much of the end is shown; 0: the whole run
	span   *widget.Select
	keep   chart.Keep
	remote bool
}

// curves is a chart and the indices of its series in a feed.
type curves struct {
	*chart.Chart
	first, end int
}

// newCharts returns charts for no job; keep says where pictures of charts are saved.
func newCharts(keep chart.Keep) *charts {
	c := &charts{grid: container.New(&grid{}), keep: keep}
	c.group = chart.NewGroup(c.zoomed)
	c.span = newSpan(c)
	return c
}

// begin makes the charts of a job. The lines depend on whether the run sends to a database.
func (c *charts) begin(job *Job) {
	c.all, c.feed = nil, nil
	c.remote = job.Remote != "" || slices.ContainsFunc(job.Snapshot().Services, func(s engine.ServiceState) bool { return s.Kind == "postgres" })
	c.all = newCurves(c.remote, c.keep)
	c.group.Clear()
	for _, one := range c.all {
		c.group.Add(one.Chart)
	}
	c.showSpan()
	c.grid.Objects = panels(c.all)
	c.grid.Refresh()
}

// newCurves makes the charts.
func newCurves(remote bool, keep chart.Keep) (all []curves) {
	add := func(first int, config chart.Config) {
		config.Keep = keep
		all = append(all, curves{chart.New(config), first, first + len(config.Series)})
	}
	connections := chart.Config{Title: "Store connections", Fill: true, Series: series("Throng")}
	if remote {
		connections = chart.Config{Title: "Database connections", Limit: true, Series: series("Throng", "all clients", "in use", "waiting")}
	}
	add(seriesCPU, chart.Config{Title: "CPU", Unit: chart.Percent, Series: series("machine", "Throng")})
	add(seriesP50, chart.Config{Title: "Latency", Unit: chart.Duration, Series: series("p50", "p95", "p99", "mean")})
	add(seriesLimit, chart.Config{Title: "Concurrency", Series: series("limit", "in flight")})
	add(seriesMemory, chart.Config{Title: "Memory", Unit: chart.Bytes, Fill: true, Series: series("Throng")})
	add(seriesSessions, chart.Config{Title: "Throughput", Unit: chart.PerSecond, Series: series("sessions", "requests")})
	add(seriesConnections, connections)
	return all
}

func panels(all []curves) (objects []fyne.CanvasObject) {
	for _, one := range all {
		objects = append(objects, widgets.NewPanel("", one.Chart))
	}
	return objects
}

func series(names ...string) []chart.SeriesConfig {
	all := make([]chart.SeriesConfig, len(names))
	for i, name := range names {
		all[i].Name = name
	}
	return all
}

// draw shows a feed.
func (c *charts) draw(f *feed) {
	c.feed = f
	c.set(c.all, f)
}

// set shows a feed on some charts.
func (c *charts) set(all []curves, f *feed) {
	times, values := f.rows()
	if len(times) == 0 {
		blank(all, f)
		return
	}
	from, to := c.ends(f, times[0])
	c.marked = c.marked[:0]
	for i := range f.marks {
		c.marked = append(c.marked, f.marks[i].Marker)
	}
	for _, one := range all {
		data := chart.Data{Times: times, Values: values[one.first:one.end], From: from, To: to, Markers: c.marked}
		switch one.first {
		case seriesConnections:
			data.Limit, data.LimitName = f.most, "max"
		case seriesLimit:
			if governed(f.snap) {
				data.Limit, data.LimitName = float64(f.snap.Ceiling), "ceiling"
			}
		}
		c.bands = appendBands(c.bands[:0], one.first, &f.snap.Metrics)
		one.SetBands(c.bands...)
		one.Set(data)
	}
}

// bounded are the metrics of health with bands in a chart, by the chart's first series.
var bounded = map[int]health.Metric{
	seriesCPU: health.MetricCPU, seriesP50: health.MetricLatency, seriesMemory: health.MetricOwnMemory, seriesConnections: health.MetricConnections,
}

// appendBands appends the ranges in which a chart's metric is a warning, or critical.
func appendBands(bands []chart.Band, first int, m *engine.MetricsRow) []chart.Band {
	metric, ok := bounded[first]
	if !ok {
		return bands
	}
	warning, critical, ok := health.Thresholds(metric, m)
	if !ok {
		return bands
	}
	low := chart.Band{From: warning, To: critical, Level: theme.ColorNameWarning}
	high := chart.Band{From: critical, Level: theme.ColorNameError}
	if metric == health.MetricLatency { // health judges the mean, the chart shows percentiles
		low.Text, high.Text = "warning, as a mean", "critical, as a mean"
	}
	return append(bands, low, high)
}

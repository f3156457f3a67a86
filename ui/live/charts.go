package live

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

const (
	leastSpan = time.Minute // of the time axis
	lately    = 10 * time.Minute
)

// charts are the curves of a run.
type charts struct {
	grid   *fyne.Container
	all    []curves
	marked []chart.Marker
	feed   *feed // as drawn last
	lately bool  // only the last minutes are shown
	remote bool
}

// curves is a chart with where its values are among the series of a feed.
type curves struct {
	*chart.Chart
	first, end int
}

func newCharts() *charts { return &charts{grid: container.NewWithoutLayout()} }

// begin makes the charts for a job: which lines there are depends on where its results go.
func (c *charts) begin(job *Job) {
	c.all, c.feed = nil, nil
	c.remote = job.Remote != ""
	c.all = newCurves(c.remote)
	c.grid.Objects = panels(c.all)
	c.grid.Refresh()
}

// newCurves makes the charts.
func newCurves(remote bool) (all []curves) {
	add := func(first int, config chart.Config) {
		all = append(all, curves{chart.New(config), first, first + len(config.Series)})
	}
	connections := chart.Config{Title: "Store connections", Fill: true, Series: series("Throng")}
	if remote {
		connections = chart.Config{Title: "Database connections", Limit: true, Series: series("Throng", "all clients")}
	}
	add(seriesCPU, chart.Config{Title: "CPU", Unit: chart.Percent, Series: series("machine", "Throng")})
	add(seriesP50, chart.Config{Title: "Latency", Unit: chart.Duration, Series: series("p50", "p95", "p99")})
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

// show draws the last minutes only, or the whole run.
func (c *charts) show(onlyLately bool) {
	c.lately = onlyLately
	if c.feed != nil {
		c.draw(c.feed)
	}
}

// draw shows a feed.
func (c *charts) draw(f *feed) {
	c.feed = f
	c.set(c.all, f)
}

// set shows a feed on some charts.
func (c *charts) set(all []curves, f *feed) {
	times, values := f.history.Rows()
	if len(times) == 0 {
		return
	}
	to := f.last.Local()
	from := time.UnixMicro(int64(times[0] * 1e6)).Local()
	if earliest := to.Add(-lately); c.lately && from.Before(earliest) {
		from = earliest
	}
	if to.Sub(from) < leastSpan {
		to = from.Add(leastSpan)
	}
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
		one.Set(data)
	}
}

package live

import (
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// charts are one large chart of a run and small ones next to it. A click on a small one makes it the large one.
type charts struct {
	content *fyne.Container
	stack   *fyne.Container // the large charts, one of them visible
	sparks  *fyne.Container
	small   []*chart.Spark // by chart; nil for a chart that only the picker offers
	all     []curves
	chosen  int
	group   *chart.Group
	marked  []chart.Marker
	bands   []chart.Band
	feed    *feed         // the feed that was drawn last
	lately  time.Duration // how much of the end is shown; 0: the whole run
	picker  *widget.Select
	whose   *widgets.Segments // whose latency is shown
	span    *widget.Select
	reset   *widget.Button
	saving  *widget.Button
	keep    chart.Keep
	remote  bool
	quiet   bool // the picker is set by the program
}

// curves is a chart and the indices of its series in a feed.
type curves struct {
	*chart.Chart
	title      string
	first, end int
}

// The choices of latency.
const (
	activeLatency = iota
	everyLatency
)

// newCharts returns charts for no job; keep says where pictures of charts are saved, and save saves all of them.
func newCharts(keep chart.Keep, save func()) *charts {
	c := &charts{keep: keep, stack: container.NewStack(), sparks: container.New(evenly{})}
	c.group = chart.NewGroup(c.zoomed)
	c.span = newSpan(c)
	c.picker = widget.NewSelect(nil, c.pick)
	c.whose = widgets.NewSegments([]string{"Active", "All"}, func(int) { c.again() })
	c.reset = widget.NewButtonWithIcon("Reset zoom", theme.ZoomFitIcon(), func() {
		c.group.Reset()
		c.zoomed()
	})
	c.saving = widget.NewButtonWithIcon("Save charts…", theme.DocumentSaveIcon(), save)
	tools := container.NewHBox(form.NewCompact(form.NewFrame(c.picker)), c.whose, form.NewCompact(c.reset), layout.NewSpacer(),
		form.NewCompact(form.NewFrame(c.span)), form.NewCompact(c.saving))
	large := container.NewBorder(tools, nil, nil, nil, c.stack)
	c.content = container.New(aside{}, widgets.NewPanel("", large), widgets.NewPanel("", c.sparks))
	c.reset.Hide()
	return c
}

// begin makes the charts of a job. There is a chart of database connections only if the run uses a database.
func (c *charts) begin(job *Job) {
	c.feed = nil
	c.remote = job.Remote != "" || slices.ContainsFunc(job.Snapshot().Services, func(s engine.ServiceState) bool { return s.Kind == "postgres" })
	c.all = newCurves(c.remote, c.keep)
	c.group.Clear()
	c.small, c.sparks.Objects, c.stack.Objects = nil, nil, nil
	var titles []string
	for i, one := range c.all {
		c.group.Add(one.Chart)
		titles = append(titles, one.title)
		c.stack.Add(one.Chart)
		var s *chart.Spark
		if i < mostSparks {
			series, title := 0, one.title
			if one.first == seriesP50 {
				series, title = seriesP95-seriesP50, view.LatencyCaption
			}
			s = chart.NewSpark(one.Chart, series, title, func() { c.choose(i) })
			c.sparks.Add(s)
		}
		c.small = append(c.small, s)
	}
	c.picker.Options = titles
	c.choose(0)
	c.showSpan()
	c.sparks.Refresh()
}

// mostSparks is the number of small charts.
const mostSparks = 5

// pick makes the chart with a title the large one.
func (c *charts) pick(title string) {
	if i := slices.IndexFunc(c.all, func(one curves) bool { return one.title == title }); i >= 0 && !c.quiet {
		c.choose(i)
	}
}

// choose makes a chart the large one.
func (c *charts) choose(i int) {
	c.chosen = i
	for k, one := range c.all {
		see(one.Chart, k == i)
		if s := c.small[k]; s != nil {
			s.Mark(k == i)
		}
	}
	c.quiet = true
	c.picker.SetSelected(c.all[i].title)
	c.quiet = false
	see(c.whose, c.all[i].first == seriesP50)
	c.stack.Refresh()
	c.again()
}

// newCurves makes the charts, those with a small one first.
func newCurves(remote bool, keep chart.Keep) (all []curves) {
	add := func(first int, config chart.Config) {
		config.Keep = keep
		all = append(all, curves{chart.New(config), config.Title, first, first + len(config.Series)})
	}
	add(seriesSessions, chart.Config{Title: "Throughput", Unit: chart.PerSecond, Series: series("sessions", "requests")})
	add(seriesP50, chart.Config{Title: "Latency", Unit: chart.Duration, Series: series("p50", "p95", "p99", "mean")})
	add(seriesCPU, chart.Config{Title: "CPU", Unit: chart.Percent, Series: series("machine", "Throng")})
	add(seriesMemory, chart.Config{Title: "Memory", Unit: chart.Bytes, Fill: true, Series: series("Throng")})
	if remote {
		add(seriesConnections, chart.Config{Title: "DB connections", Limit: true, Series: series("Throng", "all clients", "in use", "waiting")})
	}
	add(seriesLimit, chart.Config{Title: "Concurrency", Series: series("limit", "in flight")})
	return all
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
	if c.chosen >= len(c.all) {
		return
	}
	c.set(c.all[c.chosen:c.chosen+1], f)
	times, values := f.rows()
	for i, s := range c.small {
		if s != nil {
			from, to := c.ends(f, orNow(times, f))
			s.Set(chart.Data{Times: times, Values: values[c.first(i, f):], From: from, To: to}, c.figure(i, f))
		}
	}
}

// figure returns the value of a small chart where a tile has the same figure, so that both agree, or "".
func (c *charts) figure(i int, f *feed) string {
	switch c.first(i, f) {
	case seriesSessions:
		return view.Throughput(f.snap, f.past)
	case seriesP50:
		return view.LatencyP95(&f.snap.Active)
	case seriesAllP50:
		return view.LatencyP95(&f.snap.Latency)
	}
	return ""
}

// orNow returns the first of some times, or the time of the feed.
func orNow(times []float64, f *feed) float64 {
	if len(times) == 0 {
		return chart.Seconds(f.last)
	}
	return times[0]
}

// first returns the index of a chart's first series.
func (c *charts) first(i int, f *feed) int { return c.firstOf(c.all[i], f) }

// firstOf returns the index of the first series of a chart: the latency may be that of all sessions.
func (c *charts) firstOf(one curves, f *feed) int {
	if one.first == seriesP50 && (c.whose.Chosen() == everyLatency || !f.acts) {
		return seriesAllP50
	}
	return one.first
}

// set shows a feed on some charts.
func (c *charts) set(all []curves, f *feed) {
	times, values := f.rows()
	if len(times) == 0 {
		blank(all, f)
		return
	}
	from, to := c.ends(f, times[0])
	c.marked = f.markers()
	for _, one := range all {
		first := c.firstOf(one, f)
		data := chart.Data{Times: times, Values: values[first : first+one.end-one.first], From: from, To: to, Markers: c.marked}
		switch one.first {
		case seriesConnections:
			data.Limit, data.LimitName = f.most, "max"
		case seriesLimit:
			if governed(f.snap) {
				data.Limit, data.LimitName = float64(f.snap.Ceiling), "highest limit"
			}
		}
		c.bands = c.bands[:0]
		if one.first != seriesCPU || !governed(f.snap) { // a governor keeps the CPU free
			c.bands = appendBands(c.bands, one.first, f.snap)
		}
		one.SetBands(c.bands...)
		one.Set(data)
	}
}

// bounded are the metrics of health with bands in a chart, by the chart's first series.
var bounded = map[int]health.Metric{
	seriesCPU: health.MetricCPU, seriesP50: health.MetricLatency, seriesMemory: health.MetricOwnMemory, seriesConnections: health.MetricConnections,
}

// appendBands appends the ranges in which a chart's metric is a warning, or critical.
func appendBands(bands []chart.Band, first int, s *engine.Snapshot) []chart.Band {
	metric, ok := bounded[first]
	if !ok {
		return bands
	}
	warning, critical, ok := health.Thresholds(metric, s)
	if !ok {
		return bands
	}
	return append(bands, chart.Band{From: warning, To: critical, Level: theme.ColorNameWarning}, chart.Band{From: critical, Level: theme.ColorNameError})
}

// aside puts the second object at the right of the first, at a quarter of the width.
type aside struct{}

// MinSize implements [fyne.Layout].
func (aside) MinSize(objects []fyne.CanvasObject) fyne.Size {
	first, second := objects[0].MinSize(), objects[1].MinSize()
	return fyne.NewSize(first.Width+theme.Padding()+second.Width, max(first.Height, second.Height))
}

// Layout implements [fyne.Layout].
func (aside) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	right := max(objects[1].MinSize().Width, min(size.Width*0.26, 24*theme.TextSize()))
	place(objects[0], 0, 0, size.Width-right-theme.Padding(), size.Height)
	place(objects[1], size.Width-right, 0, right, size.Height)
}

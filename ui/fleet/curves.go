package fleet

import (
	"math"
	"slices"
	"sort"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"github.com/throng-sim/throng/engine/workers"
	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// curves are the charts of workers over time. Each of the first workers has an area, and the others one together.
type curves struct {
	content *fyne.Container
	layout  *wrapping
	keep    chart.Keep
	group   *chart.Group
	charts  []*chart.Chart // by metric
	names   []string       // of the workers with an area, in the order in which they joined
	others  bool           // there are more workers
	drawn   [area]bool     // by place: the newest row has a value that is not the end of an area
	history *chart.History // one series a place of each metric
	marks   []chart.Marker
	until   time.Time // as drawn last
}

const (
	places   = 8 // workers with an area; the charts can distinguish as many
	keptRows = 3600
	least    = time.Minute // the shortest time axis
	asleep   = time.Hour   // after such a pause, the charts start again
)

// metrics are the figures with a chart.
var metrics = []struct {
	title string
	unit  chart.Unit
	of    func(w *workers.Sample) float64
}{
	{"Sessions", chart.PerSecond, func(w *workers.Sample) float64 { return w.PerSecond }},
	{"In flight", chart.Count, func(w *workers.Sample) float64 { return float64(w.InFlight) }},
	{"CPU cores", chart.Count, func(w *workers.Sample) float64 { return w.CPU / 100 }},
}

// area is the number of series of a metric: the places and the other workers.
const area = places + 1

func newCurves(keep chart.Keep) *curves {
	c := &curves{keep: keep, layout: &wrapping{}}
	c.content = container.New(c.layout)
	c.group = chart.NewGroup(func() { c.draw(c.marks, c.until) })
	c.begin(0)
	return c
}

// begin drops the figures of another run. A pause that is longer than gap breaks the areas.
func (c *curves) begin(gap time.Duration) {
	c.names, c.others, c.marks, c.until, c.drawn = nil, false, nil, time.Time{}, [area]bool{}
	c.history = chart.NewHistory(area*len(metrics), keptRows, gap)
	c.build()
}

// build makes the charts for the workers that are known.
func (c *curves) build() {
	c.group.Clear()
	c.charts, c.content.Objects = nil, nil
	for _, m := range metrics {
		config := chart.Config{Title: m.title, Unit: m.unit, Stack: true, Keep: c.keep}
		for _, name := range c.names {
			config.Series = append(config.Series, chart.SeriesConfig{Name: name})
		}
		if c.others {
			config.Series = append(config.Series, chart.SeriesConfig{Name: "others", Color: widgets.ColorMuted})
		}
		one := chart.New(config)
		c.group.Add(one)
		c.charts = append(c.charts, one)
		c.content.Add(widgets.NewPanel("", one))
	}
}

// add adds the samples of a moment. The area of a worker without one ends at 0.
func (c *curves) add(at time.Time, all []workers.Sample) {
	known, others := len(c.names), c.others
	row := make([]float64, area*len(metrics))
	for i := range row {
		row[i] = math.NaN()
	}
	add := func(place int, w *workers.Sample) {
		for k := range metrics {
			cell := &row[k*area+place]
			if v := metrics[k].of(w); math.IsNaN(*cell) {
				*cell = v
			} else {
				*cell += v
			}
		}
	}
	var has [area]bool
	for i := range all {
		place := c.place(all[i].Name)
		has[place] = true
		add(place, &all[i])
	}
	for place, was := range c.drawn {
		if was && !has[place] {
			add(place, &workers.Sample{})
		}
	}
	c.drawn = has
	c.history.Add(at, row...)
	if known != len(c.names) || others != c.others {
		c.build()
	}
}

// place returns the place of a worker, which it keeps; "" stands for several workers.
func (c *curves) place(name string) int {
	if i := slices.Index(c.names, name); i >= 0 {
		return i
	}
	if len(c.names) == places || name == "" {
		c.others = true
		return places
	}
	c.names = append(c.names, name)
	return len(c.names) - 1
}

// draw draws the charts up to a moment; the zero time is the end.
func (c *curves) draw(marks []chart.Marker, until time.Time) {
	c.marks, c.until = marks, until
	times, values := c.history.Rows()
	first, end := shown(times, until)
	if first == end {
		for _, one := range c.charts {
			one.Set(chart.Data{})
		}
		return
	}
	times = times[first:end]
	from, to := time.UnixMicro(int64(times[0]*1e6)).Local(), time.UnixMicro(int64(times[len(times)-1]*1e6)).Local()
	if to.Sub(from) < least {
		to = from.Add(least)
	}
	from, to = c.group.Span(from, to)
	for k, one := range c.charts {
		data := chart.Data{Times: times, From: from, To: to, Markers: marks}
		for place := range len(c.names) {
			data.Values = append(data.Values, values[k*area+place][first:end])
		}
		if c.others {
			data.Values = append(data.Values, values[k*area+places][first:end])
		}
		one.Set(data)
	}
}

// shown returns which times are drawn: those up to a moment, since the last long pause before it.
func shown(times []float64, until time.Time) (first, end int) {
	end = len(times)
	if !until.IsZero() {
		end = sort.Search(len(times), func(i int) bool { return times[i] > chart.Seconds(until) })
	}
	for first = max(end-1, 0); first > 0 && times[first]-times[first-1] < asleep.Seconds(); first-- {
	}
	return first, end
}

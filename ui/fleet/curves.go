package fleet

import (
	"math"
	"slices"
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
	keep    chart.Keep
	group   *chart.Group
	charts  []*chart.Chart // by metric
	names   []string       // of the workers with an area, in the order in which they joined
	others  bool           // there are more workers
	drawn   [area]bool     // by place: the newest row has a value that is not the end of an area
	history *chart.History // one series a place of each metric
	marks   []chart.Marker
}

const (
	places   = 8 // workers with an area; the charts can distinguish as many
	keptRows = 3600
	gap      = 5 * time.Second // breaks the areas
	least    = time.Minute     // the shortest time axis
)

// metrics are the figures with a chart.
var metrics = []struct {
	title string
	unit  chart.Unit
	of    func(w *workers.State) float64
}{
	{"Sessions", chart.PerSecond, func(w *workers.State) float64 { return w.PerSecond }},
	{"In flight", chart.Count, func(w *workers.State) float64 { return float64(w.InFlight) }},
}

// area is the number of series of a metric: the places and the other workers.
const area = places + 1

func newCurves(keep chart.Keep) *curves {
	c := &curves{keep: keep, content: container.NewGridWithColumns(len(metrics))}
	c.group = chart.NewGroup(func() { c.draw(c.marks) })
	c.begin()
	return c
}

// begin drops the figures of another run.
func (c *curves) begin() {
	c.names, c.others, c.marks, c.drawn = nil, false, nil, [area]bool{}
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

// add adds the figures of a second. A worker that is gone has none; its area ends at 0.
func (c *curves) add(at time.Time, all []workers.State) {
	known, others := len(c.names), c.others
	row := make([]float64, area*len(metrics))
	for i := range row {
		row[i] = math.NaN()
	}
	for i := range all {
		w := &all[i]
		if gone(w) && !slices.Contains(c.names, w.Name) {
			continue
		}
		place := c.place(w.Name)
		if gone(w) && !c.drawn[place] {
			continue
		}
		c.drawn[place] = !gone(w)
		for k := range metrics {
			cell := &row[k*area+place]
			if v := metrics[k].of(w); math.IsNaN(*cell) {
				*cell = v
			} else {
				*cell += v
			}
		}
	}
	c.history.Add(at, row...)
	if known != len(c.names) || others != c.others {
		c.build()
	}
}

// place returns the place of a worker, which it keeps.
func (c *curves) place(name string) int {
	if i := slices.Index(c.names, name); i >= 0 {
		return i
	}
	if len(c.names) == places {
		c.others = true
		return places
	}
	c.names = append(c.names, name)
	return len(c.names) - 1
}

// draw draws the charts.
func (c *curves) draw(marks []chart.Marker) {
	c.marks = marks
	times, values := c.history.Rows()
	if len(times) == 0 {
		return
	}
	from, to := time.UnixMicro(int64(times[0]*1e6)).Local(), time.UnixMicro(int64(times[len(times)-1]*1e6)).Local()
	if to.Sub(from) < least {
		to = from.Add(least)
	}
	from, to = c.group.Span(from, to)
	for k, one := range c.charts {
		data := chart.Data{Times: times, From: from, To: to, Markers: marks, Values: slices.Clone(values[k*area : k*area+len(c.names)])}
		if c.others {
			data.Values = append(data.Values, values[k*area+places])
		}
		one.Set(data)
	}
}

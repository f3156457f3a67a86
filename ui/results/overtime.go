package results

import (
	"image/color"
	"math"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/chartmark"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Sizes of charts, in text heights.
const (
	chartEms       = 14 // height
	chartColumnEms = 30 // minimum width
	zoomRowEms     = 2.2
)

// chartUnits are the units of charts.
var chartUnits = map[view.Unit]chart.Unit{view.Number: chart.Count, view.Percent: chart.Percent, view.Bytes: chart.Bytes, view.Seconds: chart.Duration}

// gallery shows charts of the same run next to each other. It keeps a chart as long as there is one with its title and
// lines.
type gallery struct {
	content *fyne.Container
	columns *fyne.Container
	group   *chart.Group // shares the zoom
	reset   *widget.Button
	keep    chart.Keep
	numbers bool // the horizontal axis counts cycles
	shown   []view.Chart
	marks   []chart.Marker // of changes
	outages []chart.Marker
	charts  []*chart.Chart
}

func newGallery(keep chart.Keep) *gallery {
	g := &gallery{columns: form.NewColumns(chartColumnEms), keep: keep}
	g.group = chart.NewGroup(g.draw)
	g.reset = widget.NewButtonWithIcon("Reset zoom", theme.ZoomFitIcon(), func() {
		g.group.Reset()
		g.draw()
	})
	g.reset.Hide()
	hint := container.NewVBox(layout.NewSpacer(), widgets.NewCaption("Drag over a chart to zoom."), layout.NewSpacer())
	g.content = container.NewVBox(container.NewStack(tall(zoomRowEms), container.NewBorder(nil, nil, hint, form.NewCompact(g.reset))), g.columns)
	return g
}

// draw shows the charts with the zoom.
func (g *gallery) draw() {
	markers := slices.Concat(g.marks, g.outages)
	slices.SortStableFunc(markers, func(a, b chart.Marker) int { return a.At.Compare(b.At) })
	for i := range g.shown {
		d := chart.Data{Times: g.shown[i].Times, Values: g.shown[i].Values, Markers: markers}
		d.From, d.To = g.group.Span(d.From, d.To)
		g.charts[i].Set(d)
	}
	g.reset.Hidden = !g.group.Zoomed()
	g.reset.Refresh()
}

// set shows charts.
func (g *gallery) set(all []view.Chart) {
	same := slices.EqualFunc(g.shown, all, func(a, b view.Chart) bool {
		return a.Title == b.Title && a.About == b.About && a.Unit == b.Unit && slices.Equal(a.Lines, b.Lines)
	})
	g.outages = nil
	if !g.numbers && len(all) > 0 {
		all, g.outages = broken(all)
	}
	if g.shown = all; !same {
		g.charts = g.charts[:0]
		g.columns.RemoveAll()
		g.group.Clear()
		for i := range all {
			config := chart.Config{Title: all[i].Title, Note: all[i].About, Unit: chartUnits[all[i].Unit], Numbers: g.numbers, Keep: g.keep, Fill: len(all[i].Lines) == 1}
			for _, name := range all[i].Lines {
				config.Series = append(config.Series, chart.SeriesConfig{Name: name})
			}
			c := chart.New(config)
			g.group.Add(c)
			g.charts = append(g.charts, c)
			g.columns.Add(widgets.NewPanel("", container.NewStack(tall(chartEms), c)))
		}
		g.columns.Refresh()
	}
	g.draw()
}

// mark shows the changes of the run.
func (g *gallery) mark(changes []engine.ChangeRow) {
	if marks := chartmark.Of(changes); !slices.Equal(g.marks, marks) {
		g.marks = marks
		g.draw()
	}
}

// An outage is a time between points that is longer than leastOutage and than some intervals of the chart.
const (
	leastOutage     = 10.
	outageIntervals = 5
)

// broken returns charts, which have the same times, with breaks where Throng was not running, and the markers of where it was resumed.
func broken(all []view.Chart) ([]view.Chart, []chart.Marker) {
	times := all[0].Times
	apart := make([]float64, 0, len(times))
	for i := 1; i < len(times); i++ {
		apart = append(apart, times[i]-times[i-1])
	}
	if len(apart) < 3 {
		return all, nil
	}
	slices.Sort(apart)
	longest := max(leastOutage, outageIntervals*apart[len(apart)/2])
	var at []int
	var marks []chart.Marker
	for i := len(times) - 1; i > 0; i-- {
		if away := times[i] - times[i-1]; away > longest {
			at = append(at, i)
			marks = append(marks, chartmark.Outage(time.UnixMicro(int64(times[i]*1e6)), time.Duration(away*float64(time.Second))))
		}
	}
	if len(at) == 0 {
		return all, nil
	}
	out := make([]view.Chart, len(all))
	for k, c := range all {
		c.Times, c.Values = slices.Clone(c.Times), slices.Clone(c.Values)
		for line := range c.Values {
			c.Values[line] = slices.Clone(c.Values[line])
		}
		for _, i := range at { // from the end
			c.Times = slices.Insert(c.Times, i, (c.Times[i-1]+c.Times[i])/2)
			for line := range c.Values {
				c.Values[line] = slices.Insert(c.Values[line], i, math.NaN())
			}
		}
		out[k] = c
	}
	return out, marks
}

// tall returns an invisible object with a height in text heights.
func tall(ems float32) fyne.CanvasObject {
	r := canvas.NewRectangle(color.Transparent)
	r.SetMinSize(fyne.NewSize(0, ems*textSize()))
	return r
}

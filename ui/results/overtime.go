package results

import (
	"image/color"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/chart"
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
	for i := range g.shown {
		d := chart.Data{Times: g.shown[i].Times, Values: g.shown[i].Values}
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

// tall returns an invisible object with a height in text heights.
func tall(ems float32) fyne.CanvasObject {
	r := canvas.NewRectangle(color.Transparent)
	r.SetMinSize(fyne.NewSize(0, ems*textSize()))
	return r
}

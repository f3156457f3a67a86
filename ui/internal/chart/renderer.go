package chart

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/pen"
)

// MinSize returns the smallest size at which a chart can be read.
func (c *Chart) MinSize() fyne.Size { return fyne.NewSize(220, 120) }

// CreateRenderer is for Fyne.
func (c *Chart) CreateRenderer() fyne.WidgetRenderer {
	c.dress()
	return &renderer{c, c.objects()}
}

// dress takes colours and sizes from the theme.
func (c *Chart) dress() {
	th, variant := c.Theme(), fyne.CurrentApp().Settings().ThemeVariant()
	for _, l := range c.labels() {
		l.dress(th, variant)
	}
	inks := inks{
		limit:  colorOf(th, ColorLimit, variant),
		grid:   colorOf(th, ColorGrid, variant),
		marker: colorOf(th, theme.ColorNamePlaceHolder, variant),
	}
	inks.base = twice(inks.grid)
	for i, name := range c.colors {
		ink := colorOf(th, name, variant)
		inks.series = append(inks.series, ink)
		c.legend.entries[i].swatch.FillColor = ink
		canvas.Refresh(c.legend.entries[i].swatch)
	}
	c.plot.inks = inks
	c.legend.forget()
}

// twice lays a colour over itself.
func twice(c color.RGBA) color.RGBA {
	pix := [4]uint8{c.R, c.G, c.B, c.A}
	pen.Over(pix[:], c, 255)
	return color.RGBA{pix[0], pix[1], pix[2], pix[3]}
}

func (c *Chart) labels() []*label {
	all := []*label{c.title, c.note, c.empty, c.mention, c.legend.limit}
	for _, e := range c.legend.entries {
		all = append(all, e.name, e.value)
	}
	return append(append(all, c.rows...), c.moments...)
}

// objects returns the drawing first: texts are above it.
func (c *Chart) objects() []fyne.CanvasObject {
	all := []fyne.CanvasObject{c.raster}
	for _, e := range c.legend.entries {
		all = append(all, e.swatch)
	}
	for _, l := range c.labels() {
		all = append(all, l.text)
	}
	return all
}

type renderer struct {
	chart *Chart
	all   []fyne.CanvasObject
}

// Layout is called when the size changed.
func (r *renderer) Layout(fyne.Size) {
	r.chart.legend.forget()
	r.chart.arrange()
	r.chart.raster.Refresh()
}

// Refresh is called when the theme changed, among others.
func (r *renderer) Refresh() {
	r.chart.dress()
	r.chart.arrange()
	r.chart.raster.Refresh()
}

func (r *renderer) MinSize() fyne.Size           { return r.chart.MinSize() }
func (r *renderer) Objects() []fyne.CanvasObject { return r.all }
func (r *renderer) Destroy()                     {}

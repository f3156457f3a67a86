package chart

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/pen"
)

// leastPlot is the minimum height of the plot; the rest of a chart is its head and the labels of the time axis.
const leastPlot = 140

// MinSize returns the smallest readable size. It depends on the text size.
func (c *Chart) MinSize() fyne.Size { return leastSize(c.Theme(), fyne.NewSize(220, leastPlot+44)) }

// The text size for which the distances are, and the maximum factor of the width for larger text, which has fewer labels.
const (
	usualCaption = 11
	widestText   = 1.3
)

// emOf returns the size of small text, relative to the default.
func emOf(th fyne.Theme) float32 { return th.Size(theme.SizeNameCaptionText) / usualCaption }

// leastSize returns the minimum size of a drawing, given its size with the default text.
func leastSize(th fyne.Theme, usual fyne.Size) fyne.Size {
	em := max(emOf(th), 1)
	return fyne.NewSize(usual.Width*min(em, widestText), usual.Height*em)
}

// CreateRenderer implements [fyne.Widget].
func (c *Chart) CreateRenderer() fyne.WidgetRenderer {
	c.dress()
	return &renderer{chart: c, all: c.objects()}
}

// dress takes colors and sizes from the theme.
func (c *Chart) dress() {
	th, variant := c.Theme(), fyne.CurrentApp().Settings().ThemeVariant()
	for _, l := range c.labels() {
		l.dress(th, variant)
	}
	inks := inks{
		limit:  colorOf(th, ColorLimit, variant),
		grid:   colorOf(th, ColorGrid, variant),
		marker: colorOf(th, theme.ColorNamePlaceHolder, variant), trouble: colorOf(th, ColorLimit, variant),
	}
	inks.base = twice(inks.grid)
	for i, name := range c.colors {
		ink := colorOf(th, name, variant)
		inks.series = append(inks.series, ink)
		c.dressEntry(&c.legend.entries[i], ink, th, variant)
		c.cursor.dots[i].FillColor, c.cursor.dots[i].StrokeColor = ink, th.Color(theme.ColorNameOverlayBackground, variant)
	}
	c.plot.inks, c.em, c.legend.em = inks, emOf(th), emOf(th)
	c.legend.forget()
	c.dressBands(th, variant)
	c.cursor.box.dress(th, variant)
	c.cursor.line.FillColor = colorOf(th, theme.ColorNameForeground, variant)
	accent := colorOf(th, theme.ColorNamePrimary, variant)
	c.selection.FillColor, c.selection.StrokeColor, c.selection.StrokeWidth = pen.Faint(accent, selectionTint), accent, 1
	dressFrame(c.frame, th, variant)
}

// selectionTint is the alpha of a selection, out of 255.
const selectionTint = 50

// dressEntry sets the colors of a legend's entry, which is dimmed if its series is hidden.
func (c *Chart) dressEntry(e *entry, ink color.RGBA, th fyne.Theme, variant fyne.ThemeVariant) {
	e.name.color, e.value.color = colorQuiet, theme.ColorNameForeground
	if e.off {
		ink = colorOf(th, theme.ColorNameDisabled, variant)
		e.name.color, e.value.color = theme.ColorNameDisabled, theme.ColorNameDisabled
	}
	e.name.dress(th, variant)
	e.value.dress(th, variant)
	for _, dash := range e.dashes {
		dash.FillColor = ink
		canvas.Refresh(dash)
	}
}

// twice blends a color over itself.
func twice(c color.RGBA) color.RGBA {
	pix := [4]uint8{c.R, c.G, c.B, c.A}
	pen.Over(pix[:], c, 255)
	return color.RGBA{pix[0], pix[1], pix[2], pix[3]}
}

func (c *Chart) labels() []*label {
	all := []*label{c.title, c.note, c.empty, c.more, c.legend.limit}
	for _, e := range c.legend.entries {
		all = append(all, e.name, e.value)
	}
	return append(append(all, c.rows...), c.moments...)
}

// objects returns the parts from bottom to top.
func (c *Chart) objects() []fyne.CanvasObject {
	var all []fyne.CanvasObject
	all = append(all, c.raster)
	for _, e := range c.legend.entries {
		for _, dash := range e.dashes {
			all = append(all, dash)
		}
	}
	for _, l := range c.labels() {
		all = append(all, l.text)
	}
	all = append(all, c.frame, c.pad, c.selection)
	return append(all, c.cursor.objects()...)
}

type renderer struct {
	chart *Chart
	all   []fyne.CanvasObject
	size  fyne.Size // at the last layout
}

// Layout lays out the widget after a change of the size. The toolkit also calls it if a text of the chart changes its width; that text is
// already placed, and another drawing would repaint the window.
func (r *renderer) Layout(size fyne.Size) {
	if size == r.size {
		return
	}
	r.size = size
	placeFrame(r.chart.frame, size)
	r.chart.legend.forget()
	r.chart.arrange()
	r.chart.raster.Refresh()
}

// Refresh updates the widget for the theme.
func (r *renderer) Refresh() {
	r.chart.dress()
	r.chart.arrange()
	r.chart.raster.Refresh()
}

func (r *renderer) MinSize() fyne.Size           { return r.chart.MinSize() }
func (r *renderer) Objects() []fyne.CanvasObject { return r.all }
func (r *renderer) Destroy()                     {}

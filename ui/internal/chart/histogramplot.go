package chart

import (
	"image"
	"image/color"
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/pen"
)

// Sizes of the drawing of a histogram.
const (
	binGap     = 1   // device-independent pixels between bars
	binLeast   = 1.5 // minimum height of a bar that is not empty
	binTint    = 190 // alpha of bars that are not selected, out of 255
	markInk    = 200
	markDashes = 4
)

// histogramPlot draws a histogram. It is a plot whose time axis is a logarithmic scale.
type histogramPlot struct {
	plot
	bins      []Bucket
	marks     []Mark
	bright    int // index of the selected bar; -1: none
	bar, mark color.RGBA
}

// draw returns the drawing in w × h device pixels, width device-independent pixels wide.
func (p *histogramPlot) draw(w, h int, width float32) *image.RGBA {
	p.prepare(w, h, width)
	for _, t := range p.ticks {
		p.vertical(p.x(t), p.ceiling, p.bed, p.inks.grid)
	}
	for i, v := range p.grid {
		ink := p.inks.grid
		if i == 0 {
			ink = p.inks.base
		}
		p.horizontal(p.y(v), 1, ink, 0, 0)
	}
	for i := range p.bins {
		p.column(i)
	}
	for _, m := range p.marks {
		if at := math.Log10(m.At); m.At > 0 && at >= p.from && at <= p.to {
			p.dashed(p.x(at))
		}
	}
	return p.img
}

// column draws a bar.
func (p *histogramPlot) column(i int) {
	b := &p.bins[i]
	if b.Count <= 0 {
		return
	}
	x0, x1 := int(p.x(math.Log10(b.From))+0.5), int(p.x(math.Log10(b.To))+0.5)
	gap := max(int(binGap*p.scale+0.5), 1)
	if x1-x0 > 2*gap {
		x1 -= gap
	}
	ink := p.bar
	if i != p.bright {
		ink = pen.Faint(ink, binTint)
	}
	top := min(p.y(b.Count), p.bed-binLeast*p.scale)
	first := max(int(top), 0)
	edge := pen.Faint(ink, uint32((1-(top-float32(int(top))))*255))
	p.span(first, x0, max(x1, x0+1), edge)
	for y := first + 1; y < int(p.bed+0.5); y++ {
		p.span(y, x0, max(x1, x0+1), ink)
	}
}

// dashed draws the line of a mark.
func (p *histogramPlot) dashed(x float32) {
	dash := max(int(markDashes*p.scale+0.5), 1)
	for y := 0; y < int(p.bed); y += 2 * dash {
		p.vertical(x, float32(y), min(float32(y+dash), p.bed), pen.Faint(p.mark, markInk))
	}
}

// MinSize returns the smallest readable size.
func (c *Histogram) MinSize() fyne.Size { return leastSize(c.Theme(), fyne.NewSize(240, 150)) }

// CreateRenderer implements [fyne.Widget].
func (c *Histogram) CreateRenderer() fyne.WidgetRenderer {
	c.dress()
	all := []fyne.CanvasObject{c.raster}
	for _, l := range c.labels() {
		all = append(all, l.text)
	}
	all = append(all, c.frame, c.pad)
	return &histogramRenderer{c, append(all, c.box.objects()...)}
}

func (c *Histogram) labels() []*label {
	all := append([]*label{c.title, c.note, c.empty}, c.rows...)
	return append(append(all, c.columns...), c.marks...)
}

// dress takes colors and sizes from the theme.
func (c *Histogram) dress() {
	th, variant := c.Theme(), fyne.CurrentApp().Settings().ThemeVariant()
	for _, l := range c.labels() {
		l.dress(th, variant)
	}
	c.em = emOf(th)
	p := &c.plot
	p.inks = inks{grid: colorOf(th, ColorGrid, variant)}
	p.inks.base = twice(p.inks.grid)
	p.bar, p.mark = colorOf(th, ColorSeries1, variant), colorOf(th, theme.ColorNameForeground, variant)
	c.box.dress(th, variant)
	dressFrame(c.frame, th, variant)
}

type histogramRenderer struct {
	histogram *Histogram
	all       []fyne.CanvasObject
}

// Layout lays out the widget after a change of the size.
func (r *histogramRenderer) Layout(fyne.Size) {
	r.histogram.arrange()
	r.histogram.raster.Refresh()
}

// Refresh updates the widget for the theme.
func (r *histogramRenderer) Refresh() {
	r.histogram.dress()
	r.histogram.arrange()
	r.histogram.raster.Refresh()
}

func (r *histogramRenderer) MinSize() fyne.Size           { return r.histogram.MinSize() }
func (r *histogramRenderer) Objects() []fyne.CanvasObject { return r.all }
func (r *histogramRenderer) Destroy()                     {}

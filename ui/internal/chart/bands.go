package chart

import (
	"image/color"
	"math"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/internal/pen"
)

// Band is a tinted range of values with a thin line at its lower end.
type Band struct {
	From, To float64             // 0 in To: no upper end
	Level    fyne.ThemeColorName // the theme's color for warnings or errors
}

// mostBands is the maximum number of bands in a chart.
const mostBands = 4

// Alpha of a band's tint and line, out of 255.
const (
	bandTint = 26
	bandLine = 150
)

func (b *Band) end() float64 {
	if b.To == 0 {
		return math.Inf(1)
	}
	return b.To
}

// strip is a band in a drawing.
type strip struct {
	from, to float64
	ink      color.RGBA
}

// band draws the visible part of a strip. It is the first layer.
func (p *plot) band(s strip) {
	if s.from >= p.top || s.to <= p.bottom {
		return
	}
	width := p.img.Rect.Dx()
	first, end := max(int(p.y(min(s.to, p.top))+0.5), 0), min(int(p.y(s.from)+0.5), p.img.Rect.Dy())
	if s.to >= p.top {
		first = 0
	}
	if first >= end || width == 0 {
		return
	}
	tint := pen.Faint(s.ink, bandTint)
	row := p.img.Pix[first*p.img.Stride : first*p.img.Stride+4*width]
	for x := 0; x < len(row); x += 4 {
		row[x], row[x+1], row[x+2], row[x+3] = tint.R, tint.G, tint.B, tint.A
	}
	for y := first + 1; y < end; y++ {
		copy(p.img.Pix[y*p.img.Stride:y*p.img.Stride+4*width], row)
	}
	p.horizontal(p.y(s.from), 1, pen.Faint(s.ink, bandLine), 0, 0)
}

// dressBands takes the bands' colors from the theme.
func (c *Chart) dressBands(th fyne.Theme, variant fyne.ThemeVariant) {
	c.plot.strips = c.plot.strips[:0]
	for i := range c.bands {
		b := &c.bands[i]
		c.plot.strips = append(c.plot.strips, strip{b.From, b.end(), colorOf(th, b.Level, variant)})
	}
}

// SetBands replaces the bands if they have changed; the next Set draws them.
func (c *Chart) SetBands(bands ...Band) {
	bands = bands[:min(len(bands), mostBands)]
	if equalBands(c.bands, bands) {
		return
	}
	c.bands = append(c.bands[:0], bands...)
	c.dressBands(c.Theme(), fyne.CurrentApp().Settings().ThemeVariant())
}

func equalBands(a, b []Band) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

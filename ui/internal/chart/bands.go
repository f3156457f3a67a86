package chart

import (
	"image/color"
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/pen"
)

// Band is a range of values that is tinted, with a thin line at its lower end and a word above that. A chart shows as
// much of it as is in view.
type Band struct {
	From, To float64             // To 0 is without an end
	Level    fyne.ThemeColorName // a colour of the theme: that of warnings, or of errors for what is critical
	Text     string              // empty: the level's word
}

// mostBands is how many a chart shows.
const mostBands = 4

// Strength of a band's tint and of its line, of 255.
const (
	bandTint = 26
	bandLine = 150
)

func (b *Band) word() string {
	switch {
	case b.Text != "":
		return b.Text
	case b.Level == theme.ColorNameWarning:
		return "warning"
	case b.Level == theme.ColorNameError:
		return "critical"
	}
	return ""
}

func (b *Band) end() float64 {
	if b.To == 0 {
		return math.Inf(1)
	}
	return b.To
}

// strip is a band as it is drawn.
type strip struct {
	from, to float64
	ink      color.RGBA
}

// band tints a strip as far as it is in view. It is drawn first, on what is empty.
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

// dressBands takes the bands' colours from the theme.
func (c *Chart) dressBands(th fyne.Theme, variant fyne.ThemeVariant) {
	c.plot.strips = c.plot.strips[:0]
	for i := range c.bands {
		b := &c.bands[i]
		c.plot.strips = append(c.plot.strips, strip{b.From, b.end(), colorOf(th, b.Level, variant)})
		c.words[i].color = b.Level
		c.words[i].dress(th, variant)
		c.words[i].set([]byte(b.word()))
	}
}

// SetBands replaces the bands, if they are others; nothing is drawn before the next Set.
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

// placeWords places each band's word above its line, at the left end, where there is room for it in the band.
func (c *Chart) placeWords() {
	for i, l := range c.words {
		if i >= len(c.bands) {
			l.hide()
			continue
		}
		b := &c.bands[i]
		ceiling := c.head
		if b.end() < c.axis.top {
			ceiling = c.at(b.end())
		}
		y := c.at(b.From)
		if b.From < c.axis.bottom || b.From >= c.axis.top || y-ceiling < c.words[i].size.Height*wordLeast || l.text.Text == "" {
			l.hide()
			continue
		}
		l.place(c.gutter+wordGap, y-l.size.Height)
	}
}

const (
	wordLeast = 0.85 // of a word's height must be inside its band: the rest are the empty rows above and below letters
	wordGap   = 4
)

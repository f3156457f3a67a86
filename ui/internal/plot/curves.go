package plot

import (
	"math"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/figures"
	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/pen"
)

// Curves is a plot of the mean of a measure over the values of a factor, with a line for each value of a second one. A place is a dot.
type Curves struct {
	sheet
	data   findings.CurvePlot
	legend legend
	field  field
	dots   []dot
}

// dot is a dot of a line, by index.
type dot struct {
	line, dot int
	x, y      float32
}

// NewCurves returns a plot without lines.
func NewCurves() *Curves {
	c := &Curves{}
	c.extend(c, "response", fyne.NewSize(280, 200))
	return c
}

// Set shows data. At most eight lines are shown.
func (c *Curves) Set(p findings.CurvePlot) {
	p.Lines = p.Lines[:min(len(p.Lines), len(looks))]
	c.data, c.legend = p, nil
	if len(p.Lines) > 1 {
		for i, l := range p.Lines {
			c.legend = append(c.legend, entry{look: looks[i], name: l.Label})
		}
	}
	c.update()
}

// arrange implements face.
func (c *Curves) arrange(size fyne.Size) {
	xs, ys := newExtent(), newExtent()
	c.field.names, c.field.levels, c.field.texts = nil, c.field.levels[:0], c.field.texts[:0]
	if !c.data.Numbers {
		c.field.names = []string{}
	}
	for _, l := range c.data.Lines {
		for _, d := range l.Dots {
			xs.add(d.X)
			ys.add(d.Mean, d.Low, d.High)
			c.level(&d)
			if i := int(d.X); !c.data.Numbers && i >= 0 {
				for len(c.field.names) <= i {
					c.field.names = append(c.field.names, "")
				}
				c.field.names[i] = d.Text
			}
		}
	}
	margin := 0.02
	if !c.data.Numbers {
		xs.add(-0.4, float64(len(c.field.names))-0.6)
		margin = 0
	}
	c.field.x, c.field.y = newAxis(xs, margin, c.data.Log, ""), newAxis(ys, 0.06, false, c.data.Unit)
	c.field.title = c.data.Factor
	top := c.legend.place(&c.sheet, 0, 0, size.Width)
	c.field.arrange(&c.sheet, top, size.Width, size.Height)
	c.dots = c.dots[:0]
	for i, l := range c.data.Lines {
		for k, d := range l.Dots {
			c.dots = append(c.dots, dot{i, k, c.field.x.at(d.X) + c.dodge(i), c.field.y.at(d.Mean)})
		}
	}
}

// level notes the value of a dot, in ascending order.
func (c *Curves) level(d *findings.CurveDot) {
	if i, found := slices.BinarySearch(c.field.levels, d.X); !found {
		c.field.levels, c.field.texts = slices.Insert(c.field.levels, i, d.X), slices.Insert(c.field.texts, i, d.Text)
	}
}

// dodge is how far the dots of a line are moved sideways, so that the intervals of several lines do not cover each other.
func (c *Curves) dodge(line int) float32 {
	return (float32(line) - float32(len(c.data.Lines)-1)/2) * dodgeBy * em()
}

const dodgeBy = 5

// paint implements face.
func (c *Curves) paint(b *brush) {
	if len(c.dots) == 0 {
		return
	}
	c.legend.paint(b)
	c.field.paint(b)
	if c.crowded() {
		c.cloud(b)
		return
	}
	band := len(c.data.Lines) == 1 && c.data.Numbers && len(c.dots) > 2
	if band {
		c.band(b)
	}
	c.lines(b)
	for i := range c.dots {
		c.dot(b, i, dotWidth, !band)
	}
}

// crowded reports whether a line has so many values that a drawn line would only show chance.
func (c *Curves) crowded() bool {
	for _, l := range c.data.Lines {
		if len(l.Dots) > mostDots {
			return true
		}
	}
	return false
}

// mostDots is the maximum number of dots that a line connects.
const mostDots = 24

// cloud draws small dots without lines.
func (c *Curves) cloud(b *brush) {
	for i, d := range c.dots {
		v := c.of(i)
		if !math.IsNaN(v.Low) && !math.IsNaN(v.High) {
			b.line(d.x, c.field.y.at(v.Low), d.x, c.field.y.at(v.High), 1, pen.Faint(looks[d.line].color(), haloStrength))
		}
	}
	for i := range c.dots {
		c.dot(b, i, dotWidth*0.6, false)
	}
}

// lines connects the dots.
func (c *Curves) lines(b *brush) {
	var path []pen.Point
	for i, d := range c.dots {
		if !math.IsNaN(c.of(i).Mean) {
			path = append(path, b.at(d.x, d.y))
		}
		if i+1 == len(c.dots) || c.dots[i+1].line != d.line {
			b.path(lineWidth, looks[d.line].color(), path...)
			path = path[:0]
		}
	}
}

// dot draws a dot of a width for text of the usual size, with its interval.
func (c *Curves) dot(b *brush, i int, width float32, bar bool) {
	d, v := c.dots[i], c.of(i)
	if math.IsNaN(v.Mean) {
		return
	}
	l := looks[d.line]
	if bar && !math.IsNaN(v.Low) && !math.IsNaN(v.High) {
		interval(b, c.field.y.at(v.Low), c.field.y.at(v.High), d.x, l.color(), true)
	}
	width *= em()
	if i == c.at {
		b.dot(shapes[0], d.x, d.y, width*1.8, pen.Faint(chart.Ink(theme.ColorNameForeground), haloStrength), false, l.color())
	}
	l.draw(b, d.x, d.y, width)
}

const (
	haloStrength = 70 // of the selected dot, out of 255
	bandStrength = 56
)

// band tints the interval between neighboring dots of the only line.
func (c *Curves) band(b *brush) {
	tint := pen.Faint(looks[0].color(), bandStrength)
	for i := 1; i < len(c.dots); i++ {
		p, q := c.of(i-1), c.of(i)
		if math.IsNaN(p.Low) || math.IsNaN(p.High) || math.IsNaN(q.Low) || math.IsNaN(q.High) {
			continue
		}
		from, to := b.at(c.dots[i-1].x, c.field.y.at(p.High)), b.at(c.dots[i].x, c.field.y.at(q.High))
		low0, low1 := b.at(0, c.field.y.at(p.Low)).Y, b.at(0, c.field.y.at(q.Low)).Y
		for x := max(int(from.X+0.5), 0); x < min(int(to.X+0.5), b.img.Rect.Dx()); x++ {
			share := (float32(x) + 0.5 - from.X) / (to.X - from.X)
			b.column(x, from.Y+share*(to.Y-from.Y), low0+share*(low1-low0), tint)
		}
	}
}

// of returns the values of a dot.
func (c *Curves) of(i int) *findings.CurveDot {
	return &c.data.Lines[c.dots[i].line].Dots[c.dots[i].dot]
}

// places implements face.
func (c *Curves) places() int {
	n := 0
	for _, l := range c.data.Lines {
		n += len(l.Dots)
	}
	return n
}

// find implements face.
func (c *Curves) find(at fyne.Position) int {
	best, least := none, float32(reach*reach)*em()*em()
	for i, d := range c.dots {
		if far := (d.x-at.X)*(d.x-at.X) + (d.y-at.Y)*(d.y-at.Y); far < least {
			best, least = i, far
		}
	}
	return best
}

// reach is how far the pointer may be from a dot.
const reach = 24

// spot implements face.
func (c *Curves) spot(place int) (fyne.Position, string) {
	if place >= len(c.dots) {
		return fyne.Position{}, ""
	}
	d, v := c.dots[place], c.of(place)
	text := c.data.Factor + "=" + v.Text
	if name := c.data.Lines[d.line].Label; name != "" && c.data.By != "" {
		text += ", " + c.data.By + "=" + name
	}
	text += "\n" + findings.InUnit(v.Mean, c.data.Unit)
	if !math.IsNaN(v.Low) && !math.IsNaN(v.High) {
		text += ", 95% interval " + findings.InUnit(v.Low, c.data.Unit) + " to " + findings.InUnit(v.High, c.data.Unit)
	}
	of := counted(v.Runs)
	if c.data.Counts != "" {
		of = figures.Count(int64(v.Runs)) + " " + c.data.Counts
	}
	return fyne.NewPos(d.x, d.y), text + ", " + of
}

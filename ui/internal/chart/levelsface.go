package chart

import (
	"image"
	"math"
	"slices"
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/pen"
)

var (
	_ fyne.Focusable         = (*Levels)(nil)
	_ fyne.SecondaryTappable = (*Levels)(nil)
)

// hear connects the widget with the pointer and the keyboard.
func (c *Levels) hear() {
	c.box, c.line = newReadout(3, 1), &canvas.Rectangle{}
	c.line.Hidden = true
	c.sight = newSight(c)
	c.places = func() int { return len(c.plot.data.Points) }
	c.changed = c.tell
	c.ask = func() { OfferBelow(c) }
	c.pad.hover = func(at fyne.Position) { c.point(c.find(at.X)) }
	c.pad.leave = c.unpoint
	c.pad.menu = func(at fyne.Position) { Offer(c, at) }
}

// TappedSecondary shows the menu.
func (c *Levels) TappedSecondary(e *fyne.PointEvent) { c.pad.TappedSecondary(e) }

// Keeps implements [Kept].
func (c *Levels) Keeps() (title string, k Keep) { return c.heading, c.keep }

// find returns the measurement that is nearest to x.
func (c *Levels) find(x float32) int {
	best, least := -1, float32(math.Inf(1))
	for i, p := range c.plot.data.Points {
		if d := abs(c.across(math.Log2(p.At)) - c.gutter - x); d < least {
			best, least = i, d
		}
	}
	return best
}

// tell shows the selected measurement.
func (c *Levels) tell() {
	if c.at < 0 || c.Size().IsZero() {
		c.line.Hide()
		c.box.hide()
		return
	}
	p := &c.plot.data.Points[c.at]
	x := c.across(math.Log2(p.At))
	c.line.Move(fyne.NewPos(round(x), c.head))
	c.line.Resize(fyne.NewSize(1, c.raster.Size().Height-insetBottom))
	c.line.Show()
	canvas.Refresh(c.line)
	c.box.begin(appendCount(append(c.text[:0], "limit "...), p.At), c.Size().Width)
	c.text = appendSpread(c.text[:0], p)
	c.box.line(c.plot.rate, "measured", c.text)
	if fit := c.plot.data.curveAt(p.At); !math.IsNaN(fit) {
		c.text = PerSecond.appendValue(c.text[:0], fit)
		c.box.line(pen.Faint(c.plot.rate, overStrength), "fitted", c.text)
	}
	latency := math.NaN()
	if p.Latency > 0 {
		latency = p.Latency
	}
	c.text = Duration.appendValue(c.text[:0], latency)
	c.box.line(c.plot.time, "latency", c.text)
	if p.Over {
		c.box.note("over a limit")
	}
	c.box.place(fyne.NewPos(x, c.head+readPad), c.Size())
}

// appendSpread appends a throughput with its spread.
func appendSpread(b []byte, p *LevelsPoint) []byte {
	if p.PerSecond <= 0 {
		return append(b, "–"...)
	}
	b = PerSecond.appendValue(b, p.PerSecond)
	if p.Spread > 0 {
		b = PerSecond.appendValue(append(b, " ± "...), p.Spread)
	}
	return b
}

// curveAt returns the fitted throughput at a level, or NaN.
func (d *LevelsData) curveAt(level float64) float64 {
	i, found := slices.BinarySearchFunc(d.Curve, level, func(c LevelsCurve, level float64) int {
		switch {
		case c.At < level:
			return -1
		case c.At > level:
			return 1
		}
		return 0
	})
	switch {
	case found:
		return d.Curve[i].PerSecond
	case i == 0 || i == len(d.Curve):
		return math.NaN()
	}
	a, b := &d.Curve[i-1], &d.Curve[i]
	return a.PerSecond + (b.PerSecond-a.PerSecond)*(level-a.At)/(b.At-a.At)
}

// Picture draws the widget at twice the size.
func (c *Levels) Picture() image.Image {
	twin := NewLevels(c.heading, c.about, c.lower.text.Text, c.aside, Keep{})
	twin.Set(c.plot.data)
	return Paint(twin, c.Size())
}

// Table implements [Kept].
func (c *Levels) Table() []byte {
	b := []byte("limit\tper second\tspread\tlatency (s)\tfitted per second\tover a limit")
	number := func(v float64) {
		b = append(b, '\t')
		if !math.IsNaN(v) {
			b = strconv.AppendFloat(b, v, 'g', 6, 64)
		}
	}
	for i := range c.plot.data.Points {
		p := &c.plot.data.Points[i]
		b = strconv.AppendFloat(append(b, '\n'), p.At, 'f', -1, 64)
		number(p.PerSecond)
		number(p.Spread)
		number(p.Latency)
		number(c.plot.data.curveAt(p.At))
		b = strconv.AppendBool(append(b, '\t'), p.Over)
	}
	return append(b, '\n')
}

// MinSize returns the smallest readable size.
func (c *Levels) MinSize() fyne.Size { return leastSize(c.Theme(), fyne.NewSize(260, 230)) }

// CreateRenderer implements [fyne.Widget].
func (c *Levels) CreateRenderer() fyne.WidgetRenderer {
	c.dress()
	all := []fyne.CanvasObject{c.raster}
	for _, l := range c.labels() {
		all = append(all, l.text)
	}
	all = append(all, c.frame, c.pad, c.line)
	return &levelsRenderer{c, append(all, c.box.objects()...)}
}

func (c *Levels) labels() []*label {
	return slices.Concat([]*label{c.title, c.note, c.lower, c.quiet, c.empty, c.mark}, c.rateRows, c.timeRows, c.columns)
}

// dress takes colors and sizes from the theme.
func (c *Levels) dress() {
	th, variant := c.Theme(), fyne.CurrentApp().Settings().ThemeVariant()
	for _, l := range c.labels() {
		l.dress(th, variant)
	}
	p := &c.plot
	p.inks = inks{grid: colorOf(th, ColorGrid, variant)}
	p.inks.base = twice(p.inks.grid)
	p.rate, p.time, p.chosen = colorOf(th, ColorSeries1, variant), colorOf(th, ColorSeries2, variant), colorOf(th, ColorSeries3, variant)
	p.band = pen.Faint(p.rate, bandStrength)
	c.em = emOf(th)
	c.box.dress(th, variant)
	dressFrame(c.frame, th, variant)
	c.line.FillColor = colorOf(th, theme.ColorNameForeground, variant)
}

type levelsRenderer struct {
	levels *Levels
	all    []fyne.CanvasObject
}

// Layout lays out the widget after a change of the size.
func (r *levelsRenderer) Layout(fyne.Size) {
	r.levels.arrange()
	r.levels.raster.Refresh()
}

// Refresh updates the widget for the theme.
func (r *levelsRenderer) Refresh() {
	r.levels.dress()
	r.levels.arrange()
	r.levels.raster.Refresh()
}

func (r *levelsRenderer) MinSize() fyne.Size           { return r.levels.MinSize() }
func (r *levelsRenderer) Objects() []fyne.CanvasObject { return r.all }
func (r *levelsRenderer) Destroy()                     {}

package chart

import (
	"math"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
)

const (
	mostNotes = 3  // markers in the readout
	nearMark  = 6  // device-independent pixels from the cursor to a marker
	nearRow   = 14 // maximum distance of the shown row
	dotSize   = 9
	boxMost   = 0.8 // maximum height of a readout, as a share of the chart's; a higher one shows only the moment and the markers
)

// cursor is the selected moment and its parts: a line, a dot on each series and, in the chart with the pointer or the focus, a readout.
type cursor struct {
	at    float64 // Unix seconds; NaN: none
	row   int     // of the plot; -1: none is near
	own   bool    // this chart shows the readout
	mouse float32 // position of the pointer in the drawing; NaN: elsewhere

	line *canvas.Rectangle
	dots []*canvas.Circle // by series
	box  *readout
}

func newCursor(series int) cursor {
	k := cursor{
		at: math.NaN(), row: -1, mouse: float32(math.NaN()),
		line: &canvas.Rectangle{}, box: newReadout(series, mostNotes),
	}
	k.line.Hidden = true
	for range series {
		k.dots = append(k.dots, &canvas.Circle{StrokeWidth: 1.5})
		k.dots[len(k.dots)-1].Hidden = true
	}
	return k
}

func (k *cursor) objects() []fyne.CanvasObject {
	all := []fyne.CanvasObject{k.line}
	for _, dot := range k.dots {
		all = append(all, dot)
	}
	return append(all, k.box.objects()...)
}

// Point shows the values at a moment that is selected in another chart; the zero time hides them.
func (c *Chart) Point(at time.Time) {
	c.cursor.own = false
	if at.IsZero() {
		c.point(math.NaN())
		return
	}
	c.point(Seconds(at))
}

// point moves the cursor.
func (c *Chart) point(at float64) {
	if math.IsNaN(at) && math.IsNaN(c.cursor.at) {
		return
	}
	c.cursor.at = at
	if c.Size().IsZero() {
		return
	}
	c.findRow()
	if head := c.head; c.placeHead() != head { // the legend needs another line
		c.arrange()
		c.raster.Refresh()
		return
	}
	c.placeCursor()
}

// tell reports the selected moment to the group and OnHover.
func (c *Chart) tell() {
	if c.config.OnHover == nil {
		return
	}
	if math.IsNaN(c.cursor.at) {
		c.config.OnHover(time.Time{})
		return
	}
	c.config.OnHover(moments(c.cursor.at))
}

// moments converts Unix seconds to a time.
func moments(t float64) time.Time { return time.UnixMicro(int64(math.Round(t * 1e6))) }

// findRow finds the row at the cursor.
func (c *Chart) findRow() {
	k := &c.cursor
	k.row = -1
	times := c.plot.times
	if math.IsNaN(k.at) || len(times) == 0 {
		return
	}
	i, _ := slices.BinarySearch(times, k.at)
	i = min(i, len(times)-1)
	if i > 0 && k.at-times[i-1] < times[i]-k.at {
		i--
	}
	if (times[i] < c.clock.from || times[i] > c.clock.to) || math.Abs(times[i]-k.at) > nearRow*c.second() {
		return
	}
	k.row = i
}

// second returns the duration of a device-independent pixel in seconds.
func (c *Chart) second() float64 { return (c.plot.to - c.plot.from) / float64(c.drawn()) }

// shownAt returns the value of a series for the legend: at the cursor; without one the newest, which only reserves its width.
func (c *Chart) shownAt(series int) float64 {
	switch k := &c.cursor; {
	case k.row >= 0:
		return c.plot.values[series][k.row]
	case !math.IsNaN(k.at):
		return math.NaN()
	}
	return c.newest(series)
}

// placeCursor shows or hides the cursor.
func (c *Chart) placeCursor() {
	k := &c.cursor
	at := k.at
	if k.row >= 0 {
		at = c.plot.times[k.row]
	}
	if math.IsNaN(at) || c.clock.zone == nil || at < c.clock.from || at > c.clock.to {
		c.hideCursor()
		return
	}
	x := c.gutter + float32((at-c.plot.from)/c.second())
	k.line.Move(fyne.NewPos(round(x), c.head))
	k.line.Resize(fyne.NewSize(1, c.raster.Size().Height-insetBottom))
	k.line.Show()
	canvas.Refresh(k.line)
	for i, dot := range k.dots {
		c.placeDot(i, dot, x)
	}
	if !k.own {
		k.box.hide()
		return
	}
	c.writeBox(at, x)
	k.box.place(fyne.NewPos(x, c.head+readPad), c.Size())
}

// placeDot places the dot of a series.
func (c *Chart) placeDot(series int, dot *canvas.Circle, x float32) {
	v := math.NaN()
	if c.cursor.row >= 0 && !c.hidden(series) {
		v = c.plot.shown(series)[c.cursor.row]
	}
	if math.IsNaN(v) || v < c.axis.bottom || v > c.axis.top {
		dot.Hide()
		return
	}
	dot.Resize(fyne.NewSquareSize(dotSize))
	dot.Move(fyne.NewPos(x-dotSize/2.0, c.at(v)-dotSize/2.0))
	dot.Show()
	canvas.Refresh(dot)
}

// writeBox writes the readout: the moment, the values and the markers nearby.
func (c *Chart) writeBox(at float64, x float32) {
	k := &c.cursor
	c.text = c.clock.appendMoment(c.text[:0], at)
	k.box.begin(c.text, max(c.Size().Width*0.7, 1))
	for i := range c.plot.values {
		if c.hidden(i) || c.Size().Height*boxMost < k.box.heightOf(len(c.plot.values)+1) { // the legend shows them too
			continue
		}
		v := math.NaN()
		if k.row >= 0 {
			v = c.plot.values[i][k.row]
		}
		c.text = c.config.Unit.appendValue(c.text[:0], v)
		k.box.line(c.plot.inks.series[i], c.config.Series[i].Name, c.text)
	}
	for i := range c.markers {
		m := &c.markers[i]
		if mx := c.gutter + float32((Seconds(m.At)-c.plot.from)/c.second()); m.Text != "" && mx >= x-nearMark && mx <= x+nearMark {
			k.box.note(m.Text)
		}
	}
}

func (c *Chart) hideCursor() {
	k := &c.cursor
	if !k.line.Hidden {
		k.line.Hide()
	}
	for _, dot := range k.dots {
		if !dot.Hidden {
			dot.Hide()
		}
	}
	k.box.hide()
}

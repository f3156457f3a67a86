package chart

import (
	"math"

	"fyne.io/fyne/v2"
)

// Distances between the parts, in device-independent pixels.
const (
	noteGap     = 6
	gutterGap   = 6  // between the row labels and the drawing
	gutterLeast = 44 // about the width of "500 ms", so that charts below each other mostly align
	rowApart    = 30
	momentApart = 34 // between the labels of the time axis
	shortMoment = 32 // about the width of "15:04"
	longMoment  = 50 // about the width of "15:04:05"
)

// arrange updates axes, texts and the drawing for the data and the size. It changes only what differs.
func (c *Chart) arrange() {
	if c.Size().IsZero() {
		return
	}
	c.plot.from, c.plot.to = c.clock.from, c.clock.to
	c.findRow()
	c.fit()
	if head := c.head; c.placeHead() != head {
		c.fit() // the height has changed
	}
	c.placeRows()
	c.placeMoments()
	c.placeCursor()
	if c.seen {
		c.empty.hide()
	} else {
		between := (c.at(c.axis.tick(1)) + c.at(c.axis.tick(2))) / 2 // grid lines
		c.empty.place(c.gutter+(c.drawn()-c.empty.size.Width)/2, between-c.empty.size.Height/2)
	}
}

// fit adapts the vertical axis to the height below the head.
func (c *Chart) fit() {
	c.foot = c.rows[0].size.Height + 1
	height := c.Size().Height - c.head - c.foot
	parts := min(max(int(height/(rowApart*c.em)), 2), 4)
	if c.axis.log {
		c.axis.setLog(c.lowest(), c.highest, parts)
	} else {
		c.axis.fit(c.highest, c.limit, c.clock.to, parts)
	}
	c.plot.extent = c.axis.extent
	c.plot.limit = math.NaN()
	if c.axis.limitShown {
		c.plot.limit = c.limit
	}
}

// placeHead writes the legend's values at the cursor, places the lines above the drawing and returns their height.
func (c *Chart) placeHead() float32 {
	c.legend.values = !math.IsNaN(c.cursor.at)
	for i := range c.legend.entries {
		c.text = c.config.Unit.appendValue(c.text[:0], c.shownAt(i))
		if c.hidden(i) {
			c.text = append(c.text[:0], "off"...)
		}
		c.legend.entries[i].value.set(c.text)
	}
	c.writeLimit()
	if math.IsNaN(c.limit) {
		c.legend.limit.hide()
	} else {
		c.legend.limit.text.Hidden = false
	}
	line := c.note.size.Height
	y := (c.title.size.Height - line) * 0.7 // on the title's baseline
	c.title.place(0, 0)
	c.note.place(c.title.size.Width+noteGap, y)
	left := c.title.size.Width + noteGap + c.note.size.Width + entryGap
	right := c.Size().Width - insetRight - c.more.size.Width
	lines := c.legend.place(left, right-entryGap/2, y, line)
	c.more.place(right, max(y-line/4, 0)) // higher, because the dots are at the bottom of the letter
	c.head = round(c.title.size.Height + float32(lines)*line + 2)
	return c.head
}

// writeLimit writes the limit in the legend, where no line crosses it.
func (c *Chart) writeLimit() {
	if math.IsNaN(c.limit) {
		return
	}
	c.text = append(c.text[:0], c.limitName...)
	if c.limitName != "" {
		c.text = append(c.text, ' ')
	}
	c.text = c.config.Unit.appendValue(c.text, c.limit)
	c.legend.limit.set(c.text)
}

// placeRows places the drawing and the labels of the values at its left.
func (c *Chart) placeRows() {
	n := min(c.axis.ticks(), len(c.rows))
	c.plot.grid = c.plot.grid[:0]
	widest := gutterLeast*c.em - gutterGap
	for i := range n {
		v := c.axis.tick(i)
		c.plot.grid = append(c.plot.grid, v)
		c.text = c.config.Unit.appendTick(c.text[:0], v)
		c.rows[i].set(c.text)
		widest = max(widest, c.rows[i].size.Width)
	}
	c.gutter = round(widest) + gutterGap
	c.raster.Move(fyne.NewPos(c.gutter, c.head))
	c.raster.Resize(fyne.NewSize(max(c.Size().Width-c.gutter, 1), max(c.Size().Height-c.head-c.foot, 1)))
	c.pad.Move(c.raster.Position())
	c.pad.Resize(c.raster.Size())
	c.plot.crown = c.crown()
	free := float32(math.MaxFloat32) // above the label below
	for i, l := range c.rows {
		y := c.at(c.axis.tick(i)) - l.size.Height/2
		if i >= n || y+l.size.Height*labelNeeds > free {
			l.hide()
			continue
		}
		free = y + l.size.Height*(1-labelNeeds)
		l.place(c.gutter-gutterGap-l.size.Width, y)
	}
}

// labelNeeds is the share of a label's height that digits need, from the top. The same share is free above.
const labelNeeds = 0.8

// crown returns the height above the top for the glyphs of markers.
func (c *Chart) crown() float32 {
	if len(c.plot.markers) > 0 {
		return crownLeast
	}
	return crownLeast / 2
}

// at returns the y coordinate of a value in the chart.
func (c *Chart) at(v float64) float32 {
	share := c.axis.share(v)
	height := c.raster.Size().Height - insetBottom - c.plot.crown
	return c.head + c.plot.crown + (1-share)*height
}

// drawn returns the width of the time axis.
func (c *Chart) drawn() float32 { return max(c.raster.Size().Width-insetRight, 1) }

// placeMoments places the labels below the time axis. A tick keeps its label while it moves.
func (c *Chart) placeMoments() {
	c.plot.ticks = c.plot.ticks[:0]
	if c.clock.zone == nil { // there are no times yet
		c.plot.to = c.plot.from + 1
		return
	}
	second := (c.clock.to - c.clock.from) / float64(c.drawn()) // the duration of a pixel
	least := float64(c.drawn()) / (mostMoments - 3)
	c.clock.divide(max(float64(shortMoment*c.em+momentApart), least)*second, max(float64(longMoment*c.em+momentApart), least)*second)
	first, end := c.clock.ticks()
	for _, l := range c.moments {
		if l.step != c.clock.step || l.tick < first || l.tick >= end {
			l.hide()
		}
	}
	for n := first; n < end; n++ {
		c.placeMoment(n, float32((c.clock.tick(n)-c.clock.from)/second))
	}
}

// placeMoment places the label of a tick at x, if it fits.
func (c *Chart) placeMoment(n int64, x float32) {
	c.plot.ticks = append(c.plot.ticks, c.clock.tick(n))
	l := c.moments[uint64(n)%mostMoments]
	if l.tick != n || l.step != c.clock.step {
		l.tick, l.step = n, c.clock.step
		c.text = c.clock.appendLabel(c.text[:0], n)
		l.set(c.text)
	}
	left := c.gutter + x - l.size.Width/2
	if left < c.gutter-gutterGap+2 || left+l.size.Width > c.Size().Width {
		l.hide()
		return
	}
	l.place(left, c.Size().Height-c.foot+1)
}

package chart

import (
	"math"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
)

var (
	_ fyne.Focusable         = (*Chart)(nil)
	_ fyne.Tappable          = (*Chart)(nil)
	_ fyne.SecondaryTappable = (*Chart)(nil)
)

const (
	leastDrag = 6    // minimum length of a selection in device-independent pixels
	keyStep   = 3    // minimum step of the cursor with an arrow key
	pageStep  = 0.1  // of the width
	leastSpan = 0.5  // minimum zoom in seconds or numbers
	keyZoom   = 0.25 // of the span on each side of the cursor
)

// hear connects the chart with the pointer.
func (c *Chart) hear() {
	c.pad = newZoomPad(c, c.back)
	c.pad.hover = func(at fyne.Position) { c.lookAt(at.X) }
	c.pad.leave = c.leave
	c.pad.drag, c.pad.drop = c.mark, c.take
	c.pad.menu = c.showMenu
	c.pad.wheel = c.wheel
}

// lookAt shows the values at the pointer.
func (c *Chart) lookAt(x float32) {
	c.cursor.mouse = x
	c.look(c.plot.from + float64(x)*c.second())
}

// look moves the cursor for the user, and informs the group.
func (c *Chart) look(at float64) {
	if c.clock.zone == nil {
		return
	}
	c.cursor.own = true
	c.point(min(max(at, c.clock.from), c.clock.to))
	c.tell()
}

func (c *Chart) leave() {
	c.cursor.mouse = float32(math.NaN())
	c.cursor.own = false
	c.point(math.NaN())
	c.tell()
}

// follow keeps the cursor below the pointer when the data moves.
func (c *Chart) follow() {
	if c.cursor.own && !math.IsNaN(float64(c.cursor.mouse)) {
		c.lookAt(c.cursor.mouse)
	}
}

// mark shows the selection of a drag.
func (c *Chart) mark(from, to float32) {
	if c.config.OnZoom == nil || c.clock.zone == nil {
		return
	}
	from, to = min(from, to), max(from, to)
	c.chosen = [2]float32{max(from, 0), min(to, c.drawn())}
	c.selection.Move(fyne.NewPos(c.gutter+c.chosen[0], c.head))
	c.selection.Resize(fyne.NewSize(max(c.chosen[1]-c.chosen[0], 1), c.raster.Size().Height-insetBottom))
	c.selection.Show()
	canvas.Refresh(c.selection)
}

// take zooms to the selection.
func (c *Chart) take() {
	if c.selection.Hidden {
		return
	}
	c.selection.Hide()
	if c.chosen[1]-c.chosen[0] < leastDrag {
		return
	}
	c.zoom(c.plot.from+float64(c.chosen[0])*c.second(), c.plot.from+float64(c.chosen[1])*c.second())
}

// zoom requests a zoom, limited to the minimum.
func (c *Chart) zoom(from, to float64) {
	if c.config.OnZoom == nil || c.clock.zone == nil {
		return
	}
	if lack := leastSpan - (to - from); lack > 0 {
		from, to = from-lack/2, to+lack/2
	}
	c.config.OnZoom(moments(from).In(c.clock.zone), moments(to).In(c.clock.zone))
}

// back undoes the last zoom.
func (c *Chart) back() {
	if c.config.OnZoom != nil {
		c.config.OnZoom(time.Time{}, time.Time{})
	}
}

// Tapped shows or hides a series by its entry in the legend.
func (c *Chart) Tapped(e *fyne.PointEvent) {
	focus(c)
	if i := c.legend.find(e.Position); i >= 0 {
		c.Toggle(i)
	} else if at := c.more.text.Position(); e.Position.X >= at.X-entryGap/2 && e.Position.Y < c.head {
		c.showMenu(e.AbsolutePosition)
	}
}

// TappedSecondary shows the menu.
func (c *Chart) TappedSecondary(e *fyne.PointEvent) { c.showMenu(e.AbsolutePosition) }

// FocusGained moves the cursor to the newest values, which shows the focus.
func (c *Chart) FocusGained() {
	Focused(c)
	c.frame.Show()
	canvas.Refresh(c.frame)
	if math.IsNaN(c.cursor.at) && len(c.plot.times) > 0 {
		c.look(c.plot.times[len(c.plot.times)-1])
	}
}

// FocusLost hides the cursor, unless the pointer is here.
func (c *Chart) FocusLost() {
	c.frame.Hide()
	if math.IsNaN(float64(c.cursor.mouse)) {
		c.leave()
	}
}

// TypedRune zooms with plus and minus, shows or hides a series by its number, changes the axis with l, and shows the menu with m.
func (c *Chart) TypedRune(r rune) {
	switch {
	case (r == '+' || r == '=') && c.clock.to-c.clock.from > leastSpan+1e-6:
		at, half := c.position(), (c.clock.to-c.clock.from)*keyZoom
		c.zoom(at-half, at+half)
	case r == '-':
		c.back()
	case r == 'l' || r == 'L':
		c.SetLog(!c.Log())
	case r == 'm' || r == 'M':
		c.showMenuBelow()
	case r >= '1' && int(r-'1') < len(c.config.Series):
		c.Toggle(int(r - '1'))
	}
}

// TypedKey moves the cursor: left and right by rows, up and down by markers. Escape undoes the zoom.
func (c *Chart) TypedKey(e *fyne.KeyEvent) {
	page := float64(c.drawn()) * pageStep * c.second()
	switch e.Name {
	case fyne.KeyLeft:
		c.walk(-1)
	case fyne.KeyRight:
		c.walk(1)
	case fyne.KeyPageUp:
		c.jump(c.position() - page)
	case fyne.KeyPageDown:
		c.jump(c.position() + page)
	case fyne.KeyHome:
		c.jump(c.clock.from)
	case fyne.KeyEnd:
		c.jump(c.clock.to)
	case fyne.KeyUp:
		c.toMarker(-1)
	case fyne.KeyDown:
		c.toMarker(1)
	case desktop.KeyMenu:
		c.showMenuBelow()
	case fyne.KeyEscape:
		switch {
		case c.zoomed():
			c.back()
		case c.restore != nil:
			c.restore()
		default:
			c.leave()
		}
	default: // other keys are not for charts
	}
}

// position returns the position of the cursor, or the newest end.
func (c *Chart) position() float64 {
	if math.IsNaN(c.cursor.at) {
		return c.clock.to
	}
	return c.cursor.at
}

// jump moves the cursor by a key, and ignores the pointer until it moves.
func (c *Chart) jump(at float64) {
	c.cursor.mouse = float32(math.NaN())
	c.look(at)
}

// walk moves the cursor to the next row that is some pixels away.
func (c *Chart) walk(way int) {
	at, least := c.position(), keyStep*c.second()
	times := c.plot.times
	for i := range times {
		if way < 0 {
			i = len(times) - 1 - i
		}
		if t := times[i]; (t-at)*float64(way) >= least && t >= c.clock.from && t <= c.clock.to {
			c.jump(t)
			return
		}
	}
}

// toMarker moves the cursor to the next or previous marker.
func (c *Chart) toMarker(way int) {
	at, least := c.position(), c.second()
	best := math.NaN()
	for _, m := range c.plot.markers {
		ahead := (m.at - at) * float64(way)
		if ahead > least && m.at >= c.clock.from && m.at <= c.clock.to && (math.IsNaN(best) || ahead < (best-at)*float64(way)) {
			best = m.at
		}
	}
	if !math.IsNaN(best) {
		c.jump(best)
	}
}

package chart

import (
	"math"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"
)

// largest is the share of the window that a maximized chart takes.
const largest = 0.94

// Maximize shows the chart over the whole window until the user closes it. It follows the data.
func (c *Chart) Maximize() {
	window := fyne.CurrentApp().Driver().CanvasForObject(c)
	if window == nil || c.big != nil {
		return
	}
	config := c.config
	config.Bands, config.OnHover = c.bands, nil
	big := New(config)
	big.axis.log, big.group = c.axis.log, c.group
	for i := range c.plot.hidden {
		big.plot.hidden[i], big.legend.entries[i].off = c.plot.hidden[i], c.plot.hidden[i]
	}
	var pop *widget.PopUp
	big.restore = func() {
		c.big = nil
		pop.Hide()
	}
	bar := container.NewHBox(layout.NewSpacer(), widget.NewButton("Close", big.restore))
	pop = widget.NewModalPopUp(container.NewBorder(nil, bar, nil, nil, big), window)
	pop.Resize(fyne.NewSize(window.Size().Width*largest, window.Size().Height*largest))
	pop.Show()
	d := Data{Times: slices.Clone(c.plot.times), Markers: slices.Clone(c.markers), Limit: c.limit, LimitName: c.limitName}
	for _, values := range c.plot.values {
		d.Values = append(d.Values, slices.Clone(values))
	}
	if c.clock.zone != nil {
		d.From, d.To = moments(c.clock.from).In(c.clock.zone), moments(c.clock.to).In(c.clock.zone)
	}
	c.big = big
	big.Set(d)
	window.Focus(big)
}

// zoomed reports whether the chart shows a part of its time.
func (c *Chart) zoomed() bool { return c.group != nil && c.group.Zoomed() }

// wheelSpeed is the logarithm of the zoom by a pixel of the wheel.
const wheelSpeed = 0.012

// wheel zooms around the pointer, and moves the zoomed part with a sideways gesture. A page that scrolls is scrolled instead, unless
// Ctrl or Command is held.
func (c *Chart) wheel(e *fyne.ScrollEvent) {
	if c.group == nil || c.clock.zone == nil {
		return
	}
	if c.restore == nil && c.group.scrolls() && !zoomKey() {
		c.group.page.Scrolled(e)
		return
	}
	from, to, dx, dy := c.clock.from, c.clock.to, float64(e.Scrolled.DX), float64(e.Scrolled.DY)
	c.group.note(c)
	if math.Abs(dx) > math.Abs(dy) {
		if !c.zoomed() {
			return
		}
		from, to = from-dx*c.second(), to-dx*c.second()
	} else {
		at := min(max(c.plot.from+float64(e.Position.X)*c.second(), from), to)
		factor := math.Exp(-dy * wheelSpeed)
		if (to-from)*factor < leastSpan || dy < 0 && !c.zoomed() {
			return
		}
		from, to = at-(at-from)*factor, at+(to-at)*factor
	}
	c.group.slide(moments(from).In(c.clock.zone), moments(to).In(c.clock.zone))
}

// zoomKey reports whether a key is held with which the wheel zooms.
func zoomKey() bool {
	d, ok := fyne.CurrentApp().Driver().(desktop.Driver)
	return ok && d.CurrentKeyModifiers()&(fyne.KeyModifierControl|fyne.KeyModifierSuper) != 0
}

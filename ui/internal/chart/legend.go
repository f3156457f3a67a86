package chart

import (
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
)

// Sizes of a legend, in device-independent pixels.
const (
	swatchWidth  = 12
	dashGap      = 2
	swatchHeight = 3
	swatchGap    = 4
	valueGap     = 4
	entryGap     = 11
)

// legend shows each series' color and name, its value at a cursor, and a limit that is out of view.
type legend struct {
	entries []entry
	values  bool // there is a cursor
	limit   *label
	em      float32 // size of small text, relative to the default
}

type entry struct {
	dashes      []*canvas.Rectangle // the swatch with the line's pattern
	name, value *label
	slot        float32 // width of the value, which only grows, so that nothing moves while the cursor does
	off         bool    // the series is hidden
	from, to    fyne.Position
}

// newDashes returns the one to three parts of a swatch.
func newDashes(p pattern) (all []*canvas.Rectangle) {
	n := 1
	switch {
	case p.on > swatchWidth/2:
		n = 2
	case p.on > 0:
		n = 3
	}
	for range n {
		all = append(all, &canvas.Rectangle{CornerRadius: swatchHeight / 2.0})
	}
	return all
}

func newLegend(series []SeriesConfig, stack bool) legend {
	g := legend{em: 1, limit: newLabel("", ColorLimit, theme.SizeNameCaptionText)}
	g.limit.text.Hidden = true
	for i, s := range series {
		g.entries = append(g.entries, entry{
			dashes: newDashes(patternIn(stack, i)),
			name:   newLabel(s.Name, colorQuiet, theme.SizeNameCaptionText),
			value:  newLabel("", theme.ColorNameForeground, theme.SizeNameCaptionText),
		})
	}
	return g
}

// forget resets the widths of values, for another width or theme.
func (g *legend) forget() {
	for i := range g.entries {
		g.entries[i].slot = 0
	}
}

// width returns the width of the entry with the gap after it, with room for the value or without.
func (e *entry) width(em float32, value bool) float32 {
	w := swatchWidth + swatchGap + e.name.size.Width + entryGap*em
	if value {
		w += e.slot
		if e.name.text.Text != "" {
			w += valueGap * em
		}
	}
	return w
}

// shows reports whether an entry's value is shown.
func (g *legend) shows(e *entry) bool { return g.values || e.off }

func (e *entry) place(x, y, em float32, value bool) {
	e.from, e.to = fyne.NewPos(x, y), fyne.NewPos(x+e.width(em, value)-entryGap*em, y+e.name.size.Height)
	n := float32(len(e.dashes))
	part := (swatchWidth - (n-1)*dashGap) / n
	for i, dash := range e.dashes {
		dash.Resize(fyne.NewSize(part, swatchHeight))
		dash.Move(fyne.NewPos(round(x)+float32(i)*(part+dashGap), round(y+(e.name.size.Height-swatchHeight)/2)))
	}
	x += swatchWidth + swatchGap
	e.name.place(x, y)
	if !value {
		e.value.hide()
		return
	}
	if e.name.text.Text != "" {
		x += e.name.size.Width + valueGap*em
	}
	e.value.place(x, y)
}

// find returns the series whose entry is at a position, or -1.
func (g *legend) find(at fyne.Position) int {
	for i := range g.entries {
		e := &g.entries[i]
		if at.X >= e.from.X-swatchGap && at.X <= e.to.X+swatchGap && at.Y >= e.from.Y && at.Y <= e.to.Y {
			return i
		}
	}
	return -1
}

// place places the legend at the right end of a line with space from left to right, or in lines below from x 0 on if it does not fit. It
// returns the number of lines below, which is the same with values and without: the drawing keeps its height when the pointer comes.
func (g *legend) place(left, right, y, line float32) (lines int) {
	total, shown := -entryGap*g.em, -entryGap*g.em
	for i := range g.entries {
		e := &g.entries[i]
		e.slot = max(e.slot, float32(math.Ceil(float64(e.value.size.Width)/4))*4)
		total, shown = total+e.width(g.em, true), shown+e.width(g.em, g.shows(e))
	}
	if !g.limit.text.Hidden {
		total, shown = total+g.limit.size.Width+entryGap*g.em, shown+g.limit.size.Width+entryGap*g.em
	}
	x, full := right-shown, right-total // the next entry without hidden values, and with them: where lines wrap
	below := full < left
	if below {
		x, full, y, lines = 0, 0, y+line, 1
	}
	wrap := func(width float32) {
		if below && full > 0 && full+width > right {
			x, full, y, lines = 0, 0, y+line, lines+1
		}
	}
	for i := range g.entries {
		e := &g.entries[i]
		wrap(e.width(g.em, true) - entryGap*g.em)
		e.place(x, y, g.em, g.shows(e))
		x, full = x+e.width(g.em, g.shows(e)), full+e.width(g.em, true)
	}
	if !g.limit.text.Hidden {
		wrap(g.limit.size.Width)
		g.limit.place(x, y)
	}
	return lines
}

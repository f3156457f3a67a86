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
	swatchHeight = 3
	swatchGap    = 5
	valueGap     = 4
	entryGap     = 14
)

// legend shows each series' colour, name and newest value, and a limit that is out of view.
type legend struct {
	entries []entry
	limit   *label
}

type entry struct {
	swatch      *canvas.Rectangle
	name, value *label
	slot        float32 // room for the value, which only grows, so that nothing moves while figures change
}

func newLegend(series []SeriesConfig) legend {
	g := legend{limit: newLabel("", ColorLimit, theme.SizeNameCaptionText)}
	g.limit.text.Hidden = true
	for _, s := range series {
		g.entries = append(g.entries, entry{
			swatch: &canvas.Rectangle{CornerRadius: swatchHeight / 2.0},
			name:   newLabel(s.Name, theme.ColorNamePlaceHolder, theme.SizeNameCaptionText),
			value:  newLabel("", theme.ColorNameForeground, theme.SizeNameCaptionText),
		})
	}
	return g
}

// forget gives the room for values free, for another width or another theme.
func (g *legend) forget() {
	for i := range g.entries {
		g.entries[i].slot = 0
	}
}

// width returns the width of the entry, with its gap behind.
func (e *entry) width() float32 {
	w := swatchWidth + swatchGap + e.slot + entryGap
	if e.name.text.Text != "" {
		w += e.name.size.Width + valueGap
	}
	return w
}

func (e *entry) place(x, y float32) {
	e.swatch.Resize(fyne.NewSize(swatchWidth, swatchHeight))
	e.swatch.Move(fyne.NewPos(round(x), round(y+(e.name.size.Height-swatchHeight)/2)))
	x += swatchWidth + swatchGap
	e.name.place(x, y)
	if e.name.text.Text != "" {
		x += e.name.size.Width + valueGap
	}
	e.value.place(x, y)
}

// place sets the legend at the right end of a line that has room from left to right, or in lines below it from x 0 on
// where it does not fit there. It returns the lines used below.
func (g *legend) place(left, right, y, line float32) (lines int) {
	total := -float32(entryGap)
	for i := range g.entries {
		e := &g.entries[i]
		e.slot = max(e.slot, float32(math.Ceil(float64(e.value.size.Width)/4))*4)
		total += e.width()
	}
	if !g.limit.text.Hidden {
		total += g.limit.size.Width + entryGap
	}
	x := right - total
	below := x < left
	if below {
		x, y, lines = 0, y+line, 1
	}
	wrap := func(width float32) {
		if below && x > 0 && x+width > right {
			x, y, lines = 0, y+line, lines+1
		}
	}
	for i := range g.entries {
		e := &g.entries[i]
		wrap(e.width() - entryGap)
		e.place(x, y)
		x += e.width()
	}
	if !g.limit.text.Hidden {
		wrap(g.limit.size.Width)
		g.limit.place(x, y)
	}
	return lines
}

package plot

import (
	"fmt"
	"image/color"
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/pen"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Rows is a plot with a row for each point or factor: its name, marks above a common axis, and its figure. A place is a row.
type Rows struct {
	sheet
	rows   []row
	legend legend
	note   string // at the bottom; "" for none
	zero   bool   // 0 is on the axis

	axis        axis
	top, pitch  float32 // of the first row, and of all
	left, right float32 // of the marks
}

// row is one row.
type row struct {
	name, value, tip string
	clear            bool // its figure is significant
	marks            []mark
}

// mark is a value with its interval.
type mark struct {
	look
	value, low, high float64 // low and high are NaN without an interval
	bar              bool    // a bar from 0 to the value, in place of a dot
}

// mostRows is the maximum number of rows; a table shows the others.
const mostRows = 40

// Sizes of rows, for text of the usual size.
const (
	rowPitch  = 22
	barHeight = 9
	lineWidth = 1.8
	mostBelow = 12   // rows with the texts of the axis below them only
	mostLabel = 0.36 // of the width, for the names
	columnGap = 10
	axisGap   = 3
)

// NewRows returns a plot without rows.
func NewRows() *Rows {
	r := &Rows{}
	r.extend(r, "effects", fyne.NewSize(280, 0))
	return r
}

func (r *Rows) set(rows []row, l legend, zero bool, unit string) {
	r.rows, r.legend, r.zero, r.note = rows, l, zero, ""
	if len(rows) > mostRows {
		r.rows = rows[:mostRows]
		r.note = fmt.Sprintf("%d of %d", mostRows, len(rows))
	}
	r.axis.unit = unit
	r.update()
}

// MinSize has room for all rows.
func (r *Rows) MinSize() fyne.Size {
	size := r.sheet.MinSize()
	line := lineHeight()
	size.Height = float32(len(r.rows))*rowHeight() + line + 2*axisGap
	if len(r.rows) > mostBelow {
		size.Height += line + axisGap
	}
	if len(r.legend) > 0 {
		size.Height += max(line+dotGap, r.top)
	}
	return size
}

func rowHeight() float32 { return round(rowPitch * em()) }

// arrange implements face.
func (r *Rows) arrange(size fyne.Size) {
	line := lineHeight()
	r.pitch = rowHeight()
	var names, values float32
	e := newExtent()
	if r.zero {
		e.add(0)
	}
	for _, row := range r.rows {
		names, values = max(names, widthOf(row.name).Width), max(values, widthOf(row.value).Width)
		for _, m := range row.marks {
			e.add(m.value, m.low, m.high)
			if m.bar {
				e.add(0)
			}
		}
	}
	names = max(names, widthOf(r.note).Width) // the note stands left of the axis
	names = min(names, size.Width*mostLabel)
	r.left, r.right = names+columnGap*em(), size.Width-values-columnGap*em()
	r.top = r.legend.place(&r.sheet, 0, 0, size.Width)
	r.axis = newAxis(e, 0.04, false, r.axis.unit)
	r.axis.limit = size.Width
	r.axis.level(r.left, r.right)
	if len(r.rows) > mostBelow {
		r.under(&r.axis, r.top)
		r.top += line + axisGap
	}
	for i, row := range r.rows {
		y := r.middle(i) - line/2
		r.write(fit(row.name, names), 0, y, 0, theme.ColorNameForeground)
		ink := widgets.ColorMuted
		if row.clear {
			ink = theme.ColorNamePrimary
		}
		r.write(row.value, size.Width, y, 1, ink)
	}
	bottom := r.bottom() + axisGap
	r.under(&r.axis, bottom)
	if r.note != "" {
		r.write(r.note, 0, bottom, 0, widgets.ColorMuted)
	}
}

func (r *Rows) middle(i int) float32 { return r.top + (float32(i)+0.5)*r.pitch }

func (r *Rows) bottom() float32 { return r.top + float32(len(r.rows))*r.pitch }

// paint implements face.
func (r *Rows) paint(b *brush) {
	if len(r.rows) == 0 {
		return
	}
	r.legend.paint(b)
	if r.at != none {
		b.rect(0, r.middle(r.at)-r.pitch/2, r.Size().Width, r.middle(r.at)+r.pitch/2, chart.Ink(theme.ColorNameHover))
	}
	b.gridX(&r.axis, r.top, r.bottom())
	for i, row := range r.rows {
		for k, m := range row.marks {
			y := r.middle(i)
			if len(row.marks) > 1 && !m.bar { // next to each other
				y += (float32(k) - float32(len(row.marks)-1)/2) * r.pitch * 0.4
			}
			r.mark(b, m, y)
		}
	}
}

// mark draws a mark with its interval.
func (r *Rows) mark(b *brush, m mark, y float32) {
	if math.IsNaN(m.value) {
		return
	}
	ink, x := m.color(), r.axis.at(m.value)
	if m.bar {
		zero, half := r.axis.at(0), barHeight*em()/2
		b.rect(min(zero, x), y-half, max(zero, x), y+half, pen.Faint(ink, barStrength))
	}
	if !math.IsNaN(m.low) && !math.IsNaN(m.high) {
		interval(b, r.axis.at(m.low), r.axis.at(m.high), y, ink, false)
	}
	if !m.bar {
		m.draw(b, x, y, dotWidth*em())
	}
}

// barStrength is the alpha of a bar, out of 255.
const barStrength = 190

// interval draws a line with a cap at both ends from one value to another, along one axis, at a place of the other one.
func interval(b *brush, from, to, across float32, ink color.RGBA, upright bool) {
	reach := capWidth * em() / 2
	if upright {
		b.line(across, from, across, to, lineWidth, ink)
		b.line(across-reach, from, across+reach, from, capLine, ink)
		b.line(across-reach, to, across+reach, to, capLine, ink)
		return
	}
	b.line(from, across, to, across, lineWidth, ink)
	b.line(from, across-reach, from, across+reach, capLine, ink)
	b.line(to, across-reach, to, across+reach, capLine, ink)
}

const (
	capWidth = 6
	capLine  = 1.2
)

// places implements face.
func (r *Rows) places() int { return len(r.rows) }

// find implements face.
func (r *Rows) find(at fyne.Position) int {
	if at.Y < r.top || at.Y >= r.bottom() || r.pitch == 0 {
		return none
	}
	return int((at.Y - r.top) / r.pitch)
}

// spot implements face.
func (r *Rows) spot(place int) (fyne.Position, string) {
	row := &r.rows[place]
	x := r.left
	if len(row.marks) > 0 && !math.IsNaN(row.marks[0].value) {
		x = r.axis.at(row.marks[0].value)
	}
	return fyne.NewPos(x, r.middle(place)), row.tip
}

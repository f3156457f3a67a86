package plot

import (
	"image/color"
	"math"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/figures"
	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/pen"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Matrix is a grid of all runs, a row for each point and a column for each seed. The color and the shape of a cell are the state of its run.
// It scrolls if it has too little room. A place is a run, counted through the points.
type Matrix struct {
	sheet
	table  *findings.Table // nil without runs
	legend legend

	left, top, right, bottom float32 // of the cells in view
	pitch                    float32
	shift                    fyne.Position // how far the cells are scrolled
	cut                      float32       // the size for which the sprites are
	sprites                  map[findings.State]sprite
}

// sprite is the cell of a state.
type sprite struct {
	fill, edge, ink color.RGBA
	shape           pen.Glyph
}

// dress is how a state is drawn. In a solid cell, the shape has the color of the background.
type dress struct {
	state findings.State
	ink   fyne.ThemeColorName
	tint  uint32 // of the cell, out of 255
	shape shape
}

// dresses are the states in the order of the legend.
var dresses = []dress{
	{findings.Done, theme.ColorNameSuccess, 70, tick},
	{findings.Running, theme.ColorNamePrimary, 255, func(x, y float32) bool { return x >= -0.6 && max(y, -y) <= (0.85-x)*0.55 }},
	{findings.Interrupted, theme.ColorNameWarning, 110, func(x, y float32) bool { return max(x, -x) >= 0.18 && max(x, -x) <= 0.6 && max(y, -y) <= 0.7 }},
	{findings.Failed, theme.ColorNameError, 255, func(x, y float32) bool {
		a, b := max(x, -x), max(y, -y)
		return max(a-b, b-a) <= 0.3 && a <= 0.75 && b <= 0.75
	}},
	{findings.Skipped, widgets.ColorMuted, 40, func(x, y float32) bool { return max(y, -y) <= 0.16 && max(x, -x) <= 0.65 }},
	{findings.Waiting, widgets.ColorMuted, 0, func(x, y float32) bool { return x*x+y*y <= 0.06 }},
}

// tick is a check mark.
func tick(x, y float32) bool {
	const half = 0.2
	falls := max(y-x-0.55, x-y+0.55) <= 1.45*half && x >= -0.75 && x <= -0.1 && y <= 0.65
	rises := max(x*1.1+y-0.36, 0.36-x*1.1-y) <= 1.5*half && x >= -0.25 && x <= 0.8 && y >= -0.7
	return falls || rises
}

// Sizes of cells, for text of the usual size.
const (
	mostPitch  = 22
	leastPitch = 13
	barSize    = 5 // of the marks that show what is in view
	leastBar   = 16
)

// NewMatrix returns a matrix without runs.
func NewMatrix() *Matrix {
	m := &Matrix{}
	m.extend(m, "runs", fyne.NewSize(280, 140))
	return m
}

// Set shows the runs of a table. It keeps what is in view.
func (m *Matrix) Set(t *findings.Table) {
	m.table, m.legend = t, nil
	for _, d := range dresses {
		if n, _ := t.Count(d.state); n > 0 {
			m.legend = append(m.legend, entry{look{d.shape, d.ink, false}, figures.Count(int64(n)) + " " + string(d.state), fyne.Position{}})
		}
	}
	m.update()
}

// Run returns the point and the replicate of a place.
func (m *Matrix) Run(place int) (point, replicate int) {
	if columns := m.columns(); columns > 0 {
		return place / columns, place % columns
	}
	return 0, 0
}

// Place returns the place of a run.
func (m *Matrix) Place(point, replicate int) int { return point*m.columns() + replicate }

// runs returns the runs by point and seed; nil without a table.
func (m *Matrix) runs() [][]findings.Run {
	if m.table == nil {
		return nil
	}
	return m.table.Runs
}

func (m *Matrix) rows() int { return len(m.runs()) }

func (m *Matrix) columns() int {
	if m.rows() == 0 {
		return 0
	}
	return len(m.table.Runs[0])
}

// arrange implements face.
func (m *Matrix) arrange(size fyne.Size) {
	if m.places() == 0 {
		return
	}
	line := lineHeight()
	m.top = m.legend.place(&m.sheet, 0, 0, size.Width) + line + axisGap
	m.right, m.bottom = size.Width-barSize-1, size.Height-barSize-1
	var names float32
	for i := range min(len(m.table.Points), mostMeasured) {
		names = max(names, widthOf(m.name(i)).Width)
	}
	names = max(names, widthOf(m.head()).Width)
	m.left = min(names, size.Width*mostLabel) + columnGap*em()
	room := (m.right - m.left) / float32(m.columns())
	m.pitch = round(min(max(room, leastPitch*em()), mostPitch*em()))
	m.scroll(0, 0)
	m.write(fit(m.head(), m.left-columnGap*em()), 0, m.top-line-axisGap, 0, widgets.ColorMuted)
	m.number(size.Width)
	m.label()
}

// number writes the seeds above their columns: every one, or every second, fifth and so on if there is too little room.
func (m *Matrix) number(width float32) {
	var widest float32
	for _, seed := range m.table.Seeds {
		widest = max(widest, widthOf(strconv.FormatUint(seed, 10)).Width)
	}
	every := max(int(figures.Step(float64((widest+textGap*em()/2)/m.pitch))), 1)
	first, last := m.span(m.shift.X, m.right-m.left, m.columns())
	for i := first; i < last; i++ {
		text := strconv.FormatUint(m.table.Seeds[i], 10)
		x, half := m.left+(float32(i)+0.5)*m.pitch-m.shift.X, widthOf(text).Width/2
		if i%every == 0 && x-half >= m.left-m.pitch/2 && x+half <= width {
			m.write(text, x, m.top-lineHeight()-axisGap, 0.5, widgets.ColorMuted)
		}
	}
}

// mostMeasured is the number of names that the width of the column of names depends on.
const mostMeasured = 200

// name returns the values of a point, or its label if it has none.
func (m *Matrix) name(point int) string {
	p := &m.table.Points[point]
	if len(p.Values) == 0 {
		return p.Label
	}
	texts := make([]string, len(p.Values))
	for i, v := range p.Values {
		texts[i] = v.Text
	}
	return strings.Join(texts, ", ")
}

// head is above the names: those of the factors.
func (m *Matrix) head() string {
	texts := make([]string, len(m.table.Factors))
	for i, f := range m.table.Factors {
		texts[i] = findings.Brief(f.Name)
	}
	return strings.Join(texts, ", ")
}

// label writes the names of the points whose rows are wholly in view.
func (m *Matrix) label() {
	first, last := m.span(m.shift.Y, m.bottom-m.top, m.rows())
	for i := first; i < last; i++ {
		y := m.top + float32(i)*m.pitch - m.shift.Y
		if y < m.top-1 || y+m.pitch > m.bottom+1 {
			continue
		}
		m.write(fit(m.name(i), m.left-columnGap*em()), 0, y+(m.pitch-lineHeight())/2, 0, theme.ColorNameForeground)
	}
}

// span returns the cells of a row or column of n that are at least in part in view.
func (m *Matrix) span(shift, room float32, n int) (first, last int) {
	return max(int(shift/m.pitch), 0), min(int(math.Ceil(float64((shift+room)/m.pitch))), n)
}

// scroll moves what is in view, and reports whether that is possible.
func (m *Matrix) scroll(dx, dy float32) bool {
	most := fyne.NewPos(max(float32(m.columns())*m.pitch-(m.right-m.left), 0), max(float32(m.rows())*m.pitch-(m.bottom-m.top), 0))
	before := m.shift
	m.shift = fyne.NewPos(min(max(m.shift.X+dx, 0), most.X), min(max(m.shift.Y+dy, 0), most.Y))
	return m.shift != before
}

// Scrolled implements [fyne.Scrollable].
func (m *Matrix) Scrolled(e *fyne.ScrollEvent) {
	if m.places() > 0 && m.scroll(-e.Scrolled.DX, -e.Scrolled.DY) {
		m.at = none
		m.update()
	}
}

// Dragged scrolls.
func (m *Matrix) Dragged(e *fyne.DragEvent) {
	m.Scrolled(&fyne.ScrollEvent{Scrolled: e.Dragged})
}

// DragEnd implements [fyne.Draggable].
func (m *Matrix) DragEnd() {}

// paint implements face.
func (m *Matrix) paint(b *brush) {
	if m.places() == 0 {
		return
	}
	m.legend.paint(b)
	m.dress(b)
	x0, x1 := m.span(m.shift.X, m.right-m.left, m.columns())
	y0, y1 := m.span(m.shift.Y, m.bottom-m.top, m.rows())
	for y := y0; y < y1; y++ {
		top := m.top + float32(y)*m.pitch - m.shift.Y
		if top < m.top-1 || top+m.pitch > m.bottom+1 {
			continue
		}
		for x := x0; x < x1; x++ {
			left := m.left + float32(x)*m.pitch - m.shift.X
			if left < m.left-1 || left+m.pitch > m.right+1 {
				continue
			}
			m.cell(b, left, top, m.table.Runs[y][x].State)
		}
	}
	if m.at != none {
		m.ring(b)
	}
	m.bars(b)
}

// dress prepares the cells of all states for the size and the theme.
func (m *Matrix) dress(b *brush) {
	side := max(int(m.pitch*b.scale*shapeShare+0.5), 3)
	shaped := m.cut == m.pitch*b.scale
	m.cut = m.pitch * b.scale
	if m.sprites == nil {
		m.sprites = map[findings.State]sprite{}
	}
	for _, d := range dresses {
		s := m.sprites[d.state]
		ink := chart.Ink(d.ink)
		s.fill, s.edge, s.ink = pen.Faint(ink, d.tint), pen.Faint(ink, edgeStrength), ink
		if d.tint == 255 {
			s.ink = chart.Ink(widgets.ColorSurface)
		}
		if !shaped {
			s.shape = pen.Cut(d.shape, side)
		}
		m.sprites[d.state] = s
	}
}

const (
	shapeShare   = 0.6 // of a cell
	edgeStrength = 60  // of the line around a cell, out of 255
	cellGap      = 1
)

func (m *Matrix) cell(b *brush, left, top float32, state findings.State) {
	s := m.sprites[state]
	right, bottom := left+m.pitch-cellGap, top+m.pitch-cellGap
	left, top = left+cellGap, top+cellGap
	b.rect(left, top, right, bottom, s.fill)
	b.frame(left, top, right, bottom, 1, s.edge)
	side := float32(s.shape.Side)
	s.shape.Stamp(b.img, int((left+right)/2*b.scale-side/2+0.5), int((top+bottom)/2*b.scale-side/2+0.5), s.ink)
}

// ring marks the selected run.
func (m *Matrix) ring(b *brush) {
	at := m.corner(m.at)
	if at.Y >= m.top-1 && at.Y+m.pitch <= m.bottom+1 && at.X >= m.left-1 {
		b.frame(at.X, at.Y, at.X+m.pitch, at.Y+m.pitch, widgets.RingWidth, chart.Ink(widgets.ColorRing))
	}
}

// bars show what part of the runs is in view, if it is not all.
func (m *Matrix) bars(b *brush) {
	ink := pen.Faint(chart.Ink(widgets.ColorMuted), edgeStrength*2)
	if wide, room := float32(m.columns())*m.pitch, m.right-m.left; wide > room+1 {
		long := max(room*room/wide, leastBar)
		x := m.left + m.shift.X/(wide-room)*(room-long)
		b.rect(x, m.bottom+1, x+long, m.bottom+1+barSize, ink)
	}
	if high, room := float32(m.rows())*m.pitch, m.bottom-m.top; high > room+1 {
		long := max(room*room/high, leastBar)
		y := m.top + m.shift.Y/(high-room)*(room-long)
		b.rect(m.right+1, y, m.right+1+barSize, y+long, ink)
	}
}

// corner returns the upper left corner of a run's cell.
func (m *Matrix) corner(place int) fyne.Position {
	point, replicate := m.Run(place)
	return fyne.NewPos(m.left+float32(replicate)*m.pitch-m.shift.X, m.top+float32(point)*m.pitch-m.shift.Y)
}

// places implements face.
func (m *Matrix) places() int { return m.rows() * m.columns() }

// find implements face.
func (m *Matrix) find(at fyne.Position) int {
	if m.pitch == 0 || at.X < m.left || at.X >= m.right || at.Y < m.top || at.Y >= m.bottom {
		return none
	}
	x, y := int((at.X-m.left+m.shift.X)/m.pitch), int((at.Y-m.top+m.shift.Y)/m.pitch)
	if x >= m.columns() || y >= m.rows() {
		return none
	}
	return m.Place(y, x)
}

// spot implements face.
func (m *Matrix) spot(place int) (fyne.Position, string) {
	point, replicate := m.Run(place)
	run := &m.table.Runs[point][replicate]
	text := m.table.Points[point].Label + "\nseed " + strconv.FormatUint(m.table.Seeds[replicate], 10) + ": " + string(run.State)
	if run.Why != "" {
		text += "\n" + run.Why
	}
	return m.corner(place).AddXY(m.pitch/2, m.pitch/2), text
}

// step implements face: the arrow keys move in both directions, and bring the run into view.
func (m *Matrix) step(place int, key fyne.KeyName) int {
	columns := m.columns()
	to := place
	switch key {
	case fyne.KeyUp:
		to -= columns
	case fyne.KeyDown:
		to += columns
	case fyne.KeyPageUp:
		to -= columns * max(int((m.bottom-m.top)/m.pitch)-1, 1)
	case fyne.KeyPageDown:
		to += columns * max(int((m.bottom-m.top)/m.pitch)-1, 1)
	default:
		to = m.sheet.step(place, key)
	}
	if to < 0 || to >= m.places() {
		to = place
	}
	m.reveal(max(to, 0))
	return to
}

// reveal scrolls to a run.
func (m *Matrix) reveal(place int) {
	at := m.corner(place)
	var dx, dy float32
	switch {
	case at.X < m.left:
		dx = at.X - m.left
	case at.X+m.pitch > m.right:
		dx = at.X + m.pitch - m.right
	}
	switch {
	case at.Y < m.top:
		dy = at.Y - m.top
	case at.Y+m.pitch > m.bottom:
		dy = at.Y + m.pitch - m.bottom
	}
	if m.scroll(dx, dy) {
		m.update()
	}
}

package crowd

import "sort"

// none is the index of no cell and no agent.
const none = -1

// Sizes of cells in device-independent pixels: multiples of two, so that cells have equal sizes at a scale of 1.5.
const (
	leastPitch = 4  // from one cell to the next
	bulkPitch  = 8  // minimum for cells of many agents
	mostPitch  = 36 // maximum for few agents
	zoomPitch  = 24 // maximum after zooming

	mostBulkPitch = 16

	stripWidth = 14
	stripGap   = 6
)

// level is a zoom level.
type level struct {
	each  int     // agents per cell
	pitch float32 // from one cell to the next
}

// field places the agents: cells in rows, in the order of the agents, with scrolling. The first level shows all agents.
type field struct {
	agents int
	only   []int // the shown agents, ascending; nil: all
	w, h   float32
	levels []level
	zoom   int // index of the level
	offset float32
	anchor anchor
}

// anchor is the agent at the point of the last zoom. Cells move sideways between levels, so further steps at the same point use it.
type anchor struct {
	x, y  float32
	place int
	holds bool
}

// shown returns the number of shown agents.
func (f *field) shown() int {
	if f.only != nil {
		return len(f.only)
	}
	return f.agents
}

// agent returns the agent at an index of the shown agents.
func (f *field) agent(place int) int {
	if f.only != nil {
		return f.only[place]
	}
	return place
}

// place returns the index of an agent among the shown agents, or none.
func (f *field) place(agent int) int {
	switch {
	case agent < 0 || agent >= f.agents:
		return none
	case f.only == nil:
		return agent
	}
	i := sort.SearchInts(f.only, agent)
	if i == len(f.only) || f.only[i] != agent {
		return none
	}
	return i
}

// arrange calculates the levels for the size and the agents, and keeps the visible part.
func (f *field) arrange() {
	before, top := f.level(), f.top()
	f.anchor.holds = false
	f.levels = f.levels[:0]
	fit := f.fit()
	f.levels = append(f.levels, fit)
	for each := fit.each; each > 2; {
		each = below(each)
		if each > 1 {
			f.levels = append(f.levels, level{each, max(fit.pitch, bulkPitch)})
		}
	}
	for _, pitch := range [...]float32{6, 10, 16, zoomPitch} {
		if pitch > fit.pitch || fit.each > 1 {
			f.levels = append(f.levels, level{1, pitch})
		}
	}
	zoomed := f.zoom > 0
	f.zoom = 0
	for i, l := range f.levels {
		if zoomed && i > 0 && (l.each > before.each || l.each == before.each && l.pitch <= before.pitch) {
			f.zoom = i
		}
	}
	f.scrollTo(top, 0)
}

// fit returns the level that shows all agents in the largest cells.
func (f *field) fit() level {
	n := f.shown()
	for pitch := float32(mostPitch); pitch >= leastPitch; pitch -= 2 {
		if int(f.w/pitch)*int(f.h/pitch) >= n {
			return level{1, pitch}
		}
	}
	room := max(int(f.w/bulkPitch)*int(f.h/bulkPitch), 1)
	each := 1
	for (n+each-1)/each > room {
		each = above(each)
	}
	pitch := float32(mostBulkPitch)
	for pitch > bulkPitch && int(f.w/pitch)*int(f.h/pitch) < (n+each-1)/each {
		pitch--
	}
	return level{each, pitch}
}

// above returns the next of 1, 2, 5, 10, 20, 50 and so on.
func above(n int) int {
	unit := 1
	for unit*10 <= n {
		unit *= 10
	}
	switch n / unit {
	case 1:
		return 2 * unit
	case 2:
		return 5 * unit
	}
	return 10 * unit
}

// below returns the previous one.
func below(n int) int {
	unit := 1
	for unit*10 <= n {
		unit *= 10
	}
	switch n / unit {
	case 1:
		return unit / 2
	case 2:
		return unit
	}
	return 2 * unit
}

// level returns the current level.
func (f *field) level() level {
	if f.zoom < len(f.levels) {
		return f.levels[f.zoom]
	}
	return level{1, zoomPitch}
}

// room returns the width of the cells without the overview.
func (f *field) room() float32 {
	if f.zoom > 0 {
		return max(f.w-stripWidth-stripGap, zoomPitch)
	}
	return f.w
}

func (f *field) columns() int { return max(int(f.room()/f.level().pitch), 1) }

func (f *field) cells() int {
	each := f.level().each
	return (f.shown() + each - 1) / each
}

func (f *field) rows() int { return (f.cells() + f.columns() - 1) / f.columns() }

// height returns the height of all rows.
func (f *field) height() float32 { return float32(f.rows()) * f.level().pitch }

// scrolls reports whether a part is out of view.
func (f *field) scrolls() bool { return f.height() > f.h+0.5 }

// top returns the index of the first visible agent.
func (f *field) top() int {
	return int(f.offset/f.level().pitch) * f.columns() * f.level().each
}

// scroll scrolls to an offset, clamped to the content.
func (f *field) scroll(offset float32) {
	f.offset = max(min(offset, f.height()-f.h), 0)
}

// scrollTo scrolls so that an agent is at a height.
func (f *field) scrollTo(place int, y float32) {
	l := f.level()
	f.scroll(float32(place/l.each/f.columns())*l.pitch - y)
}

// reveal scrolls to a cell.
func (f *field) reveal(cell int) {
	_, y := f.at(cell)
	pitch := f.level().pitch
	switch {
	case y < 0:
		f.scroll(f.offset + y)
	case y+pitch > f.h:
		f.scroll(f.offset + y + pitch - f.h)
	}
}

// zoomBy zooms in or out by a number of levels around a point, and reports whether anything changed.
func (f *field) zoomBy(steps int, x, y float32) bool {
	to := max(min(f.zoom+steps, len(f.levels)-1), 0)
	if to == f.zoom {
		return false
	}
	if a := &f.anchor; !a.holds || a.x != x || a.y != y {
		cell := f.find(x, y)
		if cell == none {
			cell = max(min(f.top()/f.level().each, f.cells()-1), 0)
		}
		*a = anchor{x, y, cell * f.level().each, true}
	}
	f.zoom = to
	f.scrollTo(f.anchor.place, y-f.level().pitch/2)
	return true
}

// find returns the cell at a point, or none.
func (f *field) find(x, y float32) int {
	pitch := f.level().pitch
	if x < 0 || y < 0 || y >= f.h || f.shown() == 0 {
		return none
	}
	column := int(x / pitch)
	if column >= f.columns() {
		return none
	}
	cell := int((y+f.offset)/pitch)*f.columns() + column
	if cell >= f.cells() {
		return none
	}
	return cell
}

// at returns the upper left corner of a cell, visible or not.
func (f *field) at(cell int) (x, y float32) {
	pitch := f.level().pitch
	return float32(cell%f.columns()) * pitch, float32(cell/f.columns())*pitch - f.offset
}

// span returns the range of a cell's agents.
func (f *field) span(cell int) (from, to int) {
	each := f.level().each
	return cell * each, min((cell+1)*each, f.shown())
}

// visible returns the range of visible cells.
func (f *field) visible() (from, to int) {
	pitch := f.level().pitch
	first, last := int(f.offset/pitch), int((f.offset+f.h)/pitch)
	return min(first*f.columns(), f.cells()), min((last+1)*f.columns(), f.cells())
}

package crowd

import "sort"

// none is no cell and no agent.
const none = -1

// Sizes of cells in device-independent pixels: multiples of two, so that cells are as large at a scale of 1.5.
const (
	leastPitch = 4  // from one cell to the next
	bulkPitch  = 8  // of those that stand for many, at least
	mostPitch  = 36 // of few agents
	zoomPitch  = 24 // of those that were zoomed in to, at most

	mostBulkPitch = 16

	stripWidth = 14
	stripGap   = 6
)

// level is how far the field is zoomed.
type level struct {
	each  int     // agents in a cell
	pitch float32 // from one cell to the next
}

// field is where agents are: cells in rows, in the order of the agents, as high as they need and scrolled. The first
// level holds all agents in the room there is.
type field struct {
	agents int
	only   []int // those that are shown, ascending; nil is all
	w, h   float32
	levels []level
	zoom   int // of levels
	offset float32
	anchor anchor
}

// anchor is what was zoomed at last: cells in rows move sideways, and steps at the same point are about the same agent.
type anchor struct {
	x, y  float32
	place int
	holds bool
}

// shown is how many agents the cells stand for.
func (f *field) shown() int {
	if f.only != nil {
		return len(f.only)
	}
	return f.agents
}

// agent is the one at a place of those shown.
func (f *field) agent(place int) int {
	if f.only != nil {
		return f.only[place]
	}
	return place
}

// place is where an agent is among those shown; none if it is not.
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

// arrange works out the levels for the room and the agents, and keeps what is in view there.
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

// fit is the level at which all agents are in view, in cells as large as can be.
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

// above is the next of 1, 2, 5, 10, 20, 50 and so on.
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

// below is the one before.
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

// level is the one in force.
func (f *field) level() level {
	if f.zoom < len(f.levels) {
		return f.levels[f.zoom]
	}
	return level{1, zoomPitch}
}

// room is the width for cells: the strip that tells where one is takes the rest.
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

// height is that of all rows.
func (f *field) height() float32 { return float32(f.rows()) * f.level().pitch }

// scrolls reports whether there is more than is in view.
func (f *field) scrolls() bool { return f.height() > f.h+0.5 }

// top is the place of the first agent in view.
func (f *field) top() int {
	return int(f.offset/f.level().pitch) * f.columns() * f.level().each
}

// scroll moves what is in view to an offset, as far as there is anything.
func (f *field) scroll(offset float32) {
	f.offset = max(min(offset, f.height()-f.h), 0)
}

// scrollTo scrolls so that the agent at a place is at a height.
func (f *field) scrollTo(place int, y float32) {
	l := f.level()
	f.scroll(float32(place/l.each/f.columns())*l.pitch - y)
}

// reveal scrolls as little as needed for a cell to be in view.
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

// zoomBy goes some levels further in, or out. What is at a point stays at its height. It reports whether anything changed.
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

// find is the cell at a point; none where there is none.
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

// at is the upper left corner of a cell, in view or not.
func (f *field) at(cell int) (x, y float32) {
	pitch := f.level().pitch
	return float32(cell%f.columns()) * pitch, float32(cell/f.columns())*pitch - f.offset
}

// span are the places of a cell's agents.
func (f *field) span(cell int) (from, to int) {
	each := f.level().each
	return cell * each, min((cell+1)*each, f.shown())
}

// visible are the cells in view, the last one excluded.
func (f *field) visible() (from, to int) {
	pitch := f.level().pitch
	first, last := int(f.offset/pitch), int((f.offset+f.h)/pitch)
	return min(first*f.columns(), f.cells()), min((last+1)*f.columns(), f.cells())
}

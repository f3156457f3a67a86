// Package dash shows a run in a terminal while it goes on, as the window's Live does: in columns, with keys for the orders
// given most. It sees of a run what any other terminal is told of it, and gives its orders in the same way.
package dash

import (
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/view"
)

// Look is what a terminal can show.
type Look struct {
	Mono  bool // no colours
	ASCII bool // no other letters
}

// page is one of the pages of the dashboard.
type page int

const (
	overview page = iota
	sessions
	chain
	logbook
	numViews
	help
)

var viewNames = [...]string{overview: "overview", sessions: "sessions", chain: "steps", logbook: "log", help: "help"}

// picture is all that is drawn from.
type picture struct {
	status *view.Status // nil is that nothing is known yet
	course course
	view   page
	said   span // what came of the last order
	own    bool // the run is this process's
}

// The least widths of two and of three columns.
const (
	twoColumns   = 72
	threeColumns = 108
)

// draw is the picture at a size: as many lines as there is room for, each as wide.
func (p *picture) draw(width, height int) []line {
	if width < 20 || height < 6 {
		return fill([]line{say(strong, "larger, please")}, width, height)
	}
	if p.status == nil {
		return fill([]line{say(quiet, "asking the run …")}, width, height)
	}
	lines := p.head(width)
	foot := p.foot(width)
	room := height - len(lines) - len(foot)
	switch p.view {
	case overview:
		lines = append(lines, p.overview(width, room)...)
	case sessions:
		lines = append(lines, p.sessions(width, room)...)
	case chain:
		lines = append(lines, p.steps(width, room)...)
	case logbook:
		lines = append(lines, p.log(width, room)...)
	default:
		lines = append(lines, p.help()...)
	}
	return append(fill(lines, width, height-len(foot)), foot...)
}

// fill makes lines as many and as wide as there is room.
func fill(lines []line, width, height int) []line {
	lines = lines[:min(len(lines), max(height, 0))]
	for i := range lines {
		lines[i] = lines[i].fit(width)
	}
	for len(lines) < height {
		lines = append(lines, say(plain, strings.Repeat(" ", width)))
	}
	return lines
}

// overview are the columns that there is room for.
func (p *picture) overview(width, height int) []line {
	const gap = " │ "
	switch {
	case width >= threeColumns:
		w := (width - 2*3) / 3
		last := width - 2*3 - 2*w
		return beside(height, gap, column{p.run(w), w}, column{p.resources(w), w}, column{p.trouble(last), last})
	case width >= twoColumns:
		w := (width - 3) / 2
		left := append(p.run(w), p.resources(w)...)
		return beside(height, gap, column{left, w}, column{p.trouble(width - 3 - w), width - 3 - w})
	}
	all := slices.Concat(p.run(width), p.trouble(width), p.resources(width))
	return fill(fitting(all, height), width, height)
}

// row is a line of a column. Where there is too little room, those of the highest rank go first.
type row struct {
	line
	rank int
}

// column is one beside others.
type column struct {
	rows  []row
	width int
}

// fitting are the rows that there is room for.
func fitting(rows []row, height int) (lines []line) {
	for len(rows) > height {
		last := 0
		for i := range rows {
			if rows[i].rank >= rows[last].rank {
				last = i
			}
		}
		rows = slices.Delete(slices.Clone(rows), last, last+1)
	}
	for _, r := range rows {
		lines = append(lines, r.line)
	}
	return lines
}

// beside puts columns beside each other.
func beside(height int, gap string, columns ...column) []line {
	all := make([]line, height)
	for i, c := range columns {
		for y, l := range fill(fitting(c.rows, height), c.width, height) {
			if i > 0 {
				all[y] = all[y].and(quiet, gap)
			}
			all[y] = append(all[y], l...)
		}
	}
	return all
}

// titled is the first row of a part of a column.
func titled(title string, width int) row {
	return row{say(quiet, "─ ").and(strong, title).and(quiet, " "+strings.Repeat("─", max(width-len(title)-3, 0))), 0}
}

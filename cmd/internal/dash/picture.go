// Package dash shows a run in a terminal while it is in progress, like the Live screen of the window: in columns, with keys
// for the common orders. It reads the run and sends orders through the control protocol, like any other terminal.
package dash

import (
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/view"
)

// Look describes the capabilities of a terminal.
type Look struct {
	Mono  bool // no colors
	ASCII bool // only ASCII characters
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

// picture holds everything that is drawn.
type picture struct {
	status *view.Status // nil until the first status arrives
	recent recent
	view   page
	said   span // result of the last order
	own    bool // the run belongs to this process
}

// The minimum widths of two and of three columns.
const (
	twoColumns   = 72
	threeColumns = 108
)

// draw returns the picture for a terminal of this size: height lines of width columns.
func (p *picture) draw(width, height int) []line {
	if width < 20 || height < 6 {
		return fill([]line{say(strong, "terminal too small")}, width, height)
	}
	if p.status == nil {
		return fill([]line{say(quiet, "connecting to the run …")}, width, height)
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

// fill pads or cuts lines to this size.
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

// overview returns the columns that fit.
func (p *picture) overview(width, height int) []line {
	const gap = " │ "
	switch {
	case width >= threeColumns:
		w := (width - 2*3) / 3
		last := width - 2*3 - 2*w
		return joinColumns(height, gap, column{p.run(w), w}, column{p.resources(w), w}, column{p.trouble(last), last})
	case width >= twoColumns:
		w := (width - 3) / 2
		left := append(p.run(w), p.resources(w)...)
		return joinColumns(height, gap, column{left, w}, column{p.trouble(width - 3 - w), width - 3 - w})
	}
	all := slices.Concat(p.run(width), p.trouble(width), p.resources(width))
	return fill(fitting(all, height), width, height)
}

// row is a line of a column. If space is short, rows of the highest rank are dropped first.
type row struct {
	line
	rank int
}

// column is a column and its width.
type column struct {
	rows  []row
	width int
}

// fitting returns the rows that fit.
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

// joinColumns puts columns next to each other.
func joinColumns(height int, gap string, columns ...column) []line {
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

// titled returns the title row of a part of a column.
func titled(title string, width int) row {
	return row{say(quiet, "─ ").and(strong, title).and(quiet, " "+strings.Repeat("─", max(width-len(title)-3, 0))), 0}
}

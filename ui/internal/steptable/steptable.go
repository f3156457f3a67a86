// Package steptable shows the steps of a run with their figures, in a table that the user can sort.
package steptable

import (
	"slices"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// looks are how wide the columns of [view.StepColumns] are, and in which order they give way in a narrow window.
var looks = []struct {
	sample string
	drop   int
}{
	{"Add to cart · fill_cart.add_cart", 0},
	{"shop POST /carts/{}/items", 4},
	{"1,000,000", 5},
	{"10,000/s", 0},
	{"59 min 59 s", 3},
	{"mean 59 min 59 s", 0},
	{"59 min 59 s", 2},
	{"100,000", 0},
	{"1.2 MB", 1},
	{"1,000,000", 6},
	{"10,000", 9},
	{"10,000", 7},
	{"10,000", 10},
	{"10,000", 11},
	{"59 min 59 s", 8},
}

// Columns returns the columns of a table of steps.
func Columns() []widgets.Column {
	all := make([]widgets.Column, len(view.StepColumns))
	for i, c := range view.StepColumns {
		all[i] = widgets.Column{Title: c.Title, Sample: looks[i].sample, Drop: looks[i].drop}
		if c.Figure {
			all[i].Align = fyne.TextAlignTrailing
		}
	}
	all[0].Weight, all[1].Weight = 2, 3
	return all
}

// rows is a table or a sheet.
type rows interface {
	SetRows(rows []widgets.Row)
	SetSort(column int, descending bool)
}

// Steps fills a table of steps, the slowest first until the user sorts by another column.
type Steps struct {
	table      rows
	lines      []view.StepLine
	column     int
	descending bool
}

// New returns the steps of a table with [Columns]. The caller calls Sort when the user clicks on a title.
func New(table rows) *Steps {
	s := &Steps{table: table, column: view.StepP95, descending: true}
	table.SetSort(s.column, s.descending)
	return s
}

// Set shows steps.
func (s *Steps) Set(lines []view.StepLine) {
	s.lines = slices.Clone(lines)
	s.fill()
}

// Sort sorts by a column; again, in the other order. Figures begin with the largest.
func (s *Steps) Sort(column int) {
	if s.column == column {
		s.descending = !s.descending
	} else {
		s.column, s.descending = column, view.StepColumns[column].Figure
	}
	s.table.SetSort(s.column, s.descending)
	s.fill()
}

func (s *Steps) fill() {
	slices.SortStableFunc(s.lines, func(a, b view.StepLine) int {
		by := view.StepColumns[s.column].Compare(&a, &b)
		if s.descending {
			return -by
		}
		return by
	})
	all := make([]widgets.Row, len(s.lines))
	for i := range s.lines {
		l := &s.lines[i]
		all[i].Key = l.Path
		for _, c := range view.StepColumns {
			all[i].Cells = append(all[i].Cells, widgets.Cell{Text: c.Text(l)})
		}
		if l.Errors() > 0 {
			all[i].Cells[view.StepFailures].Tone = widgets.Bad
		}
	}
	s.table.SetRows(all)
}

package widgets

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Sheet is a short table that shows all its rows without scrolling. Without titles it has no header.
type Sheet struct {
	widget.BaseWidget
	// OnSort, if set, is called with the column whose title the user clicks.
	OnSort func(column int)

	columns *columns
	titled  bool
	tapped  func(key string)
	rows    []Row
	head    *tableHead
	lines   []*sheetRow
	empty   *Text
	current int // the row that can be focused
}

// NewSheet returns a sheet. empty is shown if there are no rows. tapped, if set, is called with the key of a row that the user taps.
func NewSheet(columns []Column, empty string, tapped func(key string)) *Sheet {
	s := &Sheet{columns: newColumns(columns), tapped: tapped, empty: NewCaption(empty)}
	s.titled = slices.ContainsFunc(columns, func(c Column) bool { return c.Title != "" })
	s.head = newTableHead(s.columns, &s.OnSort)
	s.head.Hide()
	s.ExtendBaseWidget(s)
	return s
}

// SetRows sets the rows; nothing is drawn if nothing changed.
func (s *Sheet) SetRows(rows []Row) {
	if slices.EqualFunc(s.rows, rows, Row.equal) {
		return
	}
	grown := len(rows) != len(s.lines)
	s.rows = rows
	for len(s.lines) < len(rows) {
		s.lines = append(s.lines, newSheetRow(s, len(s.lines)))
	}
	s.lines = slices.Delete(s.lines, len(rows), len(s.lines))
	for _, line := range s.lines {
		line.show(line.mark)
	}
	if grown {
		s.head.Hidden, s.empty.Hidden = len(rows) == 0 || !s.titled, len(rows) > 0
		s.Refresh()
	}
}

// SetSort marks the column that the rows are sorted by. The caller sorts.
func (s *Sheet) SetSort(column int, descending bool) { s.head.mark(column, descending) }

// SetEmpty sets the text for no rows.
func (s *Sheet) SetEmpty(text string) { s.empty.SetText(text) }

// Parts returns the rows.
func (s *Sheet) Parts() []fyne.CanvasObject {
	parts := make([]fyne.CanvasObject, len(s.lines))
	for i, line := range s.lines {
		parts[i] = line
	}
	return parts
}

// CreateRenderer implements [fyne.Widget].
func (s *Sheet) CreateRenderer() fyne.WidgetRenderer {
	r := &sheetRenderer{sheet: s}
	r.collect()
	return r
}

type sheetRenderer struct {
	sheet   *Sheet
	objects []fyne.CanvasObject
}

func (r *sheetRenderer) collect() {
	clear(r.objects)
	r.objects = append(r.objects[:0], r.sheet.head, r.sheet.empty)
	for _, line := range r.sheet.lines {
		r.objects = append(r.objects, line)
	}
}

func (r *sheetRenderer) Destroy()                     {}
func (r *sheetRenderer) Objects() []fyne.CanvasObject { return r.objects }

func (s *Sheet) headHeight() float32 {
	if !s.titled {
		return 0
	}
	return s.head.MinSize().Height
}

func (r *sheetRenderer) MinSize() fyne.Size {
	s := r.sheet
	if len(s.lines) == 0 {
		size := s.empty.MinSize()
		return fyne.NewSize(max(size.Width, s.columns.minWidth()), size.Height)
	}
	return fyne.NewSize(s.columns.minWidth(), s.headHeight()+float32(len(s.lines))*(rowHeight()+theme.Padding()))
}

func (r *sheetRenderer) Layout(size fyne.Size) {
	s := r.sheet
	s.empty.Move(fyne.NewPos(columnGap()/2, 0))
	s.empty.Resize(fyne.NewSize(max(size.Width-columnGap(), 0), s.empty.MinSize().Height))
	y := s.headHeight()
	s.head.Resize(fyne.NewSize(size.Width, y))
	for _, line := range s.lines {
		y += theme.Padding()
		line.Move(fyne.NewPos(0, y))
		line.Resize(fyne.NewSize(size.Width, rowHeight()))
		y += rowHeight()
	}
}

// Refresh updates the sheet for the number of rows; rows refresh themselves.
func (r *sheetRenderer) Refresh() {
	r.collect()
	r.Layout(r.sheet.Size())
	canvas.Refresh(r.sheet)
}

// sheetRow is a row that may be tapped.
type sheetRow struct {
	tableRow
	sheet *Sheet
	at    int
}

var (
	_ fyne.Tappable     = (*sheetRow)(nil)
	_ desktop.Hoverable = (*sheetRow)(nil)
)

func newSheetRow(s *Sheet, at int) *sheetRow {
	r := &sheetRow{sheet: s, at: at}
	r.fill(s.columns)
	r.ExtendBaseWidget(r)
	return r
}

func (r *sheetRow) show(mark rowMark) { r.set(&r.sheet.rows[r.at], mark) }

// gone reports whether the row no longer exists. It may still receive events while it is focused or below the pointer.
func (r *sheetRow) gone() bool { return r.at >= len(r.sheet.rows) }

// Tapped implements [fyne.Tappable].
func (r *sheetRow) Tapped(*fyne.PointEvent) {
	if r.sheet.tapped != nil && !r.gone() {
		r.sheet.tapped(r.sheet.rows[r.at].Key)
	}
}

// MouseIn implements [desktop.Hoverable], as are MouseMoved and MouseOut.
func (r *sheetRow) MouseIn(*desktop.MouseEvent) { r.stand(rowMark{hovered: r.sheet.tapped != nil}) }

// MouseMoved does nothing.
func (r *sheetRow) MouseMoved(*desktop.MouseEvent) {}

// MouseOut undoes MouseIn.
func (r *sheetRow) MouseOut() { r.stand(rowMark{}) }

package widgets

import (
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Table shows rows below a header and scrolls. The user can select one row with a click or the arrow keys. It creates only the visible
// rows.
type Table struct {
	widget.BaseWidget
	// OnSelected, if set, is called with the key of a row that the user selects.
	OnSelected func(key string)
	// OnOpened, if set, is called with the key of a row that the user clicks, or opens with Return.
	OnOpened func(key string)
	// OnDoubled, if set, is called with the key of a row that the user double-clicks, or opens with Return.
	OnDoubled func(key string)
	// OnMarked, if set, lets the user mark several rows with Ctrl or Cmd, Shift, and the key for all. It is called after each change.
	OnMarked func()
	// OnSort, if set, is called with the column whose title the user clicks.
	OnSort func(column int)
	// OnCell, if set, is called for a click on a cell, and returns whether the click is done and does not select the row.
	OnCell func(key string, column int) bool
	// OnKey, if set, is called for a key with the modifiers that are held, and returns whether the key is done.
	OnKey func(key fyne.KeyName, held fyne.KeyModifier) bool

	columns  *columns
	rows     []Row
	selected string
	marks    marks
	tip      *Tip
	focused  bool
	least    int
	head     *tableHead
	list     *keyList
	empty    *Text
	shown    map[*tableRow]int // the created rows, by index
	clicked  time.Time         // the last click, on the selected row
}

// NewTable returns a table. empty is shown if there are no rows, and rows is the number of rows of the minimum height.
func NewTable(columns []Column, empty string, rows int) *Table {
	t := &Table{columns: newColumns(columns), least: rows, empty: NewCaption(empty), shown: map[*tableRow]int{}, tip: NewTip()}
	t.head = newTableHead(t.columns, &t.OnSort)
	t.list = newKeyList(t)
	t.ExtendBaseWidget(t)
	return t
}

// SetRows sets the rows. The selection and the scroll position stay at their keys; nothing is drawn if nothing changed.
func (t *Table) SetRows(rows []Row) {
	before := t.rows
	if slices.EqualFunc(before, rows, Row.equal) {
		return
	}
	t.rows = rows
	if t.selected != "" && t.index(t.selected) < 0 {
		t.selected = ""
	}
	t.keepMarks()
	t.tip.Hide()
	if len(before) == len(rows) {
		t.update()
		return
	}
	offset := t.list.GetScrollOffset()
	if offset > 0 { // the visible rows stay in place
		pitch := rowHeight() + theme.Padding()
		if top := int(offset / pitch); top < len(before) {
			if i := t.index(before[top].Key); i >= 0 {
				offset += float32(i-top) * pitch
			}
		}
	}
	t.empty.Hidden = len(rows) > 0
	clear(t.shown)
	t.list.Refresh()
	t.list.ScrollToOffset(offset)
	t.Refresh()
}

// SetEmpty sets the text for no rows.
func (t *Table) SetEmpty(text string) { t.empty.SetText(text) }

// SetLeast sets the number of rows of the minimum height.
func (t *Table) SetLeast(rows int) {
	if t.least != rows {
		t.least = rows
		t.Refresh()
	}
}

// Select selects the row with a key and scrolls to it; an unknown key clears the selection.
func (t *Table) Select(key string) {
	i := t.index(key)
	if i < 0 {
		key = ""
	}
	if t.selected == key {
		return
	}
	t.selected = key
	if !t.marks.all[key] {
		t.marks.only(key)
	}
	t.update()
	if i >= 0 {
		t.list.ScrollTo(i)
	}
}

// Selected returns the key of the selected row; "" if none.
func (t *Table) Selected() string { return t.selected }

// choose selects a row for the user.
func (t *Table) choose(i int) {
	key := t.rows[i].Key
	several := len(t.marks.all) > 1
	t.marks.only(key)
	if t.selected == key {
		if several {
			t.update()
			t.marked()
		}
		return
	}
	t.Select(key)
	t.marked()
	if t.OnSelected != nil {
		t.OnSelected(key)
	}
}

// open opens the selected row.
func (t *Table) open() {
	if t.selected != "" && t.OnOpened != nil {
		t.OnOpened(t.selected)
	}
}

// doubleClick is the longest time between the clicks of a double click.
const doubleClick = 500 * time.Millisecond

// click notes a click on a row that is selected now. was is the row that was selected before. The toolkit's own double clicks would delay
// every single one.
func (t *Table) click(was string) {
	now := time.Now()
	if was == t.selected && was != "" && now.Sub(t.clicked) < doubleClick {
		t.clicked = time.Time{}
		t.double()
		return
	}
	t.clicked = now
}

func (t *Table) double() {
	if t.selected != "" && t.OnDoubled != nil {
		t.OnDoubled(t.selected)
	}
}

func (t *Table) index(key string) int {
	return slices.IndexFunc(t.rows, func(r Row) bool { return r.Key == key })
}

// update updates the created rows.
func (t *Table) update() {
	for row, i := range t.shown {
		t.show(row, i)
	}
}

func (t *Table) show(row *tableRow, i int) {
	if i >= len(t.rows) { // a row that is kept for later
		return
	}
	key := t.rows[i].Key
	selected := key == t.selected
	row.set(&t.rows[i], rowMark{selected: selected || t.marks.all[key], focused: selected && t.focused, hovered: row.mark.hovered})
}

// CreateRenderer implements [fyne.Widget].
func (t *Table) CreateRenderer() fyne.WidgetRenderer {
	return &tableRenderer{table: t, objects: append([]fyne.CanvasObject{t.head, t.list, t.empty}, t.tip.Objects()...)}
}

type tableRenderer struct {
	table   *Table
	objects []fyne.CanvasObject
}

func (r *tableRenderer) Destroy()                     {}
func (r *tableRenderer) Objects() []fyne.CanvasObject { return r.objects }

func (r *tableRenderer) MinSize() fyne.Size {
	t := r.table
	head := t.head.MinSize()
	return fyne.NewSize(head.Width, head.Height+theme.Padding()+float32(t.least)*(rowHeight()+theme.Padding()))
}

func (r *tableRenderer) Layout(size fyne.Size) {
	t := r.table
	y := t.head.MinSize().Height
	t.head.Resize(fyne.NewSize(size.Width, y))
	y += theme.Padding()
	t.list.Move(fyne.NewPos(0, y))
	t.list.Resize(fyne.NewSize(size.Width, max(size.Height-y, 0)))
	t.empty.Move(fyne.NewPos(columnGap()/2, y))
	t.empty.Resize(fyne.NewSize(max(size.Width-columnGap(), 0), t.empty.MinSize().Height))
}

// Refresh updates the table for the number of rows; rows refresh themselves.
func (r *tableRenderer) Refresh() {
	r.table.tip.Refresh()
	r.Layout(r.table.Size())
}

// keyList is a list that keeps its selection by key.
type keyList struct {
	widget.List
	table *Table
}

func newKeyList(t *Table) *keyList {
	l := &keyList{table: t}
	l.HideSeparators = true
	l.Length = func() int { return len(t.rows) }
	l.CreateItem = func() fyne.CanvasObject {
		row := newTableRow(t.columns)
		row.tapped = func(at fyne.Position) { l.press(row, at) }
		row.hovers = func(at fyne.Position, cell int) { t.explain(row, at, cell) }
		return row
	}
	l.UpdateItem = func(i widget.ListItemID, o fyne.CanvasObject) {
		row := o.(*tableRow)
		t.shown[row] = i
		t.show(row, i)
	}
	l.OnSelected = func(i widget.ListItemID) {
		l.UnselectAll() // the table marks the row itself, by its key
		t.choose(i)
		t.open()
	}
	l.ExtendBaseWidget(l)
	return l
}

// press handles a click on a row.
func (l *keyList) press(row *tableRow, at fyne.Position) {
	i, ok := l.table.shown[row]
	if !ok || i >= len(l.table.rows) {
		return
	}
	l.table.tip.Hide()
	if f := l.table.OnCell; f != nil && f(l.table.rows[i].Key, l.table.columns.at(at.X)) {
		return
	}
	if c := fyne.CurrentApp().Driver().CanvasForObject(l); c != nil {
		c.Focus(l)
	}
	if l.table.OnMarked != nil && l.table.press(i, row.modifier) {
		return
	}
	was := l.table.selected
	l.Select(i)
	l.table.click(was)
}

// FocusGained implements [fyne.Focusable].
func (l *keyList) FocusGained() { l.focus(true) }

// FocusLost implements [fyne.Focusable].
func (l *keyList) FocusLost() { l.focus(false) }

func (l *keyList) focus(focused bool) {
	l.table.focused = focused
	l.table.update()
}

// TypedKey moves the selection.
func (l *keyList) TypedKey(e *fyne.KeyEvent) {
	t := l.table
	if len(t.rows) == 0 || t.OnKey != nil && t.OnKey(e.Name, heldKeys()) {
		return
	}
	page := max(int(l.Size().Height/(rowHeight()+theme.Padding()))-1, 1)
	i := t.index(t.selected)
	switch e.Name {
	case fyne.KeyUp:
		i--
	case fyne.KeyDown:
		i++
	case fyne.KeyPageUp:
		i -= page
	case fyne.KeyPageDown:
		i += page
	case fyne.KeyHome:
		i = 0
	case fyne.KeyEnd:
		i = len(t.rows) - 1
	case fyne.KeyReturn, fyne.KeyEnter:
		t.open()
		t.double()
		return
	default:
		return
	}
	i = min(max(i, 0), len(t.rows)-1)
	if t.OnMarked != nil && heldKeys()&fyne.KeyModifierShift != 0 {
		t.Extend(t.rows[i].Key)
		return
	}
	t.choose(i)
}

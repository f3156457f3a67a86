package widgets

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// tableHead is the header. A click on a title sorts; with the focus, the arrow keys choose a title, and Space or Return sorts. A header
// that does not sort takes no focus.
type tableHead struct {
	widget.BaseWidget
	columns    *columns
	onSort     *func(column int) // of the table; nil or empty if it does not sort
	sorted     int               // the column that the rows are sorted by, or none
	descending bool
	hovered    int // the column under the pointer, or chosen by the arrow keys, or none
	focused    bool
}

var (
	_ fyne.Focusable   = (*tableHead)(nil)
	_ fyne.Disableable = (*tableHead)(nil)
)

func newTableHead(c *columns, onSort *func(column int)) *tableHead {
	h := &tableHead{columns: c, onSort: onSort, sorted: none, hovered: none}
	h.ExtendBaseWidget(h)
	return h
}

// SetSort marks the column that the rows are sorted by. The caller sorts.
func (t *Table) SetSort(column int, descending bool) { t.head.mark(column, descending) }

func (h *tableHead) mark(column int, descending bool) {
	if h.sorted != column || h.descending != descending {
		h.sorted, h.descending = column, descending
		h.Refresh()
	}
}

// sorts reports whether clicks sort.
func (h *tableHead) sorts() bool { return h.onSort != nil && *h.onSort != nil }

// Tapped implements [fyne.Tappable].
func (h *tableHead) Tapped(e *fyne.PointEvent) {
	h.sort(h.columns.at(e.Position.X))
}

// sort sorts by a column, which may be none.
func (h *tableHead) sort(column int) {
	if h.sorts() && column != none {
		(*h.onSort)(column)
	}
}

// MouseIn implements [desktop.Hoverable], as are MouseMoved and MouseOut.
func (h *tableHead) MouseIn(e *desktop.MouseEvent) { h.MouseMoved(e) }

// MouseMoved highlights the title under the pointer.
func (h *tableHead) MouseMoved(e *desktop.MouseEvent) {
	if h.sorts() {
		h.hover(h.columns.at(e.Position.X))
	}
}

// MouseOut undoes MouseMoved.
func (h *tableHead) MouseOut() { h.hover(none) }

// Disabled implements [fyne.Disableable], as do Enable and Disable, which do nothing.
func (h *tableHead) Disabled() bool { return !h.sorts() }

// Enable does nothing.
func (h *tableHead) Enable() {}

// Disable does nothing.
func (h *tableHead) Disable() {}

// FocusGained implements [fyne.Focusable], as do FocusLost, TypedRune and TypedKey.
func (h *tableHead) FocusGained() {
	h.focused, h.hovered = true, max(h.sorted, 0)
	h.Refresh()
}

// FocusLost undoes FocusGained.
func (h *tableHead) FocusLost() {
	h.focused, h.hovered = false, none
	h.Refresh()
}

// TypedRune ignores characters.
func (h *tableHead) TypedRune(rune) {}

// TypedKey chooses a title or sorts.
func (h *tableHead) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyLeft:
		h.hover(max(h.hovered-1, 0))
	case fyne.KeyRight:
		h.hover(min(h.hovered+1, len(h.columns.all)-1))
	case fyne.KeySpace, fyne.KeyReturn, fyne.KeyEnter:
		h.sort(h.hovered)
	default:
	}
}

func (h *tableHead) hover(column int) {
	if h.hovered != column {
		h.hovered = column
		h.Refresh()
	}
}

// CreateRenderer implements [fyne.Widget].
func (h *tableHead) CreateRenderer() fyne.WidgetRenderer {
	r := &headRenderer{head: h, line: canvas.NewRectangle(theme.Color(theme.ColorNameSeparator)), mark: &canvas.Image{FillMode: canvas.ImageFillContain}}
	for i := range h.columns.all {
		title := NewLine(theme.SizeNameCaptionText, Quiet).Align(h.columns.all[i].Align) // clipped if the column is narrower
		title.OnTapped = func() { h.sort(i) }
		r.titles = append(r.titles, title)
		r.objects = append(r.objects, r.titles[i])
	}
	r.ring = canvas.NewRectangle(color.Transparent)
	r.objects = append(r.objects, r.mark, r.line, r.ring)
	r.paint()
	return r
}

type headRenderer struct {
	head    *tableHead
	titles  []*Line
	line    *canvas.Rectangle
	mark    *canvas.Image     // next to the title of the sorted column
	ring    *canvas.Rectangle // around the chosen title, with the focus
	objects []fyne.CanvasObject
}

func (r *headRenderer) Destroy()                     {}
func (r *headRenderer) Objects() []fyne.CanvasObject { return r.objects }

func (r *headRenderer) MinSize() fyne.Size {
	height := fyne.MeasureText("M", theme.CaptionTextSize(), fyne.TextStyle{}).Height
	return fyne.NewSize(r.head.columns.minWidth(), height+theme.Padding()+theme.SeparatorThicknessSize())
}

func (r *headRenderer) Layout(size fyne.Size) {
	line := theme.SeparatorThicknessSize()
	side := theme.CaptionTextSize()
	r.mark.Hide()
	r.ring.Hide()
	r.head.columns.place(size.SubtractWidthHeight(0, theme.Padding()+line), func(i int, at fyne.Position, size fyne.Size) {
		r.titles[i].Move(at)
		r.titles[i].Resize(size)
		r.titles[i].Hidden = size.Width == 0
		if r.head.focused && i == r.head.hovered && size.Width > 0 {
			r.ring.Move(at.SubtractXY(RingWidth, 0))
			r.ring.Resize(size.AddWidthHeight(2*RingWidth, 0))
			r.ring.Show()
		}
		if i != r.head.sorted || size.Width == 0 {
			return
		}
		c := &r.head.columns.all[i]
		text := min(fyne.MeasureText(c.Title, theme.CaptionTextSize(), fyne.TextStyle{}).Width, size.Width)
		x := at.X + text + 1
		if c.Align == fyne.TextAlignTrailing {
			x = at.X + size.Width - text - side - 1
		}
		r.mark.Move(fyne.NewPos(x, (size.Height-side)/2))
		r.mark.Resize(fyne.NewSquareSize(side))
		r.mark.Show()
	})
	r.line.Move(fyne.NewPos(0, size.Height-line))
	r.line.Resize(fyne.NewSize(size.Width, line))
}

func (r *headRenderer) paint() {
	r.line.FillColor = theme.Color(theme.ColorNameSeparator)
	icon := theme.MenuDropUpIcon()
	if r.head.descending {
		icon = theme.MenuDropDownIcon()
	}
	r.mark.Resource = theme.NewColoredResource(icon, ColorMuted)
	r.ring.StrokeColor, r.ring.StrokeWidth, r.ring.CornerRadius = Color(ColorRing), RingWidth, RingWidth
	for i := range r.titles {
		tone := Quiet
		if i == r.head.hovered || i == r.head.sorted {
			tone = Neutral
		}
		r.titles[i].Set(r.head.columns.all[i].Title, tone)
	}
}

// Refresh updates the header for its state and the theme.
func (r *headRenderer) Refresh() {
	r.paint()
	r.Layout(r.head.Size())
	for _, o := range r.objects {
		o.Refresh()
	}
}

package widgets

import (
	"image/color"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Cell is the content of a column in a row. The text is clipped with an ellipsis after its first line and if it is too long.
type Cell struct {
	Text  string
	Tone  Tone
	Badge bool          // shows the text as a badge
	Icon  fyne.Resource // before the text, in the tone's color; may be nil
	Spark *Spark        // instead of the text; may be nil
	Tip   string        // shown under the pointer; without one, a text that is cut off is shown
}

// Row is a row of a [Table] or a [Sheet] with a unique key.
type Row struct {
	Key   string
	Cells []Cell // by column; missing ones are empty
}

// Contains reports whether a cell contains a text, regardless of case.
func (r Row) Contains(text string) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	return text == "" || slices.ContainsFunc(r.Cells, func(c Cell) bool { return strings.Contains(strings.ToLower(c.Text), text) })
}

func (r Row) equal(o Row) bool { return r.Key == o.Key && slices.Equal(r.Cells, o.Cells) }

// tableRow shows a row.
type tableRow struct {
	widget.BaseWidget
	columns *columns
	mark    rowMark
	cells   []*tableCell
	tapped  func(at fyne.Position) // may be nil

	hovers   func(at fyne.Position, cell int) // the cell under the pointer, or none; may be nil
	modifier fyne.KeyModifier                 // of the last press
}

// none stands for a missing cell or column.
const none = -1

// rowMark is the highlighting of a row.
type rowMark struct{ selected, focused, hovered bool }

func newTableRow(c *columns) *tableRow {
	r := &tableRow{}
	r.fill(c)
	r.ExtendBaseWidget(r)
	return r
}

func (r *tableRow) fill(c *columns) {
	r.columns = c
	for i := range c.all {
		r.cells = append(r.cells, newTableCell(c.all[i].Align))
	}
}

func (r *tableRow) set(row *Row, mark rowMark) {
	for i, cell := range r.cells {
		var c Cell
		if i < len(row.Cells) {
			c = row.Cells[i]
		}
		cell.set(c)
	}
	if r.mark != mark {
		r.mark = mark
		r.Refresh()
	}
}

// Tapped implements [fyne.Tappable]. A row handles secondary taps, so objects below it do not receive taps.
func (r *tableRow) Tapped(e *fyne.PointEvent) {
	if r.tapped != nil {
		r.tapped(e.Position)
	}
	r.modifier = 0
}

// MouseDown implements [desktop.Mouseable]: it notes the keys that are held.
func (r *tableRow) MouseDown(e *desktop.MouseEvent) { r.modifier = e.Modifier }

// MouseUp does nothing.
func (r *tableRow) MouseUp(*desktop.MouseEvent) {}

// MouseIn implements [desktop.Hoverable], as are MouseMoved and MouseOut.
func (r *tableRow) MouseIn(e *desktop.MouseEvent) {
	r.hover(true)
	r.MouseMoved(e)
}

// MouseMoved reports the cell under the pointer.
func (r *tableRow) MouseMoved(e *desktop.MouseEvent) {
	if r.hovers != nil {
		r.hovers(e.Position, r.columns.at(e.Position.X))
	}
}

// MouseOut reports that there is none.
func (r *tableRow) MouseOut() {
	r.hover(false)
	if r.hovers != nil {
		r.hovers(fyne.Position{}, none)
	}
}

func (r *tableRow) hover(hovered bool) {
	if r.hovers != nil && r.mark.hovered != hovered {
		r.mark.hovered = hovered
		r.Refresh()
	}
}

// Parts returns the cells.
func (r *tableRow) Parts() []fyne.CanvasObject {
	parts := make([]fyne.CanvasObject, len(r.cells))
	for i, c := range r.cells {
		parts[i] = c
	}
	return parts
}

// CreateRenderer implements [fyne.Widget].
func (r *tableRow) CreateRenderer() fyne.WidgetRenderer {
	back := canvas.NewRectangle(color.Transparent)
	objects := []fyne.CanvasObject{back}
	for _, c := range r.cells {
		objects = append(objects, c)
	}
	renderer := &rowRenderer{row: r, back: back, objects: objects}
	renderer.paint()
	return renderer
}

type rowRenderer struct {
	row     *tableRow
	back    *canvas.Rectangle
	objects []fyne.CanvasObject
}

func (r *rowRenderer) Destroy()                     {}
func (r *rowRenderer) Objects() []fyne.CanvasObject { return r.objects }

func (r *rowRenderer) MinSize() fyne.Size { return fyne.NewSize(r.row.columns.minWidth(), rowHeight()) }

func rowHeight() float32 {
	return max(fyne.MeasureText("M", theme.TextSize(), fyne.TextStyle{}).Height, badgeSize("M").Height) + theme.Padding()
}

func (r *rowRenderer) Layout(size fyne.Size) {
	r.back.Resize(size)
	r.row.columns.place(size, func(i int, at fyne.Position, size fyne.Size) {
		r.row.cells[i].Move(at)
		r.row.cells[i].Resize(size)
		r.row.cells[i].Hidden = size.Width == 0
	})
}

// Refresh updates the row for its mark and the theme; cells refresh themselves.
func (r *rowRenderer) Refresh() {
	r.paint()
	r.back.Refresh()
}

func (r *rowRenderer) paint() {
	r.back.FillColor, r.back.StrokeColor, r.back.StrokeWidth = color.Transparent, color.Transparent, 0
	r.back.CornerRadius = theme.SelectionRadiusSize()
	switch {
	case r.row.mark.selected:
		r.back.FillColor = theme.Color(theme.ColorNameSelection)
	case r.row.mark.hovered:
		r.back.FillColor = theme.Color(theme.ColorNameHover)
	}
	if r.row.mark.focused {
		r.back.StrokeColor, r.back.StrokeWidth = Color(ColorRing), RingWidth
	}
}

// tableCell shows a cell.
type tableCell struct {
	widget.BaseWidget
	align fyne.TextAlign
	cell  Cell
	face  *cellRenderer // nil before it is shown
}

func newTableCell(align fyne.TextAlign) *tableCell {
	c := &tableCell{align: align}
	c.ExtendBaseWidget(c)
	return c
}

// Text returns the text of the cell.
func (c *tableCell) Text() string { return c.cell.Text }

// tip returns what is shown under the pointer; "" if nothing.
func (c *tableCell) tip() string {
	switch {
	case c.cell.Tip != "":
		return c.cell.Tip
	case c.face == nil || c.cell.Spark != nil || c.face.face.text.Text == c.cell.Text:
		return ""
	}
	return c.cell.Text
}

func (c *tableCell) set(cell Cell) {
	if c.cell != cell {
		c.cell = cell
		c.Refresh()
	}
}

// CreateRenderer implements [fyne.Widget].
func (c *tableCell) CreateRenderer() fyne.WidgetRenderer {
	r := &cellRenderer{cell: c, face: newBadgeFace(), icon: &canvas.Image{FillMode: canvas.ImageFillContain}}
	r.objects = []fyne.CanvasObject{r.face.back, r.face.text, r.icon}
	c.face = r
	r.paint()
	return r
}

type cellRenderer struct {
	cell    *tableCell
	face    badgeFace
	icon    *canvas.Image
	spark   *sparkFace // nil until the cell has one
	objects []fyne.CanvasObject
	source  fyne.Resource // of the icon
	tone    Tone
}

func (r *cellRenderer) Destroy()                     {}
func (r *cellRenderer) Objects() []fyne.CanvasObject { return r.objects }
func (r *cellRenderer) MinSize() fyne.Size           { return fyne.NewSize(0, rowHeight()) }

// Refresh updates the cell for its content and the theme.
func (r *cellRenderer) Refresh() {
	r.paint()
	r.Layout(r.cell.Size())
	r.face.back.Refresh()
	r.face.text.Refresh()
	if !r.icon.Hidden {
		r.icon.Refresh()
	}
	if r.cell.cell.Spark != nil {
		r.spark.raster.Refresh()
	}
}

func (r *cellRenderer) paint() {
	c := &r.cell.cell
	r.paintSpark()
	if c.Badge {
		r.face.show(c.Text, c.Tone)
		r.face.back.Show()
	} else {
		r.face.back.Hide()
		r.face.text.Color, r.face.text.TextSize = Color(c.Tone.Color()), theme.TextSize()
		r.face.text.TextStyle.Bold = false
		r.face.text.Alignment = r.cell.align
	}
	r.icon.Hidden = c.Icon == nil
	if c.Icon != r.source || c.Tone != r.tone {
		r.source, r.tone = c.Icon, c.Tone
		r.icon.Resource = nil
		if c.Icon != nil {
			r.icon.Resource = theme.NewColoredResource(c.Icon, c.Tone.Color())
		}
	}
}

// paintSpark creates the sparkline of a cell.
func (r *cellRenderer) paintSpark() {
	c := &r.cell.cell
	if c.Spark != nil && r.spark == nil {
		r.spark = newSparkFace()
		r.objects = append(r.objects, r.spark.raster)
	}
	if r.spark != nil {
		r.spark.raster.Hidden = c.Spark == nil
		r.spark.show(c.Spark, c.Tone)
	}
}

// Layout places the icon first and clips the text to the remaining width.
func (r *cellRenderer) Layout(size fyne.Size) {
	c := &r.cell.cell
	if r.spark != nil {
		r.spark.raster.Resize(size)
	}
	x := float32(0)
	if c.Icon != nil {
		side := theme.TextSize()
		r.icon.Move(fyne.NewPos(0, (size.Height-side)/2))
		r.icon.Resize(fyne.NewSquareSize(side))
		x = side + theme.Padding()
	}
	if c.Badge {
		own := badgeSize(c.Text)
		own.Width = min(own.Width, max(size.Width-x, 0))
		inner := own.Width - 2*theme.InnerPadding()
		r.face.text.Text = Fit(c.Text, inner, theme.CaptionTextSize(), fyne.TextStyle{Bold: true})
		switch r.cell.align {
		case fyne.TextAlignTrailing:
			x = max(x, size.Width-own.Width)
		case fyne.TextAlignCenter:
			x = max(x, (size.Width-own.Width)/2)
		default: // at the start
		}
		r.face.place(fyne.NewPos(x, (size.Height-own.Height)/2), own)
		return
	}
	r.face.text.Text = Fit(c.Text, size.Width-x, theme.TextSize(), fyne.TextStyle{})
	r.face.text.Move(fyne.NewPos(x, 0))
	r.face.text.Resize(fyne.NewSize(max(size.Width-x, 0), size.Height))
}

// mostRunes limits the measured text; no column is wider.
const mostRunes = 400

// Fit returns a text's first line, clipped to a width with an ellipsis.
func Fit(text string, width, size float32, style fyne.TextStyle) string {
	return fit(text, width, size, style, func(all []rune, n int) string { return strings.TrimRight(string(all[:n]), " ") + "…" })
}

// FitMiddle is [Fit] with the ellipsis in the middle.
func FitMiddle(text string, width, size float32, style fyne.TextStyle) string {
	return fit(text, width, size, style, func(all []rune, n int) string {
		return strings.TrimRight(string(all[:(n+1)/2]), " ") + "…" + strings.TrimLeft(string(all[len(all)-n/2:]), " ")
	})
}

// fit shortens a text to a width. keep returns the text with n of its runes.
func fit(text string, width, size float32, style fyne.TextStyle, keep func(all []rune, n int) string) string {
	line, _, cut := strings.Cut(text, "\n")
	line = strings.TrimSpace(line)
	if line == "" || width <= 0 {
		return ""
	}
	runes := []rune(line)
	if len(runes) > mostRunes {
		runes, cut = runes[:mostRunes], true
	}
	holds := func(s string) bool { return fyne.MeasureText(s, size, style).Width <= width+0.5 }
	if !cut && holds(line) {
		return line
	}
	least, most := 0, len(runes)
	for least < most {
		n := (least + most + 1) / 2
		if holds(keep(runes, n)) {
			least = n
		} else {
			most = n - 1
		}
	}
	return keep(runes, least)
}

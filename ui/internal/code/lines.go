package code

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/widgets"
)

// CreateRenderer implements [fyne.Widget].
func (a *area) CreateRenderer() fyne.WidgetRenderer { return &lines{area: a} }

// lines draws the lines in view, what is selected of them, and the cursor.
type lines struct {
	area    *area
	objects []fyne.CanvasObject
}

// Layout implements [fyne.WidgetRenderer].
func (r *lines) Layout(fyne.Size) { r.draw() }

// MinSize implements [fyne.WidgetRenderer].
func (r *lines) MinSize() fyne.Size {
	e := r.area.editor
	longest, most := 0, -1
	for row, line := range r.area.buffer.lines {
		if len(line) > most {
			longest, most = row, len(line)
		}
	}
	return fyne.NewSize(e.left(longest, most)+4*e.letter().Width, e.top(len(r.area.buffer.lines))+theme.InnerPadding())
}

// Objects implements [fyne.WidgetRenderer].
func (r *lines) Objects() []fyne.CanvasObject { return r.objects }

func (r *lines) draw() {
	e := r.area.editor
	r.objects = r.objects[:0]
	h, view := e.lineHeight(), e.scroll.Size().Height
	from, to := r.area.selected()
	first := max(int((e.scroll.Offset.Y-theme.InnerPadding())/h), 0)
	for row := first; row < len(r.area.buffer.lines) && e.top(row) < e.scroll.Offset.Y+view; row++ {
		if from != to && row >= from.row && row <= to.row {
			r.selection(row, from, to)
		}
		r.line(row)
	}
	if r.area.focused {
		r.cursor(h)
	}
}

// selection lies behind what is selected of a line; a break counts as a letter.
func (r *lines) selection(row int, from, to place) {
	e := r.area.editor
	left, right := e.left(row, 0), e.left(row, len(r.area.buffer.lines[row]))+e.letter().Width
	if row == from.row {
		left = e.left(row, from.col)
	}
	if row == to.row {
		right = e.left(row, to.col)
	}
	box := canvas.NewRectangle(theme.Color(theme.ColorNameSelection))
	box.Move(fyne.NewPos(left, e.top(row)))
	box.Resize(fyne.NewSize(right-left, e.lineHeight()))
	r.objects = append(r.objects, box)
}

func (r *lines) line(row int) {
	e := r.area.editor
	line := r.area.buffer.lines[row]
	for _, s := range e.Colors(string(line)) {
		text := canvas.NewText(string(line[s.from:s.to]), theme.Color(s.color))
		if s.color == widgets.ColorMuted {
			text.Color = widgets.Color(widgets.ColorMuted)
		}
		text.TextStyle.Monospace, text.TextSize = true, theme.TextSize()
		text.Move(fyne.NewPos(e.left(row, s.from), e.top(row)))
		text.Resize(text.MinSize())
		r.objects = append(r.objects, text)
	}
}

func (r *lines) cursor(height float32) {
	e := r.area.editor
	bar := canvas.NewRectangle(theme.Color(theme.ColorNamePrimary))
	bar.Move(fyne.NewPos(e.left(r.area.cursor.row, r.area.cursor.col)-1, e.top(r.area.cursor.row)))
	bar.Resize(fyne.NewSize(2, height))
	r.objects = append(r.objects, bar)
}

// Refresh implements [fyne.WidgetRenderer].
func (r *lines) Refresh() {
	r.draw()
	canvas.Refresh(r.area)
}

// Destroy implements [fyne.WidgetRenderer].
func (*lines) Destroy() {}

package code

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// mostMark is the maximum number of characters of a mark at its line; the list of problems shows all of it.
const mostMark = 120

// layer is below the text: tinted lines, the texts of marks after the lines, and matches.
type layer struct {
	widget.BaseWidget
	editor *Editor
}

func newLayer(e *Editor) *layer {
	l := &layer{editor: e}
	l.ExtendBaseWidget(l)
	return l
}

// CreateRenderer implements [fyne.Widget].
func (l *layer) CreateRenderer() fyne.WidgetRenderer { return &layerRenderer{layer: l} }

type layerRenderer struct {
	layer   *layer
	objects []fyne.CanvasObject
	size    fyne.Size // that the words need
}

// Layout implements [fyne.WidgetRenderer].
func (r *layerRenderer) Layout(fyne.Size) { r.draw() }

// MinSize implements [fyne.WidgetRenderer].
func (r *layerRenderer) MinSize() fyne.Size { return r.size }

// Objects implements [fyne.WidgetRenderer].
func (r *layerRenderer) Objects() []fyne.CanvasObject { return r.objects }

func (r *layerRenderer) draw() {
	r.objects, r.size = r.objects[:0], fyne.Size{}
	e := r.layer.editor
	for i, m := range e.matches {
		alpha := uint8(0x40)
		if i == e.current {
			alpha = 0xa0
		}
		x := e.left(m.Line-1, m.Col-1)
		r.box(fyne.NewPos(x, e.top(m.Line-1)), e.left(m.Line-1, m.Col-1+m.Length)-x, theme.ColorNameWarning, alpha)
	}
	ends := map[int]float32{} // how far the words at a line reach
	for _, m := range e.marks {
		r.mark(m, ends)
	}
}

// mark tints a line and writes the mark's text after it.
func (r *layerRenderer) mark(m Mark, ends map[int]float32) {
	e := r.layer.editor
	color, row := theme.ColorNameError, min(m.Line, len(e.area.buffer.lines))-1 // it may be of a moment ago
	if m.Warning {
		color = theme.ColorNameWarning
	}
	y := e.top(row)
	x, again := ends[row]
	if !again {
		r.box(fyne.NewPos(0, y), max(r.layer.Size().Width, 10*e.letter().Width), color, 0x1c)
		x = e.left(row, len(e.area.buffer.lines[row]))
	}
	if from := e.left(row, m.Col-1); m.Col > 0 {
		under := canvas.NewRectangle(theme.Color(color))
		under.Move(fyne.NewPos(from, y+e.lineHeight()-2))
		under.Resize(fyne.NewSize(max(e.left(row, m.Col+2)-from, e.letter().Width), 2))
		r.objects = append(r.objects, under)
	}
	text := canvas.NewText(shortened(m.Text), theme.Color(color))
	text.TextSize = theme.CaptionTextSize()
	size := text.MinSize()
	text.Resize(size)
	text.Move(fyne.NewPos(x+3*e.letter().Width, y+(e.lineHeight()-size.Height)/2))
	r.objects = append(r.objects, text)
	ends[row] = text.Position().X + size.Width
	r.size = r.size.Max(fyne.NewSize(ends[row]+e.letter().Width, 0))
}

func (r *layerRenderer) box(at fyne.Position, width float32, color fyne.ThemeColorName, alpha uint8) {
	box := canvas.NewRectangle(tint(color, alpha))
	box.Move(at)
	box.Resize(fyne.NewSize(width, r.layer.editor.lineHeight()))
	r.objects = append(r.objects, box)
}

// Refresh implements [fyne.WidgetRenderer].
func (r *layerRenderer) Refresh() {
	r.draw()
	canvas.Refresh(r.layer)
}

// Destroy implements [fyne.WidgetRenderer].
func (*layerRenderer) Destroy() {}

func shortened(text string) string {
	runes := []rune(text)
	if len(runes) <= mostMark {
		return text
	}
	return string(runes[:mostMark-1]) + "…"
}

package code

import (
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/widgets"
)

// gutter shows the numbers of the lines in view, with a sign at those that something is wrong with. A tap goes there.
type gutter struct {
	widget.BaseWidget
	editor *Editor
}

var _ fyne.Tappable = (*gutter)(nil)

func newGutter(e *Editor) *gutter {
	g := &gutter{editor: e}
	g.ExtendBaseWidget(g)
	return g
}

// Tapped implements [fyne.Tappable].
func (g *gutter) Tapped(at *fyne.PointEvent) {
	row := (at.Position.Y + g.editor.scroll.Offset.Y - theme.InnerPadding()) / g.editor.lineHeight()
	g.editor.Go(int(row)+1, 1)
	g.editor.Focus(fyne.CurrentApp().Driver().CanvasForObject(g))
}

// CreateRenderer implements [fyne.Widget].
func (g *gutter) CreateRenderer() fyne.WidgetRenderer { return &gutterRenderer{gutter: g} }

type gutterRenderer struct {
	gutter  *gutter
	objects []fyne.CanvasObject
	digits  int
}

// Layout implements [fyne.WidgetRenderer].
func (r *gutterRenderer) Layout(fyne.Size) { r.draw() }

// MinSize implements [fyne.WidgetRenderer].
func (r *gutterRenderer) MinSize() fyne.Size {
	return fyne.NewSize(float32(r.most()+3)*r.gutter.editor.letter().Width, 0)
}

// most is how many digits a number has at most.
func (r *gutterRenderer) most() int {
	return max(len(strconv.Itoa(len(r.gutter.editor.area.buffer.lines))), 3)
}

// Objects implements [fyne.WidgetRenderer].
func (r *gutterRenderer) Objects() []fyne.CanvasObject { return r.objects }

// draw makes the numbers that are in view.
func (r *gutterRenderer) draw() {
	e := r.gutter.editor
	size, h := r.gutter.Size(), e.lineHeight()
	r.objects = r.objects[:0]
	if size.Height <= 0 || h <= 0 {
		return
	}
	worst := map[int]bool{} // by line: whether it is only a warning
	for _, m := range e.marks {
		only, known := worst[m.Line]
		worst[m.Line] = m.Warning && (only || !known)
	}
	first := max(int((e.scroll.Offset.Y-theme.InnerPadding())/h), 0)
	for row := first; row < len(e.area.buffer.lines); row++ {
		y := e.top(row) - e.scroll.Offset.Y
		if y+0.8*h > size.Height { // it would reach out of the editor
			break
		}
		if y < -0.2*h {
			continue
		}
		r.number(row, y, size.Width)
		if warning, marked := worst[row+1]; marked {
			r.sign(y, warning)
		}
	}
}

func (r *gutterRenderer) number(row int, y, width float32) {
	e := r.gutter.editor
	text := canvas.NewText(strconv.Itoa(row+1), widgets.Color(widgets.ColorMuted))
	if row == e.area.cursor.row {
		text.Color = theme.Color(theme.ColorNameForeground)
	}
	text.TextStyle.Monospace, text.TextSize, text.Alignment = true, theme.TextSize(), fyne.TextAlignTrailing
	text.Resize(fyne.NewSize(width-1.5*e.letter().Width, e.lineHeight()))
	text.Move(fyne.NewPos(0, y))
	r.objects = append(r.objects, text)
}

// sign stands before the number: a mistake is a filled round, a warning a triangle.
func (r *gutterRenderer) sign(y float32, warning bool) {
	h := r.gutter.editor.lineHeight()
	icon := canvas.NewImageFromResource(theme.NewErrorThemedResource(theme.ErrorIcon()))
	if warning {
		icon = canvas.NewImageFromResource(theme.NewWarningThemedResource(theme.WarningIcon()))
	}
	icon.FillMode = canvas.ImageFillContain
	icon.Resize(fyne.NewSquareSize(h * 0.85))
	icon.Move(fyne.NewPos(2, y+h*0.08))
	r.objects = append(r.objects, icon)
}

// Refresh implements [fyne.WidgetRenderer].
func (r *gutterRenderer) Refresh() {
	if digits := r.most(); digits != r.digits && r.gutter.Size().Width > 0 {
		r.digits = digits
		if r.MinSize().Width != r.gutter.Size().Width {
			r.gutter.editor.Resize(r.gutter.editor.Size())
		}
	}
	r.draw()
	canvas.Refresh(r.gutter)
}

// Destroy implements [fyne.WidgetRenderer].
func (*gutterRenderer) Destroy() {}

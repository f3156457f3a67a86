package editor

import (
	"fmt"
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// item is a problem in the list. A tap, or Return, goes to its line.
type item struct {
	widget.BaseWidget
	problem          view.Problem
	show             func(view.Problem)
	hovered, focused bool
}

var (
	_ fyne.Tappable     = (*item)(nil)
	_ fyne.Focusable    = (*item)(nil)
	_ desktop.Hoverable = (*item)(nil)
)

func newItem(p view.Problem, show func(view.Problem)) *item {
	i := &item{problem: p, show: show}
	i.ExtendBaseWidget(i)
	return i
}

// Tapped implements [fyne.Tappable].
func (i *item) Tapped(*fyne.PointEvent) { i.show(i.problem) }

// TypedKey implements [fyne.Focusable].
func (i *item) TypedKey(e *fyne.KeyEvent) {
	if e.Name == fyne.KeySpace || e.Name == fyne.KeyReturn || e.Name == fyne.KeyEnter {
		i.show(i.problem)
	}
}

// TypedRune implements [fyne.Focusable].
func (*item) TypedRune(rune) {}

// FocusGained implements [fyne.Focusable].
func (i *item) FocusGained() { i.set(&i.focused, true) }

// FocusLost implements [fyne.Focusable].
func (i *item) FocusLost() { i.set(&i.focused, false) }

// MouseIn implements [desktop.Hoverable].
func (i *item) MouseIn(*desktop.MouseEvent) { i.set(&i.hovered, true) }

// MouseMoved implements [desktop.Hoverable].
func (*item) MouseMoved(*desktop.MouseEvent) {}

// MouseOut implements [desktop.Hoverable].
func (i *item) MouseOut() { i.set(&i.hovered, false) }

func (i *item) set(flag *bool, value bool) {
	*flag = value
	i.Refresh()
}

// CreateRenderer implements [fyne.Widget].
func (i *item) CreateRenderer() fyne.WidgetRenderer {
	press := func() { i.show(i.problem) }
	text := form.NewCaption("", press)
	text.SetProblem(i.problem.Text)
	if i.problem.Warning {
		text.SetWarning(i.problem.Text)
	}
	text.TextSize = theme.SizeNameText
	lines := form.NewStack(form.NewCaption(fmt.Sprintf("%s, line %d", i.problem.File, i.problem.Line), press), text)
	if i.problem.Hint != "" {
		lines.Add(form.NewCaption(i.problem.Hint, press))
	}
	r := &itemRenderer{item: i, back: canvas.NewRectangle(color.Transparent)}
	r.WidgetRenderer = widgets.NewRenderer(i, container.NewStack(r.back, container.NewPadded(lines)))
	return r
}

type itemRenderer struct {
	fyne.WidgetRenderer
	item *item
	back *canvas.Rectangle
}

// Refresh updates the item for its state and the theme.
func (r *itemRenderer) Refresh() {
	r.back.CornerRadius, r.back.FillColor, r.back.StrokeWidth = theme.InputRadiusSize(), color.Transparent, 0
	if r.item.hovered {
		r.back.FillColor = theme.Color(theme.ColorNameHover)
	}
	if r.item.focused {
		r.back.StrokeColor, r.back.StrokeWidth = theme.Color(theme.ColorNameFocus), theme.InputBorderSize()*2
	}
	r.WidgetRenderer.Refresh()
}

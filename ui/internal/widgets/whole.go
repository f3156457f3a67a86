package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// whole shows the text of a selection next to the pointer if the selection is too narrow for it. It lies over the selection and takes no
// clicks.
type whole struct {
	widget.BaseWidget
	of *widget.Select
}

var _ desktop.Hoverable = (*whole)(nil)

// NewWhole returns a selection whose text the pointer shows where it is cut, in a window with [NewTips].
func NewWhole(of *widget.Select) fyne.CanvasObject {
	w := &whole{of: of}
	w.ExtendBaseWidget(w)
	return container.NewStack(of, w)
}

// MouseIn implements [desktop.Hoverable], as are MouseMoved and MouseOut.
func (w *whole) MouseIn(e *desktop.MouseEvent) {
	w.of.MouseIn(e)
	w.MouseMoved(e)
}

// MouseMoved shows the whole text next to the pointer.
func (w *whole) MouseMoved(e *desktop.MouseEvent) {
	if w.cut() {
		sayTip(canvasOf(w), w.of.Selected, e.AbsolutePosition)
	}
}

// MouseOut undoes MouseIn.
func (w *whole) MouseOut() {
	w.of.MouseOut()
	HideTips(canvasOf(w))
}

// cut reports whether the selection is too narrow for its text, next to which are an icon and paddings.
func (w *whole) cut() bool {
	inner := theme.InnerPadding()
	room := w.Size().Width - theme.IconInlineSize() - 3*inner + theme.Padding()
	return fyne.MeasureText(w.of.Selected, theme.TextSize(), fyne.TextStyle{}).Width > room
}

// CreateRenderer implements [fyne.Widget].
func (w *whole) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(container.NewWithoutLayout())
}

package chart

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"
)

// pad covers a drawing and handles the pointer, in its own coordinates. Callbacks may be nil.
type pad struct {
	widget.BaseWidget
	owner fyne.Focusable // is focused by a tap
	hover func(at fyne.Position)
	leave func()
	drag  func(from, to float32) // a drag along the horizontal axis
	drop  func()
	tap   func(at fyne.Position)
	menu  func(at fyne.Position)

	dragging bool
	began    float32
}

var (
	_ fyne.Tappable          = (*pad)(nil)
	_ fyne.SecondaryTappable = (*pad)(nil)
	_ fyne.Draggable         = (*pad)(nil)
	_ desktop.Hoverable      = (*pad)(nil)
	_ desktop.Cursorable     = (*pad)(nil)
)

func newPad(owner fyne.Focusable) *pad {
	p := &pad{owner: owner}
	p.ExtendBaseWidget(p)
	return p
}

// zoomPad also handles double taps, which delay its taps.
type zoomPad struct {
	pad
	back  func()
	wheel func(e *fyne.ScrollEvent)
}

var (
	_ fyne.DoubleTappable = (*zoomPad)(nil)
	_ fyne.Scrollable     = (*zoomPad)(nil)
)

func newZoomPad(owner fyne.Focusable, back func()) *zoomPad {
	p := &zoomPad{pad: pad{owner: owner}, back: back}
	p.ExtendBaseWidget(p)
	return p
}

// DoubleTapped undoes the zoom.
func (p *zoomPad) DoubleTapped(*fyne.PointEvent) { p.back() }

// Scrolled zooms, or scrolls the page.
func (p *zoomPad) Scrolled(e *fyne.ScrollEvent) { p.wheel(e) }

// focus focuses a widget after a tap.
func focus(o fyne.Focusable) {
	if object, ok := o.(fyne.CanvasObject); ok {
		if c := fyne.CurrentApp().Driver().CanvasForObject(object); c != nil {
			c.Focus(o)
		}
	}
}

// MouseIn implements [desktop.Hoverable], as are MouseMoved and MouseOut.
func (p *pad) MouseIn(e *desktop.MouseEvent) { p.MouseMoved(e) }

// MouseMoved reports the position of the pointer.
func (p *pad) MouseMoved(e *desktop.MouseEvent) {
	Pointed(p.owner)
	if p.hover != nil {
		p.hover(e.Position)
	}
}

// MouseOut reports that the pointer has left.
func (p *pad) MouseOut() {
	if p.leave != nil {
		p.leave()
	}
}

// Tapped focuses the owner.
func (p *pad) Tapped(e *fyne.PointEvent) {
	focus(p.owner)
	if p.tap != nil {
		p.tap(e.Position)
	}
}

// TappedSecondary shows the menu.
func (p *pad) TappedSecondary(e *fyne.PointEvent) {
	if p.menu != nil {
		p.menu(e.AbsolutePosition)
	}
}

// Dragged marks the range between the press and the pointer.
func (p *pad) Dragged(e *fyne.DragEvent) {
	if p.drag == nil {
		return
	}
	if !p.dragging {
		p.dragging, p.began = true, e.Position.X-e.Dragged.DX
	}
	p.drag(p.began, e.Position.X)
}

// DragEnd reports the marked range.
func (p *pad) DragEnd() {
	if p.dragging {
		p.dragging = false
		p.drop()
	}
}

// Cursor implements [desktop.Cursorable].
func (p *pad) Cursor() desktop.Cursor { return desktop.CrosshairCursor }

// CreateRenderer implements [fyne.Widget].
func (p *pad) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(&fyne.Container{})
}

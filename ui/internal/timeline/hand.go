package timeline

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
)

var (
	_ fyne.Tappable     = (*Timeline)(nil)
	_ fyne.Focusable    = (*Timeline)(nil)
	_ desktop.Hoverable = (*Timeline)(nil)
)

// Tapped selects the bar under the pointer.
func (t *Timeline) Tapped(e *fyne.PointEvent) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(t); c != nil {
		c.Focus(t)
	}
	if i := t.at(e.Position.Y); i != none {
		t.choose(i)
	}
}

// choose selects a bar for the user.
func (t *Timeline) choose(bar int) {
	if t.selected == bar {
		return
	}
	t.Select(bar)
	if t.OnSelected != nil {
		t.OnSelected(bar)
	}
}

// MouseIn implements [desktop.Hoverable], as are MouseMoved and MouseOut.
func (t *Timeline) MouseIn(e *desktop.MouseEvent) { t.MouseMoved(e) }

// MouseMoved reports the bar under the pointer.
func (t *Timeline) MouseMoved(e *desktop.MouseEvent) { t.hover(t.at(e.Position.Y)) }

// MouseOut reports that there is none.
func (t *Timeline) MouseOut() { t.hover(none) }

func (t *Timeline) hover(bar int) {
	if t.hovered == bar {
		return
	}
	t.hovered = bar
	t.raster.Refresh()
	if t.OnHovered != nil {
		t.OnHovered(bar)
	}
}

// FocusGained implements [fyne.Focusable], as do FocusLost, TypedRune and TypedKey. It selects the first bar, which shows the focus.
func (t *Timeline) FocusGained() {
	t.focused = true
	t.raster.Refresh()
	if t.selected == none && len(t.session.Bars) > 0 {
		t.choose(0)
	}
}

// FocusLost undoes FocusGained.
func (t *Timeline) FocusLost() {
	t.focused = false
	t.raster.Refresh()
}

// TypedRune does nothing.
func (t *Timeline) TypedRune(rune) {}

// TypedKey moves the selection.
func (t *Timeline) TypedKey(e *fyne.KeyEvent) {
	last := len(t.session.Bars) - 1
	to := t.selected
	switch e.Name {
	case fyne.KeyUp:
		to--
	case fyne.KeyDown:
		to++
	case fyne.KeyHome:
		to = 0
	case fyne.KeyEnd:
		to = last
	case fyne.KeyEscape:
		if t.OnEscape != nil {
			t.OnEscape()
		}
		return
	default:
		return
	}
	if last >= 0 {
		t.choose(max(min(to, last), 0))
	}
}

package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"
)

// LimitSlider chooses a whole number on a logarithmic scale: by dragging, with a tap or with the keyboard (arrows, Page Up and Page Down to
// double and halve, Home and End). A thin bar below shows how much of it is in use.
type LimitSlider struct {
	widget.DisableableWidget
	// OnChanged is called with every value that the user chooses, also while dragging. Set does not call it.
	OnChanged func(n int)
	// OnChangeEnded is called with the last value of a drag or tap, but not for the keyboard.
	OnChangeEnded func(n int)

	scale    limitScale
	value    int // may be outside the scale
	used     int
	dragging bool
	focused  bool
	hovered  bool
	face     *limitFace // nil before it is shown
}

var (
	_ fyne.Draggable    = (*LimitSlider)(nil)
	_ fyne.Tappable     = (*LimitSlider)(nil)
	_ fyne.Focusable    = (*LimitSlider)(nil)
	_ desktop.Hoverable = (*LimitSlider)(nil)
)

// NewLimitSlider returns a slider from floor to ceiling, set to floor.
func NewLimitSlider(floor, ceiling int) *LimitSlider {
	s := &LimitSlider{}
	s.ExtendBaseWidget(s)
	s.SetRange(floor, ceiling)
	return s
}

// SetRange changes the scale.
func (s *LimitSlider) SetRange(floor, ceiling int) {
	s.scale = newLimitScale(floor, ceiling)
	if s.value == 0 {
		s.value = s.scale.floor
	}
	if s.face != nil {
		s.face.label()
		s.Refresh()
	}
}

// Set moves the thumb, unless the user drags it. A value outside the scale is shown at its end.
func (s *LimitSlider) Set(n int) {
	if s.dragging || s.value == n {
		return
	}
	s.value = n
	s.moved()
}

// SetUsed shows how much is in use.
func (s *LimitSlider) SetUsed(n int) {
	if s.used != n {
		s.used = n
		s.moved()
	}
}

// Value returns the value of the thumb.
func (s *LimitSlider) Value() int { return s.value }

// Dragging reports whether the user drags the thumb.
func (s *LimitSlider) Dragging() bool { return s.dragging }

// Step changes the value by a number, within the scale, like a choice of the user.
func (s *LimitSlider) Step(by int) { s.choose(s.scale.clamp(s.value + by)) }

// choose sets a value that the user chose.
func (s *LimitSlider) choose(n int) {
	if s.Disabled() || s.value == n {
		return
	}
	s.value = n
	s.moved()
	if s.OnChanged != nil {
		s.OnChanged(n)
	}
}

func (s *LimitSlider) end() {
	if !s.Disabled() && s.OnChangeEnded != nil {
		s.OnChangeEnded(s.value)
	}
}

func (s *LimitSlider) moved() {
	if s.face != nil {
		s.face.place()
	}
}

// Dragged implements [fyne.Draggable].
func (s *LimitSlider) Dragged(e *fyne.DragEvent) {
	if s.Disabled() {
		return
	}
	if !s.dragging {
		s.dragging = true
		s.focus()
	}
	s.choose(s.at(e.Position.X))
}

// DragEnd implements [fyne.Draggable].
func (s *LimitSlider) DragEnd() {
	if s.dragging {
		s.dragging = false
		s.end()
	}
}

// Tapped implements [fyne.Tappable].
func (s *LimitSlider) Tapped(e *fyne.PointEvent) {
	if s.Disabled() {
		return
	}
	s.focus()
	s.choose(s.at(e.Position.X))
	s.end()
}

// focus focuses the slider after its use.
func (s *LimitSlider) focus() {
	if c := fyne.CurrentApp().Driver().CanvasForObject(s); c != nil && !s.focused {
		c.Focus(s)
	}
}

// at returns the value at an x coordinate.
func (s *LimitSlider) at(x float32) int {
	inset := limitInset()
	return s.scale.at(float64((x - inset) / max(s.Size().Width-2*inset, 1)))
}

// TypedKey implements [fyne.Focusable].
func (s *LimitSlider) TypedKey(e *fyne.KeyEvent) {
	n := s.scale.clamp(s.value)
	switch e.Name {
	case fyne.KeyLeft, fyne.KeyDown:
		n = s.scale.down(n)
	case fyne.KeyRight, fyne.KeyUp:
		n = s.scale.up(n)
	case fyne.KeyPageDown:
		n = s.scale.clamp(n / 2)
	case fyne.KeyPageUp:
		n = s.scale.clamp(n * 2)
	case fyne.KeyHome:
		n = s.scale.floor
	case fyne.KeyEnd:
		n = s.scale.ceiling
	default:
		return
	}
	s.choose(n)
}

// TypedRune implements [fyne.Focusable].
func (s *LimitSlider) TypedRune(rune) {}

// FocusGained implements [fyne.Focusable].
func (s *LimitSlider) FocusGained() {
	s.focused = true
	s.Refresh()
}

// FocusLost implements [fyne.Focusable].
func (s *LimitSlider) FocusLost() {
	s.focused = false
	s.Refresh()
}

// MouseIn implements [desktop.Hoverable], as are MouseMoved and MouseOut.
func (s *LimitSlider) MouseIn(*desktop.MouseEvent) {
	s.hovered = true
	s.Refresh()
}

// MouseMoved does nothing.
func (s *LimitSlider) MouseMoved(*desktop.MouseEvent) {}

// MouseOut undoes MouseIn.
func (s *LimitSlider) MouseOut() {
	s.hovered = false
	s.Refresh()
}

package widgets

import "fyne.io/fyne/v2"

var (
	_ fyne.Focusable   = (*sheetRow)(nil)
	_ fyne.Disableable = (*sheetRow)(nil)
)

// Disabled reports whether the row cannot be focused. Only one row of a sheet can be focused, and the arrow keys move between rows, so that
// the sheet is one stop of the Tab key.
func (r *sheetRow) Disabled() bool {
	return r.sheet.tapped == nil || r.at != min(r.sheet.current, len(r.sheet.lines)-1)
}

// Enable implements [fyne.Disableable]. The sheet decides which row can be focused.
func (r *sheetRow) Enable() {}

// Disable implements [fyne.Disableable].
func (r *sheetRow) Disable() {}

// FocusGained implements [fyne.Focusable].
func (r *sheetRow) FocusGained() { r.stand(rowMark{selected: true, focused: true}) }

// FocusLost implements [fyne.Focusable].
func (r *sheetRow) FocusLost() { r.stand(rowMark{}) }

// stand marks the row, if it still exists.
func (r *sheetRow) stand(mark rowMark) {
	if !r.gone() {
		r.show(mark)
	}
}

// TypedRune implements [fyne.Focusable].
func (r *sheetRow) TypedRune(rune) {}

// TypedKey moves to another row, or taps this one.
func (r *sheetRow) TypedKey(e *fyne.KeyEvent) {
	s := r.sheet
	to := r.at
	switch e.Name {
	case fyne.KeyUp:
		to--
	case fyne.KeyDown:
		to++
	case fyne.KeyHome:
		to = 0
	case fyne.KeyEnd:
		to = len(s.lines) - 1
	case fyne.KeySpace, fyne.KeyReturn, fyne.KeyEnter:
		r.Tapped(nil)
		return
	default:
		return
	}
	if to < 0 || to >= len(s.lines) {
		return
	}
	s.current = to
	if c := fyne.CurrentApp().Driver().CanvasForObject(r); c != nil {
		c.Focus(s.lines[to])
	}
}

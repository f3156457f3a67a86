package widgets

import "fyne.io/fyne/v2"

var (
	_ fyne.Focusable   = (*sheetRow)(nil)
	_ fyne.Disableable = (*sheetRow)(nil)
)

// Disabled reports whether the row cannot have the focus: of a sheet whose rows can be tapped one can, and the arrows go to
// the others, so that the sheet is one stop on the way through the screen.
func (r *sheetRow) Disabled() bool {
	return r.sheet.tapped == nil || r.at != min(r.sheet.current, len(r.sheet.lines)-1)
}

// Enable implements [fyne.Disableable]: which row can have the focus is the sheet's business.
func (r *sheetRow) Enable() {}

// Disable implements [fyne.Disableable].
func (r *sheetRow) Disable() {}

// FocusGained implements [fyne.Focusable].
func (r *sheetRow) FocusGained() { r.stand(rowMark{selected: true, focused: true}) }

// FocusLost implements [fyne.Focusable].
func (r *sheetRow) FocusLost() { r.stand(rowMark{}) }

// stand has the row stand out, if it is still there.
func (r *sheetRow) stand(mark rowMark) {
	if !r.gone() {
		r.show(mark)
	}
}

// TypedRune implements [fyne.Focusable].
func (r *sheetRow) TypedRune(rune) {}

// TypedKey goes to another row, or taps this one.
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

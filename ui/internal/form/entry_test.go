package form

import (
	"testing"

	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
)

// TestAFocusedEntryMovesAfterTheClick checks that a click is over before what it focuses is scrolled, and that the keyboard does not wait.
func TestAFocusedEntryMovesAfterTheClick(t *testing.T) {
	start(t)
	e, moved := NewEntry(), 0
	e.Focused = func() { moved++ }
	w := test.NewTempWindow(t, e)
	e.MouseDown(&desktop.MouseEvent{Button: desktop.MouseButtonPrimary})
	if w.Canvas().Focused() != e || moved != 0 {
		t.Fatalf("%v is focused, moved %d times while the button is down", w.Canvas().Focused(), moved)
	}
	e.MouseUp(&desktop.MouseEvent{Button: desktop.MouseButtonPrimary})
	if moved != 1 {
		t.Errorf("moved %d times after the click", moved)
	}
	w.Canvas().Unfocus()
	w.Canvas().Focus(e)
	if moved != 2 {
		t.Errorf("moved %d times after the keyboard focused it", moved)
	}
}

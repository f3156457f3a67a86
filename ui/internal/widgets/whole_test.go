package widgets

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"
)

// TestSelectionShowsItsWholeText checks that the pointer shows the text of a selection only if it is cut, and that clicks reach the
// selection.
func TestSelectionShowsItsWholeText(t *testing.T) {
	test.NewTempApp(t)
	const long = "2026-11-28 11:07:34  Marketplace shoppers  20261128-110734-n9s6"
	choice := widget.NewSelect([]string{"none", long}, nil)
	win := test.NewTempWindow(t, nil)
	win.SetContent(container.NewStack(container.NewVBox(NewWhole(choice)), NewTips(win)))
	tip := tips[win.Canvas()]
	defer Forget(win)
	choice.SetSelected(long)
	for width, want := range map[float32]string{200: long, 900: ""} {
		win.Resize(fyne.NewSize(width, 300))
		test.MoveMouse(win.Canvas(), fyne.NewPos(60, 12))
		if tip.Text() != want {
			t.Errorf("at a width of %v the tip is %q, want %q", width, tip.Text(), want)
		}
		test.MoveMouse(win.Canvas(), fyne.NewPos(60, 200))
		if tip.Text() != "" {
			t.Errorf("the tip stays: %q", tip.Text())
		}
	}
	test.TapCanvas(win.Canvas(), fyne.NewPos(60, 12))
	if win.Canvas().Overlays().Top() == nil {
		t.Error("a click does not open the selection")
	}
}

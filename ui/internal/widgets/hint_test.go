package widgets

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
)

// TestHint checks that the explanation is shown above the pointer while it is over the object.
func TestHint(t *testing.T) {
	test.NewTempApp(t)
	line := NewLine(theme.SizeNameText, Neutral)
	line.Set("3 Jan", Neutral)
	h := NewHint(line, "Simulated time")
	w := test.NewTempWindow(t, h)
	w.Resize(fyne.NewSize(300, 100))
	if h.Said() != "" {
		t.Errorf("it says %q before the pointer is there", h.Said())
	}
	h.MouseIn(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(10, 5)}})
	if h.Said() != "Simulated time" || h.tip.back.Hidden {
		t.Errorf("it says %q", h.Said())
	}
	if end := h.tip.back.Position().Y + h.tip.back.Size().Height; end > 5 {
		t.Errorf("the box ends at %v, below the pointer", end)
	}
	h.MouseOut()
	if h.Said() != "" || !h.tip.back.Hidden {
		t.Errorf("it says %q after the pointer has left", h.Said())
	}
}
